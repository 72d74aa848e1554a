// SPDX-License-Identifier: BSD-3-Clause
#include "runner/prepare/prepare.hpp"

#include "base/error.hpp"
#include "base/sizes.hpp"
#include "base/text.hpp"
#include "io/input/open_rows.hpp"
#include "io/metadata/carry_setup.hpp"
#include "io/output/output_size.hpp"
#include "io/rows/file_elements.hpp"
#include "io/rows/output_parts.hpp"
#include "io/rows/row_geometry.hpp"
#include "io/rows/row_order.hpp"
#include "io/rows/written_format.hpp"
#include "io/writers/record_seal.hpp"
#include "jobs/axis_work.hpp"
#include "jobs/toml_text.hpp"
#include "runner/prepare/declared_axes.hpp"
#include "runner/prepare/declared_input.hpp"
#include "runner/prepare/input_layout.hpp"
#include "runner/prepare/marking_files.hpp"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <utility>

namespace runner {
namespace {

/// Several datasets are contiguous.
void check_layout(const PreparedJob& prepared) {
    const OutputLayout& layout = prepared.file.output.layout;
    if (!layout.is_hdf5()) {
        try {
            OutputDataset output{{}, {}, prepared.output(), layout};
            (void)layout.format->place(output);
            if (!prepared.place.origin || prepared.input_is_missing) { // or work is done already
                output.axes = axes_after(*prepared.job, prepared.input.axes);
                check_axes(output);
            }
        } catch (const Error& error) { // what it cannot hold
            throw Error(of_output(error, prepared.file.output.file));
        }
    }
    if (!prepared.fields().empty() && !prepared.file.output.layout.chunk.empty()) {
        throw Error(ExitCode::usage,
                    {"the output cannot be stored in chunks", "output.chunk",
                     "a job of kind " + prepared.file.kind +
                         " makes several datasets side by side, which are contiguous",
                     "Leave chunk and compression out"});
    }
    if (!prepared.fields().empty() && prepared.file.output.parts.value_or(1) > 1) {
        throw Error(ExitCode::usage,
                    {"the output cannot be in parts", "output.parts",
                     "a job of kind " + prepared.file.kind +
                         " makes several datasets side by side, which are in one file",
                     "Leave parts out"});
    }
}

/// For a kind that takes numbers, float16 is float32, which holds every value of it.
void widen(const JobFile& file, ArrayInfo& array) {
    if (is_float16(array) && file.parameters->reads_numbers()) {
        array = {ElementType::float32, array.shape};
    }
}

void check_elements(const JobFile& file, const ArrayInfo& input) {
    if (!is_number(input.type) &&
        file.parameters->elements() == KindParameters::Elements::numbers) {
        throw Error(ExitCode::input,
                    {file.kind + " does not take these elements",
                     file.input.file + ":" + file.input.dataset,
                     "they are " + type_text(input) + ", not real numbers of a type it takes",
                     "Name a dataset of real numbers; a kind that only moves elements takes these "
                     "as they are"});
    }
}

/// Puts in what the job file leaves to the input's file: the names of the datasets. Returns the
/// settings that a later reading of the job needs without the input.
std::vector<std::string> settle_names(JobFile& file, const DatasetLayout& layout) {
    if (!file.input.dataset.empty()) {
        return {};
    }
    file.input.dataset = layout.dataset;
    if (!file.output.dataset.empty()) {
        return {};
    }
    const std::string& name = layout.dataset;
    if (name.starts_with("/runner/") || (name + "/").find("/./") != std::string::npos ||
        name.find("//") != std::string::npos || name.ends_with('/')) {
        throw Error(ExitCode::usage, {"the output cannot have the name of the input's dataset",
                                      file.input.file + ":" + name, "it is kept for other uses",
                                      "Name another in output.dataset"});
    }
    file.output.dataset = name;
    return {"output.dataset=" + toml_text(std::string_view(name))};
}

} // namespace

std::string field_name(const std::string& group, const std::string& field) {
    return (group.ends_with('/') ? group : group + "/") + field;
}

std::vector<OutputField> PreparedJob::fields() const {
    std::vector<OutputField> fields = job->fields();
    for (OutputField& field : fields) {
        field.dataset = field_name(file.output.dataset, field.dataset);
    }
    return fields;
}

std::string PreparedJob::input_name() const {
    return place.origin && !place.origin->after.empty()
               ? place.origin->after
               : file_and_dataset(file.input.file, file.input.dataset);
}

PreparedJob prepare_input(JobFile file, FileAccess& files, PassPlace place) {
    PreparedJob prepared;
    prepared.place = std::move(place);
    MarkingFiles marking(files, prepared.files);
    std::error_code ignored;
    if (file.input.generate && !std::filesystem::exists(file.input.file, ignored)) {
        prepared.input_is_missing = true;
        prepared.input.array = {file.input.generate->type, file.input.generate->shape};
        prepared.input.storage = "contiguous";
        prepared.layout.info = prepared.input;
        prepared.layout.roles = generated_roles(*file.input.generate);
        prepared.layout.setup = generated_setup(*file.input.generate, file.input.dataset);
        widen(file, prepared.input.array);
    } else {
        prepared.layout = input_layout(file.input, files);
        prepared.files = prepared.layout.files;
        prepared.settled = settle_names(file, prepared.layout);
        if (file.parameters->reads_numbers()) {
            take_truth_as_numbers(prepared.layout);
        }
        prepared.input = prepared.layout.info;
        widen(file, prepared.input.array);
        check_elements(file, prepared.input.array);
    }
    if (!prepared.place.origin) {
        prepared.input.axes = declared_axes(file.input.axes, prepared.input, prepared.layout.roles,
                                            file_and_dataset(file.input.file, file.input.dataset));
        declare_colour(file, prepared.input); // before the part, whose rows depend on it
    }
    if (!prepared.place.origin) { // a later pass reads all that the run has made, with its marks
        InputFrames frames =
            part_of_input(file.input, prepared.input, prepared.layout.roles, marking);
        prepared.part = std::move(frames.part);
        prepared.region = std::move(frames.region);
        prepared.roles = std::move(frames.roles);
        if (prepared.part) {
            prepared.input = info_of_part(prepared.input, *prepared.part);
        }
        check_colour(file, prepared.layout.info.array, prepared.input);
        prepared.mask =
            declare_invalid(file, prepared.layout, prepared.part, prepared.input, marking);
    } else {
        prepared.input.axes = prepared.place.origin->names; // the file has no words for some
        prepared.input.invalid_value = prepared.place.origin->invalid;
    }
    prepared.file = std::move(file);
    return prepared;
}

namespace {

/// A mask that is read beside the rows, for other frames than the input's.
class MaskOfSource final : public SourceMask {
  public:
    /// `number`: what masked elements become.
    MaskOfSource(const InputMask& mask, double number, FileAccess& files)
        : mask_(mask), number_(number), files_(&files) {
        mask_.flags.reset();
    }

