// SPDX-License-Identifier: BSD-3-Clause
#include "runner/recovery/complete_output.hpp"

#include "base/error.hpp"
#include "io/hdf5/object_names.hpp"
#include "io/hdf5/write_attributes.hpp"
#include "io/input/generations.hpp"
#include "io/output/assemble_output.hpp"
#include "io/output/default_plot.hpp"
#include "io/output/part_files.hpp"
#include "io/output/publish_output.hpp"
#include "io/rows/rows.hpp"
#include "io/writers/row_hashes.hpp"
#include "runner/probe/prober.hpp"
#include "runner/recovery/earlier_parts.hpp"
#include "runner/recovery/identity.hpp"
#include "runner/recovery/replacing.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace runner {
namespace {

void check_input_unchanged(const PreparedJob& prepared, const Beginning& beginning) {
    const std::string now = job_identity(prepared);
    if (!beginning.identity.starts_with(now)) {
        throw Error(ExitCode::input,
                    {"the input changed while it was read", prepared.file.input.file,
                     identity_difference(without_layout(beginning.identity), now),
                     "Let nothing write to it, then restart with run.resume = \"never\""});
    }
}

std::vector<std::uint64_t> all_generations(const Snapshots& snapshots) {
    std::vector<std::uint64_t> all(static_cast<std::size_t>(snapshots.count()));
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i] = snapshots.generation(static_cast<std::int64_t>(i));
    }
    return all;
}

/// What a finished HDF5 output says of itself.
void write_record(const PreparedJob& prepared, const Beginning& beginning,
                  const OutputDataset& dataset, std::vector<Attribute> attributes) {
    attributes.emplace_back(identity_attribute, beginning.identity);
    if (dataset.parts.several()) {
        attributes.emplace_back(parts_attribute, to_text(record_of_parts(dataset)));
    }
    for (Attribute& attribute : prepared.job->attributes()) {
        attributes.push_back(std::move(attribute));
    }
    if (const std::optional<EvolveShape> state = prepared.job->state()) {
        write_generations(dataset.file, dataset.dataset, all_generations(state->snapshots));
    }
    write_attributes(dataset.file, attributes);
    if (dataset.fields.empty()) { // lists of matches are no picture
        write_default_plot(dataset.file, dataset.dataset, prepared.job->channels());
    }
    record_object_names(dataset.file);
}

/// What is under the output's name was checked when the run began; somebody may have put something
/// there since.
void check_still_replaceable(const PreparedJob& prepared) {
    const JobFile::Output& output = prepared.file.output;
    Prober prober;
    if (output.overwrite && mark_of(output.file) != prepared.replaces) {
        check_replaceable(output.file, prober);
    }
    check_replaceable_parts(prepared, prober);
}

} // namespace

void complete_output(const PreparedJob& prepared, const Beginning& beginning,
                     std::vector<Attribute> facts) {
    const JobFile::Output& output = prepared.file.output;
    const OutputDataset dataset = output_dataset(prepared);
    check_input_unchanged(prepared, beginning);
    const std::vector<RowHash> rows = finished_rows(prepared, beginning);
    if (dataset.layout.format == FileFormat::hdf5) {
        assemble_output(dataset);
        write_row_hashes(dataset.file, rows);
        write_record(prepared, beginning, dataset, std::move(facts));
    }
    check_still_replaceable(prepared);
    if (output.sync) {
        sync_parts(dataset); // before a name says that they are complete
    }
    publish_output(dataset.file, output.file, output.overwrite ? Overwrite::yes : Overwrite::no,
                   output.sync ? RowWriter::Sync::yes : RowWriter::Sync::no);
}

} // namespace runner
