// SPDX-License-Identifier: BSD-3-Clause
#include "runner/verify/finished_output.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/text.hpp"
#include "io/files/file.hpp"
#include "io/files/hash.hpp"
#include "io/files/text_file.hpp"
#include "io/formats/rows_format.hpp"
#include "io/formats/slice_names.hpp"
#include "io/input/file_access.hpp"
#include "io/input/generations.hpp"
#include "io/input/stack.hpp"
#include "io/input/stored_places.hpp"
#include "io/output/beside_record.hpp"
#include "io/rows/dataset_part.hpp"
#include "io/rows/row_geometry.hpp"
#include "io/rows/written_format.hpp"
#include "io/writers/output_fields.hpp"
#include "io/writers/record_seal.hpp"
#include "runner/output/complete_output.hpp"
#include "runner/output/identity.hpp"
#include "runner/output/read_files.hpp"
#include "runner/report/report.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <exception>
#include <filesystem>
#include <span>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

namespace runner::verify {
namespace {

[[noreturn]] void refuse_structure(const std::string& file, const std::string& why) {
    throw Error(
        ExitCode::input,
        {"cannot read the output", file, why,
         "Where HDF5's own structure is damaged, repair cannot mend it: remove the file and "
         "run the job again"});
}

/// What `look` finds in an output that may be damaged anywhere: what else could only fail by a
/// mistake of ours, or for lack of memory, is damage here.
template <class Look> auto trusting_no_structure(const std::string& file, const Look& look) {
    try {
        return look();
    } catch (const Error& error) {
        if (error.code() == ExitCode::defect) {
            refuse_structure(file, error.what());
        }
        throw;
    } catch (const std::exception& error) {
        refuse_structure(file,
                         "a size in it may be beyond all memory: " + std::string(error.what()));
    }
}

AttributeList record_of(FileAccess& files, const std::string& file) {
    { const File there(file, File::Mode::read); }
    try {
        return files.root_attributes(file);
    } catch (const Error& error) {
        if (error.code() != ExitCode::input) {
            throw;
        }
        refuse_structure(file, error.text().why);
    }
}

/// An attribute of the record; null where there is none.
const AttributeValue* find_recorded(const AttributeList& record, std::string_view name) {
    const auto found = std::find_if(record.begin(), record.end(),
                                    [&](const auto& entry) { return entry.first == name; });
    return found == record.end() ? nullptr : &found->second;
}

template <class T>
T recorded(const AttributeList& record, const std::string& name, const std::string& file) {
    const AttributeValue* const value = find_recorded(record, name);
    if (value == nullptr || !std::holds_alternative<T>(*value)) {
        throw Error(ExitCode::input,
                    {"cannot tell how the file was made", file,
                     "its root has no attribute " + name + " of the right type",
                     "Only a finished output of this program can be verified and repaired"});
    }
    return std::get<T>(*value);
}

/// Whether the recorded checksum is this one. Outputs of earlier versions have none.
bool has_checksum(const AttributeList& record, std::string_view name, const std::string& checksum) {
    const AttributeValue* const value = find_recorded(record, name);
    const auto* const text = std::get_if<std::string>(value);
    return value == nullptr || (text != nullptr && *text == checksum);
}

/// A damaged job may be a valid one, which computes other elements.
void check_undamaged(const AttributeList& record, const std::string& job,
                     const std::string& settings, const std::string& file) {
    if (!has_checksum(record, job_checksum_attribute, job_checksum(job, settings))) {
        throw Error(ExitCode::input,
                    {"cannot use the job that is recorded in the output", file,
                     "it does not match its checksum, the attribute " +
                         std::string(job_checksum_attribute) + ": the file is damaged",
                     "Remove the file and run the job again"});
    }
}

JobFile recorded_job(const AttributeList& record, const std::string& file) {
    const auto job = recorded<std::string>(record, "job", file);
    const auto all_settings = recorded<std::string>(record, "job_settings", file);
    check_undamaged(record, job, all_settings, file);
    std::vector<std::string> settings;
    std::istringstream lines(all_settings);
    for (std::string line; std::getline(lines, line);) {
        settings.push_back(line);
    }
    try {
        return parse_job_text(job, file + ":@job", settings);
    } catch (const Error& error) {
        throw Error(ExitCode::input,
                    {"cannot use the job that is recorded in the output", file, error.what(), ""});
    }
}

/// The datasets of an output that is several.
std::vector<std::string> field_names(const JobFile& job) {
    std::vector<std::string> names;
    for (const std::string_view dataset : job.datasets) {
        names.push_back(field_name(job.output.dataset, std::string(dataset)));
    }
    return names;
}

/// What the record says of the run, without the rows.
FinishedOutput recorded_run(const AttributeList& record, const std::string& file) {
    FinishedOutput output;
    output.file = file;
    output.version = recorded<std::string>(record, "runner_version", file);
    output.job = recorded_job(record, file);
    output.input_bytes = recorded<std::int64_t>(record, "input_bytes", file);
    output.input_modified = recorded<std::string>(record, "input_modified", file);
    return output;
}

/// What `read` reads in a text of the record; nothing where it is not there.
template <class Read>
auto read_text(const AttributeList& record, const char* name, const std::string& file,
               const Read& read) {
    using Value = typename std::invoke_result_t<Read, const std::string&>::value_type;
    if (find_recorded(record, name) == nullptr) {
        return Value();
    }
    std::optional<Value> value = read(recorded<std::string>(record, name, file));
    if (!value) {
        refuse_structure(file, std::string("its record has a damaged ") + name);
    }
    return *std::move(value);
}

/// The number that the coarser levels leave out, of an output that has some.
std::optional<double> recorded_invalid(const std::string& identity, const std::string& file) {
    const auto text = output::identity_value(identity, output::levels_invalid_key);
    if (!text) {
        return std::nullopt;
    }
    const char* const end = text->data() + text->size();
    if (double number = 0; std::from_chars(text->data(), end, number).ptr == end) {
        return number;
    }
    refuse_structure(file, std::string("its record has a damaged ") + output::levels_invalid_key);
}

/// The facts of an output whose record stands beside it.
FinishedOutput read_recorded_beside(const std::string& file, Structure structure) {
    if (!is_folder_output(file) || !is_output_there(file)) {
        const File there(file, File::Mode::read);
    }
    BesideRecord record = read_beside_record(without_link(file));
    AttributeList attributes;
    for (const Attribute& each : record.attributes) {
        std::visit([&](const auto& held) { attributes.emplace_back(each.first, held); },
                   each.second);
    }
    FinishedOutput output = recorded_run(attributes, file);
    output.levels_invalid = recorded_invalid(record.identity, file);
    attributes.emplace_back(output::identity_attribute, std::move(record.identity));
    output.record = std::move(attributes);
    output.job.output.layout.format = written_format_of(file);
    if (find_recorded(output.record, output::channels_attribute) != nullptr) {
        output.job.output.layout.channels = static_cast<int>(
            recorded<std::int64_t>(output.record, output::channels_attribute, file));
    }
    output.stored.array = record.array;
    output.runs = std::move(record.rows);
    output.runs_are_damaged =
        record.rows_checksum && *record.rows_checksum != digest_of_rows(output.runs);
    output.axes = read_text(output.record, placement_attribute, file, [&](const std::string& text) {
        return axes_of_text(text, output.stored.array.shape.size());
    });
    output.extremes =
        read_text(output.record, output::extremes_attribute, file, [&](const std::string& text) {
            return extremes_of_text(text, output.stored.array);
        });
    if (structure == Structure::checked || folder_of(output.job.output.layout) == nullptr) {
        check_written(output.dataset());
    }
    return output;
}

/// Rows have checksums of their bytes alone, which another type may take for other elements.
void check_elements(const FinishedOutput& output) {
    const AttributeValue* const value = find_recorded(output.record, output::identity_attribute);
    const auto* const identity = std::get_if<std::string>(value);
    if (identity == nullptr) {
        return; // of an earlier version
    }
    const auto check = [&](const std::string& dataset, const std::string& key,
                           const std::string& there) {
        const std::optional<std::string> recorded = output::identity_value(*identity, key);
        if (recorded && *recorded != there) {
            throw Error(ExitCode::differs, {"the dataset is damaged", output.file + ":" + dataset,
                                            "it has " + there + ", and the job made " + *recorded,
                                            "Remove the file and run the job again"});
        }
    };
    const ArrayInfo& array = output.stored.array;
    check(output.datasets_text(), "output.dtype", type_text(array));
    check(output.datasets_text(), "output.shape", shape_text(array.shape));
    for (const OutputField& field : output.fields) {
        check(field.dataset, "output.field " + field.dataset,
              type_text(field.array) + " " + shape_text(field.array.shape));
    }
}

/// A run that starts from a frame takes its generation from this list.
void check_generations(FileAccess& files, const FinishedOutput& output) {
    if (find_recorded(output.record, output::generations_checksum_attribute) == nullptr) {
        return; // not of sand, or of an earlier version
    }
    const std::string& dataset = output.job.output.dataset;
    const auto generations =
        read_generations(files, output.file, dataset, output.stored.array.shape.front());
    if (!generations || !has_checksum(output.record, output::generations_checksum_attribute,
                                      digest_of(std::as_bytes(std::span(*generations))))) {
        throw Error(ExitCode::differs, {"the generations of the frames are damaged",
                                        output.file + ":" + generations_name(dataset),
                                        "they do not match their checksum, the attribute " +
                                            std::string(output::generations_checksum_attribute),
                                        "Remove the file and run the job again"});
    }
}

/// Which frames the output keeps of its scan.
DatasetPart made_frames(const FinishedOutput& output) {
    const std::vector<std::int64_t>& shape = output.layouts.front().info.array.shape;
    DatasetPart part{std::vector<std::int64_t>(shape.size()), shape, output.frames.made};
    part.count.front() = std::ssize(part.frames);
    return part;
}

/// Tells the frames of the job from those that the output keeps.
void read_kept(FileAccess& files, FinishedOutput& output) {
    const ArrayInfo& all = output.stored.array;
    if (all.shape.size() < 2) {
        refuse_structure(output.file, "its dataset has no frames");
    }
    output.kept = read_kept_hashes(files, output.file, all);
    output.frames = split_of(output.kept, all, output.file);
    if (output.kept.empty() || output.frames.made.empty()) {
        refuse_structure(output.file, "the list of its flats and darks is damaged");
    }
    output.stored = info_of_part(output.stored, made_frames(output));
}

FinishedOutput read_all(FileAccess& files, const std::string& file, Structure structure) {
    if (is_recorded_beside(file)) {
        return read_recorded_beside(file, structure);
    }
    AttributeList record = record_of(files, file);
    FinishedOutput output = recorded_run(record, file);
    output.record = std::move(record);
    std::vector<std::string> names = field_names(output.job);
    const bool has_fields = !names.empty();
    if (!has_fields) {
        names.push_back(output.job.output.dataset);
    }
    for (const std::string& name : names) {
        output.layouts.push_back(files.layout(file, name));
    }
    if (has_fields) {
        output.fields = fields_of(output.layouts);
        output.stored.array = joined_array(output.fields);
    } else {
        output.stored = output.layouts.front().info;
    }
    if (output.job.output.keep_fields) {
        read_kept(files, output);
        names = datasets_of_frames(output.job.output.dataset);
    }
    check_elements(output);
    output.runs = read_row_hashes(files, file, row_count(output.stored.array));
    output.runs_are_damaged =
        !has_checksum(output.record, row_hashes_checksum_attribute, digest_of_rows(output.runs));
    check_generations(files, output);
    const std::string damage = record_damage(files, file, output.record, names);
    if (!damage.empty()) {
        throw Error(ExitCode::input, {"cannot use what the output says of itself", file, damage,
                                      "Remove the file and run the job again"});
    }
    return output;
}

} // namespace

std::string without_link(const std::string& file) {
    std::error_code failure;
    if (!std::filesystem::is_symlink(file, failure)) {
        return file;
    }
    const std::filesystem::path target = std::filesystem::canonical(file, failure);
    return failure ? file : target.string();
}

std::string FinishedOutput::datasets_text() const {
    std::string text;
    for (const OutputField& field : fields) {
        text += (text.empty() ? "" : ", ") + field.dataset;
    }
    return fields.empty() ? job.output.dataset : text;
}

InputRules finished_output_rules() {
    InputRules rules;
    rules.bad_chunks = InputRules::BadChunks::mark;
    return rules;
}

FinishedOutput read_finished_output(FileAccess& files, const std::string& file,
                                    Structure structure) {
    return trusting_no_structure(file, [&] { return read_all(files, file, structure); });
}

void check_runs_undamaged(const FinishedOutput& output) {
    if (output.runs_are_damaged) {
        throw Error(ExitCode::differs,
                    {"the list of the rows' checksums is damaged", output.file,
                     "it does not match its own checksum, and the rows that were compared match it",
                     "See runner verify " + shell_word(output.file) +
                         " without --sample; else remove the file and run the job again"});
    }
}

std::unique_ptr<RowReader> open_stored_rows(FileAccess& files, const FinishedOutput& output,
                                            int threads) {
    return trusting_no_structure(output.file, [&] {
        const OutputLayout& made = output.job.output.layout;
        if (!made.is_hdf5()) {
            return !is_packed(made) ? made.format->open_reader(output.dataset(), threads)
                   : folder_of(made) != nullptr && !is_in_slices(made)
                       ? files.open(stored_places(files, output.dataset()), threads)
                       : open_layout_rows(packed_layout(output.dataset()), threads);
        }
        std::vector<std::unique_ptr<RowReader>> readers;
        for (const DatasetLayout& layout : output.layouts) {
            readers.push_back(files.open(layout, threads));
        }
        if (output.keeps_frames()) {
            return open_part(std::move(readers.front()), made_frames(output));
        }
        return output.fields.empty() ? std::move(readers.front())
                                     : join_fields(output.fields, std::move(readers));
    });
}

std::string input_change(const FinishedOutput& output) {
    const std::string& file = output.job.input.file;
    constexpr std::int64_t nanoseconds = 1'000'000'000;
    const FileMark mark = mark_of_input(file);
    if (mark.bytes < 0) {
        return errno_text(ENOENT);
    }
    const std::string modified = utc_text(mark.modified / nanoseconds);
    if (mark.bytes == output.input_bytes && modified == output.input_modified) {
        const auto* const identity =
            std::get_if<std::string>(find_recorded(output.record, output::identity_attribute));
        return identity == nullptr ? "" : output::change_since(*identity, mark);
    }
    return "it had " + std::to_string(output.input_bytes) + " bytes of " + output.input_modified +
           " and has " + std::to_string(mark.bytes) + " of " + modified;
}

} // namespace runner::verify
