// SPDX-License-Identifier: BSD-3-Clause
#include "runner/job_file/job_sections.hpp"

#include "base/error.hpp"
#include "io/files/file_names.hpp"
#include "io/formats/rows_format.hpp"
#include "io/formats/slice_names.hpp"
#include "io/output/layout_choice.hpp"
#include "io/output/own_parts.hpp"
#include "io/rows/output_parts.hpp"
#include "jobs/toml_text.hpp"
#include "runner/job_file/file_names.hpp"
#include "runner/job_file/table_values.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

namespace runner {
namespace {

namespace fs = std::filesystem;

/// As OutputLayout::format; nothing where it is not known before each output has its name.
using KnownFormat = std::optional<const WrittenFormat*>;

std::optional<Compression> parse_compression(TableReader& table, const KnownFormat& format) {
    constexpr const char* key = "compression";
    const TableValue* value = table.value(key);
    const auto* text = value == nullptr ? nullptr : std::get_if<std::string>(&value->data);
    if (text != nullptr && format) {
        if (const std::optional<std::string> known = name_in_hdf5(*text, *format)) {
            table.complain(key, "unknown value " + quoted_text(*text) + "; did you mean \"" +
                                    *known +
                                    "\"? HDF5 calls it so. Possible: " + compression_list(*format));
            return std::nullopt;
        }
    }
    const std::optional<std::size_t> index =
        table.choice(key, {compression_names.begin(), compression_names.end()});
    return index ? std::optional(static_cast<Compression>(*index)) : std::nullopt;
}

/// Which coarser levels an image has, and the version of OME-Zarr.
void parse_image(TableReader& table, LayoutChoice& choice) {
    const bool is_given = table.has("levels");
    choice.levels = parse_count(table, "levels", most_levels);
    if (is_given && !choice.levels) {
        choice.levels = 0; // "auto"
    }
    choice.level_factors = table.integers("level_factors", 1);
    const std::optional<std::size_t> downsample =
        table.choice("downsample", {downsample_names.begin(), downsample_names.end()});
    if (downsample) {
        choice.downsample = static_cast<Downsample>(*downsample);
    }
    const std::optional<std::size_t> ngff =
        table.choice("ngff", {ngff_names.begin(), ngff_names.end()});
    if (ngff) {
        choice.ngff = static_cast<Ngff>(*ngff);
    }
    choice.pyramid = table.boolean("pyramid");
}

OutputLayout parse_layout(TableReader& table, const KnownFormat& format) {
    LayoutChoice choice;
    choice.chunk = table.integers("chunk", 1);
    if (choice.chunk) {
        check_axes(table, "chunk", *choice.chunk);
    } else if (table.has("chunk")) {
        choice.chunk.emplace(); // given, if not right
    }
    choice.shard = table.integers("shard", 1);
    if (choice.shard) {
        check_axes(table, "shard", *choice.shard);
    }
    choice.compression = parse_compression(table, format);
    const Levels levels = accepted_levels(choice.compression.value_or(Compression::none));
    choice.level = table.integer("level", levels.lowest, levels.highest);
    choice.shuffle = table.boolean("shuffle").value_or(choice.shuffle);
    parse_image(table, choice);
    choice.tile = table.integers("tile", 1);
    if (!format) {
        return choice.layout(nullptr);
    }
    const bool is_unknown = table.has("compression") && !choice.compression;
    for (const LayoutFault& fault : layout_faults(choice, "output.", *format)) {
        // What level and shuffle go with is not known then.
        if (!is_unknown || fault.key == "chunk" || fault.key == "shard") {
            table.complain(fault.key, fault.why);
        }
    }
    return choice.layout(*format);
}

/// Refuses the names that the file cannot have beside what runner itself puts there.
void check_output_dataset(TableReader& table, const std::string& dataset) {
    const std::size_t begin = dataset.find_first_not_of('/');
    if (begin == std::string::npos) {
        if (!dataset.empty()) {
            table.complain("dataset", "is the file's root; name a dataset in it, as \"/image\"");
        }
        return;
    }
    const std::string first = dataset.substr(begin, dataset.find('/', begin) - begin);
    if (first == "runner") {
        table.complain("dataset", "the group /runner holds what runner itself records; "
                                  "name another place");
    } else if (("/" + dataset + "/").find("/./") != std::string::npos || dataset.ends_with('/')) {
        table.complain("dataset", quoted_text(dataset) +
                                      (table.has("dataset") ? "" : ", as input.dataset is,") +
                                      " has a part without a name");
    }
}

/// Whether output.dataset is a group, by default the root, and the kind's datasets are in it.
bool makes_several(const Kind* kind) { return kind != nullptr && !kind->datasets.empty(); }

/// What names an output, or all of a batch.
struct OutputName {
    std::string text; ///< of a batch a pattern
    std::string key;
    SourcePlace place;
};

OutputName name_in(TableReader& table, const std::string& file, const JobFile::Batch* batch) {
    if (batch != nullptr) {
        return {batch->output.text, "batch.output", batch->output.place};
    }
    const TableValue* const value = table.value("file");
    return {file, "output.file", value == nullptr ? SourcePlace() : value->place};
}

/// Finds how files of the name are written, and refuses what their format cannot hold.
const WrittenFormat* parse_format(TableReader& table, const Kind* kind, const OutputName& name) {
    const bool is_hdf5 = is_hdf5_name(name.text) || !output_name_fault(name.text).empty();
    const RowsFormat* const format = is_hdf5 ? nullptr : rows_format_of(name.text);
    if (format == nullptr) {
        return nullptr;
    }
    const WrittenFormat* const written = written_in(*format, name.text);
    const std::string ending(ending_of(name.text, *format));
    const auto complain = [&](const std::string& why) {
        table.diagnostics().add(name.place, name.key + ": " + why);
    };
    if (written->elements == WrittenFormat::Elements::cells && kind != nullptr &&
        kind->own_format != ending) {
        complain("a " + ending + " file holds cells of sand alone; name a .h5 file");
    } else if (makes_several(kind)) {
        complain("a " + ending +
                 " file holds one dataset, and this kind makes several; name a .h5 file");
    }
    for (const char* key : {"chunk", "shard", "compression", "level", "shuffle", "parts"}) {
        if (table.has(key) && !has_layout_key(written, key)) {
            table.complain(key, "a " + ending + " file has none; name a .h5 file to have it");
        }
    }
    return written;
}

/// Whether all outputs of a batch are of one format that its pattern says: a list of inputs may
/// name outputs too, and a part in braces may end a name in anything.
bool is_format_known(const JobFile::Batch& batch) {
    const std::string& name = batch.output.text;
    return !batch.manifest && !name.ends_with('}') && output_name_fault(name).empty();
}

/// Whether a file of the input has a name of the output's slices.
bool is_among_slices(const std::string& input, const std::string& output) {
    const std::optional<SliceNames> slices = SliceNames::of(output);
    if (!slices) {
        return false;
    }
    const fs::path folder(slices->folder().empty() ? "." : slices->folder());
    std::vector<std::string> files = {input};
    try {
        files = has_wildcards(input) ? expand_pattern(input).files : files;
    } catch (const Error&) { // reading the input reports it
    }
    return std::any_of(files.begin(), files.end(), [&](const std::string& file) {
        const fs::path path(file);
        std::error_code failure;
        return slices->has(path.filename().string()) &&
               fs::equivalent(path.has_parent_path() ? path.parent_path() : ".", folder, failure);
    });
}

/// Whether the output keeps the flats and darks of a scan, beside one dataset of frames in HDF5.
bool parse_keep_fields(TableReader& table, const Kind* kind, const KnownFormat& format) {
    constexpr const char* key = "keep_fields";
    const bool keeps = table.boolean(key).value_or(false);
    if (keeps && format && *format != nullptr) {
        table.complain(key, "only an HDF5 file holds flats and darks beside the projections; name "
                            "a .nx or .h5 file");
    } else if (keeps && makes_several(kind)) {
        table.complain(key, "this kind makes several datasets, which are no frames of a scan");
    }
    return keeps;
}

} // namespace

void check_written_file(TableReader& table, std::string_view key, const std::string& output,
                        const std::string& input) {
    std::error_code failure;
    const bool is_folder = is_folder_output(output) && !output.ends_with('/');
    if ((fs::is_directory(output, failure) && !is_folder) || output.ends_with('/')) {
        const std::string name = output.substr(0, output.find_last_not_of('/') + 1);
        table.complain(key,
                       quoted_text(output) + (is_folder_output(name)
                                                  ? " ends in a slash; write " + quoted_text(name)
                                                  : " is a folder; name a file in it"));
        return;
    }
    if (fs::is_symlink(output, failure) && !fs::exists(output, failure)) {
        table.complain(key, quoted_text(output) + " is a link to what is not there; remove it, or "
                                                  "name another file");
        return;
    }
    if (fs::exists(output, failure) && !fs::is_regular_file(output, failure) && !is_folder) {
        table.complain(key, quoted_text(output) + " is a device or a pipe; name a regular file");
        return;
    }
    if (const std::string fault = output_name_fault(output); !fault.empty()) {
        table.complain(key, quoted_text(output) + " " + fault);
        return;
    }
    if (input.empty()) {
        return;
    }
    if (has_wildcards(input) && matches_pattern(input, output)) {
        table.complain(key, "is one of the files that input.file, " + quoted_text(input) +
                                ", names; put it into another folder");
    } else if (is_among_slices(input, output)) {
        table.complain(key, "is the names of slices, and input.file, " + quoted_text(input) +
                                ", has one of them; put the slices into another folder");
    } else if (is_same_file(output, input)) {
        table.complain(key, "is the same file as input.file, " + quoted_text(input) +
                                "; a job never writes into its input");
    } else if (const auto taken = name_on_the_way(output, input)) {
        table.complain(key, taken == partial_name(output)
                                ? "is written as " + quoted_text(*taken) +
                                      " until it is complete, and that is input.file"
                                : "has " + quoted_text(*taken) +
                                      " beside it while it is made, and that is input.file; name "
                                      "another one");
    }
}

JobFile::Output parse_output(TableReader& top, const JobFile::Input& input, const Kind* kind,
                             const JobFile::Batch* batch) {
    const bool group = makes_several(kind);
    JobFile::Output output;
    if (!top.has("output") && batch != nullptr) {
        output.dataset = group ? "/" : input.dataset;
        return output;
    }
    if (!top.has("output")) {
        top.missing("output", "a table [output] with file");
        return output;
    }
    std::optional<TableReader> table = top.table("output");
    if (!table) {
        return output;
    }
    if (batch == nullptr) {
        output.file = required_text(*table, "file", "file = \"out/image.h5\", the file to make");
    } else {
        refuse_beside_batch(*table, {"file"}, "batch.output names the outputs");
    }
    if (!output.file.empty()) {
        check_written_file(*table, "file", output.file, input.file);
    }
    KnownFormat format;
    if (batch == nullptr || is_format_known(*batch)) {
        format = parse_format(*table, kind, name_in(*table, output.file, batch));
    }
    output.dataset =
        table->has("dataset") ? filled_text(*table, "dataset") : (group ? "/" : input.dataset);
    if (!group || output.dataset != "/") {
        check_output_dataset(*table, output.dataset);
    }
    output.type = parse_type(*table, "dtype");
    output.overwrite = table->boolean("overwrite").value_or(output.overwrite);
    output.sync = table->boolean("sync").value_or(output.sync);
    output.keep_fields = parse_keep_fields(*table, kind, format);
    output.layout = parse_layout(*table, format);
    if (table->has("parts")) {
        output.parts = parse_count(*table, "parts", most_parts);
    }
    table->finish();
    return output;
}

} // namespace runner
