// SPDX-License-Identifier: BSD-3-Clause
#include "runner/output/complete_output.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "io/files/hash.hpp"
#include "io/formats/rows_format.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/input/generations.hpp"
#include "io/input/stack.hpp"
#include "io/metadata/axis_metadata.hpp"
#include "io/metadata/carry_metadata.hpp"
#include "io/metadata/lost_metadata.hpp"
#include "io/metadata/value_lists.hpp"
#include "io/metadata/write_metadata.hpp"
#include "io/output/beside_record.hpp"
#include "io/output/default_plot.hpp"
#include "io/output/part_files.hpp"
#include "io/rows/rows.hpp"
#include "io/rows/written_format.hpp"
#include "io/writers/record_seal.hpp"
#include "io/writers/row_hashes.hpp"
#include "jobs/axis_work.hpp"
#include "kernels/elements/elements.hpp"
#include "runner/output/identity.hpp"
#include "runner/output/read_files.hpp"
#include "runner/output/replacing.hpp"
#include "runner/probe/probed_files.hpp"
#include "runner/probe/prober.hpp"
#include "runner/probe/served_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace runner::output {
namespace {

void check_input_unchanged(const PreparedJob& prepared, const Beginning& beginning) {
    const JobFile::Input& input = prepared.file.input;
    const std::optional<InputOrigin>& origin = prepared.place.origin;
    if (origin && mark_of(input.file) != origin->mark) {
        throw Error(ExitCode::input, {"the input changed while it was read", input.file,
                                      "it is what an earlier step of the job saved",
                                      "Remove it, then restart with run.resume = \"never\""});
    }
    check_files_unchanged(prepared);
    if (const std::string now = job_identity(prepared); !beginning.identity.starts_with(now)) {
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

/// What the input's file says of the dataset.
Metadata input_metadata(const PreparedJob& prepared, Prober& prober) {
    const JobFile::Input& input = prepared.file.input;
    Metadata metadata;
    const std::vector<std::int64_t>& shape = prepared.layout.info.array.shape;
    if (!input.raw) { // of which nothing is known but its elements
        metadata = ProbedFiles(prober, input.rules).metadata_if_read(input.file, input.dataset);
    }
    if (metadata.shape != shape) {
        const std::vector<std::string> left_out = std::move(metadata.left_out);
        metadata = {};
        metadata.shape = shape;
        metadata.left_out = left_out;
    }
    return metadata;
}

/// Whether an attribute says of axes what does not follow them: the sizes of elements along the
/// last axes, and not along all, or vigra's `axistags`.
bool has_own_axes(const Metadata& metadata) {
    return std::any_of(
        metadata.dataset.begin(), metadata.dataset.end(), [&](const NamedValue& each) {
            const std::vector<std::int64_t>& shape = each.value.shape;
            return each.name == "axistags" || (is_list_of_sizes(each.name) && shape.size() == 1 &&
                                               shape.front() < std::ssize(metadata.shape));
        });
}

/// Puts the axes into the attributes where nothing that is carried over says them any more.
void say_axes(const PreparedJob& prepared, bool had_own_axes, Metadata& metadata) {
    const std::vector<Likeness> steps = prepared.job->likeness();
    const bool is_at_places = std::all_of(steps.begin(), steps.end(), [](const Likeness& step) {
        return step.values > Likeness::Values::foreign;
    });
    const Axes axes = axes_after(*prepared.job, prepared.input.axes);
    if ((had_own_axes && !has_own_axes(metadata)) ||
        (is_at_places && lacks_spacing(metadata, axes))) {
        set_axes(metadata, axes);
    } else if (axes.has_moved_samples()) { // no mark of colour says where they are
        keep_names(metadata, axes);
    }
}

/// What is said of the input, by its file and by the job file, as far as it is true of the output.
Metadata output_metadata(const PreparedJob& prepared, Prober& prober) {
    const std::vector<Likeness> steps = prepared.job->likeness();
    if (steps.empty()) {
        return {};
    }
    Metadata metadata = input_metadata(prepared, prober);
    const bool had_own_axes = has_own_axes(metadata);
    Axes named; // by the group
    for (const std::string& name : metadata.axes) {
        named.each.push_back({name == "." ? "" : name});
    }
    metadata.left_out.insert(metadata.left_out.end(), prepared.input.unkept.begin(),
                             prepared.input.unkept.end());
    const std::optional<DatasetPart> part =
        prepared.kept ? std::optional(prepared.kept->all) : prepared.part;
    if (part) {
        named = axes_of_part(named, *part);
        metadata = metadata_of_part(metadata, *part);
    }
    const AxisKeys& keys = prepared.file.input.axes;
    const bool declared = !keys.letters.empty() || keys.sets_spacing();
    const bool has_attributes = rows_format_of(prepared.file.input.file) == nullptr;
    if (declared) {
        const Axes& of_file = prepared.layout.info.axes;
        overrule_axes(metadata, part ? axes_of_part(of_file, *part) : of_file, prepared.input.axes);
    }
    if (declared || !has_attributes || !prepared.file.output.layout.is_hdf5()) {
        metadata.placement = prepared.input.axes;
    }
    for (Likeness step : steps) {
        step.shape.front() = prepared.kept ? prepared.kept->split.count() : step.shape.front();
        metadata = carried_metadata(metadata, step);
    }
    set_axes(metadata, metadata.placement);
    if (!metadata.placement.known()) {
        say_axes(prepared, had_own_axes, metadata);
        keep_names(metadata, axes_after(*prepared.job, named));
        Axes axes = axes_after(*prepared.job, prepared.input.axes);
        axes.each.resize(prepared.output().shape.size());
        keep_marked_names(metadata, axes, prepared.job->channels());
    }
    return metadata;
}

bool says_invalid(const std::string& attribute) {
    return attribute == "_FillValue" || attribute == "missing_value";
}

void erase_invalid(Metadata& metadata) {
    std::erase_if(metadata.dataset, [](const NamedValue& each) { return says_invalid(each.name); });
}

/// Makes the attributes say which elements of the output are invalid, by netCDF's `_FillValue`,
/// where the job knows it.
void state_invalid(const PreparedJob& prepared, Metadata& metadata) {
    const std::optional<double> invalid = prepared.job->invalid();
    if (!invalid && !prepared.input.invalid_value) {
        return;
    }
    erase_invalid(metadata);
    if (invalid) {
        const ElementType type = prepared.output().type;
        PlainValue value;
        value.type = type;
        value.bytes.resize(static_cast<std::size_t>(size_of(type)));
        store_elements(type, &*invalid, 1, value.bytes.data());
        metadata.dataset.push_back({"_FillValue", std::move(value)});
    }
}

/// As state_invalid(), for a format without attributes, which an attribute of an HDF5 input is lost
/// in. Where no such attribute says which elements are invalid, returns that it is lost.
std::vector<std::string> unstated_invalid(const PreparedJob& prepared, Metadata& metadata) {
    state_invalid(prepared, metadata);
    const std::vector<std::string>& said = prepared.layout.info.invalid;
    const std::string& file = prepared.file.input.file;
    const bool has_attributes = !is_stack(file) && rows_format_of(file) == nullptr;
    if (has_attributes && std::any_of(said.begin(), said.end(), [](const std::string& text) {
            return says_invalid(text.substr(0, text.find(' ')));
        })) {
        return {};
    }
    erase_invalid(metadata);
    const std::optional<double> invalid = prepared.job->invalid();
    return invalid && !std::isnan(*invalid) ? std::vector<std::string>{"which elements are invalid"}
                                            : std::vector<std::string>{};
}

/// One line about what the output does not have of the input's metadata.
std::vector<std::string> warning_of(const PreparedJob& prepared,
                                    const std::vector<std::string>& lost) {
    return lost.empty() ? std::vector<std::string>{}
                        : std::vector<std::string>{lost_text(prepared.input_name(), lost)};
}

/// The flats and darks that the output keeps.
std::unique_ptr<RowReader> kept_rows(const PreparedJob& prepared) {
    return open_kept_frames(prepared, [&](const DatasetLayout& layout) {
        return open_probed_rows(layout, prepared.file.input.rules, 1);
    });
}

/// Kept frames are what they are by the image_key alone: without it they would be projections.
void check_roles(const PreparedJob& prepared, const Metadata& metadata) {
    const auto is_key = [](const ScanItem& item) { return item.path.ends_with("/image_key"); };
    if (prepared.kept && std::none_of(metadata.scan.begin(), metadata.scan.end(), is_key)) {
        throw Error(ExitCode::input,
                    {"the output cannot keep flats and darks", prepared.input_name(),
                     "the entry of its scan cannot be taken over, so that nothing would say which "
                     "frames these are",
                     "Leave output.keep_fields out"});
    }
}

/// What a finished HDF5 output says of itself.
std::vector<std::string> write_record(const PreparedJob& prepared, const Beginning& beginning,
                                      const OutputDataset& dataset,
                                      const std::vector<RowHash>& rows,
                                      std::vector<Attribute> attributes, Prober& prober) {
    const std::string& joined = prepared.file.output.dataset;
    if (prepared.kept) {
        write_kept_frames(dataset, joined, prepared.kept->split, *kept_rows(prepared));
    }
    write_row_hashes(dataset.file, rows);
    attributes.emplace_back(row_hashes_checksum_attribute, digest_of_rows(rows));
    attributes.emplace_back(identity_attribute, beginning.identity);
    if (prepared.place.is_between) {
        attributes.emplace_back(between_attribute,
                                std::filesystem::path(prepared.place.of_job).filename().string());
    }
    if (dataset.parts.several()) {
        attributes.emplace_back(parts_attribute, to_text(record_of_parts(dataset)));
    }
    if (const std::optional<EvolveShape> state = prepared.job->state()) {
        const std::vector<std::uint64_t> generations = all_generations(state->snapshots);
        write_generations(dataset.file, dataset.dataset, generations);
        attributes.emplace_back(generations_checksum_attribute,
                                digest_of(std::as_bytes(std::span(generations))));
    }
    write_attributes(dataset.file, attributes);
    if (dataset.fields.empty()) { // lists of matches are no picture
        write_default_plot(dataset.file, joined, prepared.job->channels());
    }
    Metadata metadata = output_metadata(prepared, prober);
    check_roles(prepared, metadata);
    state_invalid(prepared, metadata);
    std::vector<std::string> left_out = metadata.left_out;
    for (std::string& each : write_metadata(dataset.file, joined, metadata)) {
        left_out.push_back(std::move(each));
    }
    seal_record(dataset.file, datasets_with_checksums(prepared));
    return warning_of(prepared, left_out);
}

/// The same of an output of another format: where its elements lie, and the record beside it.
std::vector<std::string> write_record_beside(const PreparedJob& prepared,
                                             const Beginning& beginning, OutputDataset dataset,
                                             std::vector<RowHash> rows,
                                             std::vector<Attribute> attributes,
                                             const Extremes& extremes, Prober& prober) {
    Metadata metadata = output_metadata(prepared, prober);
    const std::vector<std::string> unstated = unstated_invalid(prepared, metadata);
    dataset.axes = metadata.placement;
    const bool is_placed = dataset.layout.format->placed == WrittenFormat::Placed::yes;
    if (is_placed) {
        dataset.extremes = extremes;
        attributes.emplace_back(placement_attribute, to_text(dataset.axes));
    }
    if (!extremes.empty()) {
        attributes.emplace_back(extremes_attribute, to_text(extremes));
    }
    if (dataset.layout.channels) {
        attributes.emplace_back(channels_attribute, std::int64_t{*dataset.layout.channels});
    }
    const BesideRecord record{without_layout(beginning.identity), dataset.array,
                              std::move(attributes), std::move(rows)};
    const auto prepare = [&] {
        prepare_beside_record(prepared.file.output.file, record, final_sync(prepared));
    };
    if (is_placed) {
        place_written(dataset, prepare);
    } else {
        prepare();
    }
    std::vector<std::string> lost = lost_axes(dataset);
    for (const std::vector<std::string>& more :
         {lost_metadata(metadata, dataset.axes), unstated, metadata.left_out}) {
        lost.insert(lost.end(), more.begin(), more.end());
    }
    return warning_of(prepared, lost);
}

} // namespace

RowWriter::Sync final_sync(const PreparedJob& prepared) {
    return prepared.file.output.sync ? RowWriter::Sync::yes : RowWriter::Sync::no;
}

Axes output_axes(const PreparedJob& prepared, Prober& prober) {
    const WrittenFormat* const format = prepared.file.output.layout.format;
    return format != nullptr && format->placed == WrittenFormat::Placed::yes
               ? output_metadata(prepared, prober).placement
               : Axes{};
}

std::vector<std::string> complete_record(const PreparedJob& prepared, const Beginning& beginning,
                                         std::vector<Attribute> facts, const Extremes& extremes,
                                         Prober& prober) {
    const OutputDataset dataset = output_dataset(prepared, beginning.parts);
    check_input_unchanged(prepared, beginning);
    std::vector<RowHash> rows = finished_rows(prepared, beginning);
    for (Attribute& attribute : prepared.job->attributes()) {
        facts.push_back(std::move(attribute));
    }
    std::vector<std::string> warnings =
        dataset.layout.is_hdf5()
            ? write_record(prepared, beginning, dataset, rows, std::move(facts), prober)
            : write_record_beside(prepared, beginning, dataset, std::move(rows), std::move(facts),
                                  extremes, prober);
    check_files_unchanged(prepared); // the metadata come from them too
    return warnings;
}

} // namespace runner::output