    std::unique_ptr<RowReader> mark(std::unique_ptr<RowReader> rows, const DatasetPart& part,
                                    int threads) const override {
        InputMask mask = mask_;
        for (InputMask::Rows& each : mask.rows) {
            each.part = part;
        }
        return open_masked_rows(
            std::move(rows), mask,
            [&](const DatasetLayout& layout) { return files_->open(layout, 1); }, threads);
    }
    double number() const override { return number_; }
    std::int64_t bytes(int /*threads*/) const override { return mask_.bytes(1); }

  private:
    InputMask mask_;
    double number_;
    FileAccess* files_;
};

/// The axes of the source that the input has.
std::vector<std::int64_t> axes_of_source(const PreparedJob& prepared) {
    std::vector<std::int64_t> axes(prepared.input.array.shape.size());
    std::iota(axes.begin(), axes.end(), 0);
    if (prepared.part) {
        const std::vector<std::size_t> kept = prepared.part->axes();
        axes.assign(kept.begin(), kept.end());
    }
    return axes;
}

InvalidRule invalid_rule(const JobFile::Input::Invalid& declared) {
    using Rule = JobFile::Input::Invalid::Rule;
    switch (declared.rule) {
    case Rule::none: return {false, std::nullopt};
    case Rule::nan: return {true, std::numeric_limits<double>::quiet_NaN()};
    case Rule::number: return {true, declared.number};
    case Rule::file: return {true, declared.value, !declared.value};
    default: return {true, declared.value};
    }
}

} // namespace

JobInput job_input(const PreparedJob& prepared, FileAccess& files) {
    const JobFile::Input& input = prepared.file.input;
    JobInput given{prepared.input.array, {}, prepared.input.channels, &files};
    given.invalid = prepared.input.invalid_value;
    given.axes = prepared.input.axes;
    given.invalid_rule = invalid_rule(input.invalid);
    if (const std::optional<InputOrigin>& origin = prepared.place.origin) {
        given.source = {origin->file, origin->dataset};
        given.roles = origin->roles;
        given.part = origin->part;
        given.source_axes = origin->axes;
        given.invalid_rule = origin->invalid_rule;
        given.setup = origin->setup;
        if (origin->mask && !origin->mask->rows.empty()) {
            given.source_mask =
                std::make_shared<const MaskOfSource>(*origin->mask, origin->masked, files);
        }
        return given;
    }
    given.source_axes = axes_of_source(prepared);
    given.setup = prepared.part ? setup_of_part(prepared.layout.setup, *prepared.part)
                                : prepared.layout.setup;
    if (!prepared.input_is_missing) {
        given.source = {input.file, input.dataset};
        given.roles = prepared.roles;
        given.part = prepared.part;
        if (prepared.mask && !prepared.mask->rows.empty()) {
            given.source_mask = std::make_shared<const MaskOfSource>(
                *prepared.mask, prepared.input.invalid_value.value_or(0), files);
        }
    }
    return given;
}

namespace {

/// What the last axis of the output is, as the input's is said to be: its samples of colour are
/// those of the output where the last axis is the same.
std::optional<int> channels_of_output(const PreparedJob& prepared) {
    const std::optional<int> channels = prepared.input.channels;
    if (!channels || *channels == 1) { // samples may have been brought behind their pixels
        return prepared.job->channels() > 1 ? prepared.job->channels() : channels;
    }
    const std::vector<Likeness> steps = prepared.job->likeness();
    std::size_t axes = prepared.input.array.shape.size();
    const bool kept = std::all_of(steps.begin(), steps.end(), [&](const Likeness& step) {
        const std::size_t last = std::exchange(axes, step.axes.size()) - 1;
        return !step.axes.empty() && step.axes.back().block == 1 &&
               step.axes.back().axis == static_cast<std::int64_t>(last);
    });
    const bool is_like_it = kept && !steps.empty() && prepared.output().shape.back() == *channels;
    return is_like_it ? channels : std::optional(1);
}

/// Chooses the chunks of a folder of them where nobody did and the job filters along z: cubes, as
/// what reads them looks along z too. Returns the setting, which a later reading of the job needs.
std::vector<std::string> settle_chunk(PreparedJob& prepared) {
    OutputLayout& layout = prepared.file.output.layout;
    const FolderOfChunks* const folder = folder_of(layout);
    if (folder == nullptr || folder->cube == nullptr || !layout.chunk.empty() ||
        prepared.job->channels() > 1) {
        return {};
    }
    const Locality mixing = prepared.job->mixing().value_or(Locality{});
    if (mixing.reach[0] == 0 && mixing.block[0] == 1) {
        return {};
    }
    layout.chunk = folder->cube(prepared.output());
    return {"output.chunk=" + toml_text(std::span<const std::int64_t>(layout.chunk))};
}

} // namespace

std::optional<bool> PreparedJob::shown_colour(const std::optional<int>& channels) const {
    if (channels) {
        return *channels > 1;
    }
    return file.parameters->takes_elements_alone() ? std::nullopt : std::optional(false);
}

PreparedJob with_job(PreparedJob prepared, FileAccess& files) {
    MarkingFiles marking(files, prepared.files);
    prepared.job =
        prepared.file.parameters->make(job_input(prepared, marking), prepared.file.output.type);
    const auto add = [&notes = prepared.input.notes](const std::vector<std::string>& more) {
        notes.insert(notes.end(), more.begin(), more.end());
    };
    add(prepared.job->notes());
    const std::optional<RowOrder> order = prepared.job->row_order();
    add(mixed_axes(*prepared.job, order ? in_order(prepared.input, *order) : prepared.input,
                   prepared.input_name()));
    if (!prepared.place.origin) { // a later pass would say it again
        note_alpha(prepared.file, *prepared.job, prepared.input);
    }
    if (!prepared.file.output.layout.is_hdf5()) {
        OutputLayout& layout = prepared.file.output.layout;
        layout.channels = channels_of_output(prepared);
        if (!layout.channels && !prepared.file.parameters->takes_elements_alone() &&
            samples_of_pixel(prepared.output(), layout) > 1) {
            layout.channels = 1; // an axis of the image, as the job has taken it
        }
    }
    const std::vector<std::string> chunk = settle_chunk(prepared);
    prepared.settled.insert(prepared.settled.end(), chunk.begin(), chunk.end());
    check_layout(prepared);
    prepared.kept = kept_frames(prepared);
    return prepared;
}

PreparedJob with_findings(const PreparedJob& prepared, const Findings& findings) {
    PreparedJob found = prepared;
    found.job = prepared.job->surveyed(findings);
    const std::vector<std::string> known = prepared.job->notes();
    for (std::string& note : found.job->notes()) {
        if (std::find(known.begin(), known.end(), note) == known.end()) {
            found.input.notes.push_back(std::move(note));
        }
    }
    return found;
}

PreparedJob prepare_job(JobFile file, FileAccess& files, PassPlace place) {
    return with_job(prepare_input(std::move(file), files, std::move(place)), files);
}

std::vector<std::string> datasets_with_checksums(const PreparedJob& prepared) {
    return prepared.kept ? datasets_of_frames(prepared.file.output.dataset)
                         : datasets_of(output_dataset(prepared));
}

OutputDataset output_dataset(const PreparedJob& prepared, const PartLayout& parts) {
    const JobFile::Output& output = prepared.file.output;
    return {partial_name(output.file), prepared.kept ? made_frames_dataset : output.dataset,
            prepared.output(),         output.layout,
            prepared.fields(),         parts};
}

} // namespace runner
