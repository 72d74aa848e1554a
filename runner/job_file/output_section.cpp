// SPDX-License-Identifier: BSD-3-Clause
#include "runner/job_file/job_sections.hpp"

#include "io/files/path_pattern.hpp"
#include "io/formats/rows_format.hpp"
#include "io/rows/output_parts.hpp"
#include "jobs/toml_text.hpp"
#include "runner/job_file/same_file.hpp"
#include "runner/job_file/table_values.hpp"

#include <filesystem>
#include <optional>
#include <system_error>

namespace runner {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t most_chunk_bytes = 4 * GiB - 1; // of an HDF5 chunk

std::optional<std::size_t> parse_compression(TableReader& table) {
    constexpr const char* key = "compression";
    const TableValue* value = table.value(key);
    const auto* text = value == nullptr ? nullptr : std::get_if<std::string>(&value->data);
    if (text != nullptr && (*text == "gzip" || *text == "zlib")) {
        table.complain(key, "unknown value " + quoted_text(*text) +
                                "; did you mean \"deflate\"? HDF5 calls it so. Possible: "
                                "none, deflate, zstd, lz4, bitshuffle-lz4, bitshuffle-zstd");
        return std::nullopt;
    }
    return table.choice(key, {compression_names.begin(), compression_names.end()});
}

void parse_layout(TableReader& table, OutputLayout& layout) {
    if (const auto chunk = table.integers("chunk", 1)) {
        layout.chunk = *chunk;
        check_axes(table, "chunk", layout.chunk);
        const std::optional<std::int64_t> least_bytes =
            checked_byte_count({ElementType::uint8, layout.chunk});
        if (!least_bytes || *least_bytes > most_chunk_bytes) {
            table.complain("chunk", "a chunk of " + shape_text(layout.chunk) +
                                        " passes the 4 GiB that HDF5 allows");
        }
    }
    const bool chosen = table.has("compression");
    const std::optional<std::size_t> compression = parse_compression(table);
    layout.compression = static_cast<Compression>(compression.value_or(0));
    const bool compressed = layout.compression != Compression::none;
    if (compressed && !table.has("chunk")) {
        table.complain("compression", "needs output.chunk as well: only chunks are compressed");
    }
    const Levels own = levels_of(layout.compression);
    const bool has_levels = own.highest > 0;
    const std::optional<std::int64_t> level =
        table.integer("level", has_levels ? own.lowest : 0, has_levels ? own.highest : 22);
    layout.level = static_cast<int>(level.value_or(layout.level));
    layout.shuffle = table.boolean("shuffle").value_or(layout.shuffle);
    if (chosen && !compression) {
        return; // what level and shuffle go with is not known
    }
    if (level && !compressed) {
        table.complain("level", "needs output.compression as well, as \"deflate\"");
    } else if (level && !has_levels) {
        table.complain("level", std::string("\"") + name_of(layout.compression) +
                                    "\" has no levels; leave it out");
    }
    if (layout.shuffle && !compressed) {
        table.complain("shuffle", "needs output.compression as well, as \"deflate\"");
    } else if (layout.shuffle && sorts_bits(layout.compression)) {
        table.complain("shuffle", std::string("\"") + name_of(layout.compression) +
                                      "\" sorts the bits itself; leave it out");
    }
}

void check_output_file(TableReader& table, const std::string& output, const std::string& input) {
    std::error_code failure;
    if (fs::is_directory(output, failure) || output.ends_with('/')) {
        table.complain("file", quoted_text(output) + " is a folder; name a file in it");
        return;
    }
    if (fs::exists(output, failure) && !fs::is_regular_file(output, failure)) {
        table.complain("file", quoted_text(output) + " is a device or a pipe; name a regular file");
        return;
    }
    if (input.empty()) {
        return;
    }
    if (has_wildcards(input) && matches_pattern(input, output)) {
        table.complain("file", "is one of the files that input.file, " + quoted_text(input) +
                                   ", names; put it into another folder");
    } else if (is_same_file(output, input)) {
        table.complain("file", "is the same file as input.file, " + quoted_text(input) +
                                   "; a job never writes into its input");
    } else if (is_same_file(output + ".partial", input)) {
        table.complain("file", "is written as " + quoted_text(output + ".partial") +
                                   " until it is complete, and that is input.file");
    }
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
        table.complain("dataset", quoted_text(dataset) + " has a part without a name");
    }
}

/// Whether output.dataset is a group, by default the root, and the kind's datasets are in it.
bool makes_several(const Kind* kind) { return kind != nullptr && !kind->datasets.empty(); }

/// Finds how a file of another format than HDF5 is written, and refuses what it cannot hold.
void parse_format(TableReader& table, const Kind* kind, JobFile::Output& output) {
    const RowsFormat* const format = rows_format_of(output.file);
    if (format == nullptr) {
        return;
    }
    output.layout.format = format->written;
    if (format->written == nullptr) {
        table.complain("file", "a job does not write " + std::string(format->name) +
                                   " files; runner convert makes " + quoted_text(output.file) +
                                   " of an HDF5 file");
        return;
    }
    const std::string ending(ending_of(output.file, *format));
    if (format->written->elements == WrittenFormat::Elements::cells && kind != nullptr &&
        kind->own_format != ending) {
        table.complain("file", "a " + ending + " file holds cells of sand alone; name a .h5 file");
    } else if (makes_several(kind)) {
        table.complain("file", "a " + ending +
                                   " file holds one dataset, and this kind makes several; name a "
                                   ".h5 file");
    }
    for (const char* key : {"chunk", "compression", "parts"}) {
        if (table.has(key)) {
            table.complain(key, "a " + ending + " file has none; name a .h5 file to have it");
        }
    }
}

} // namespace

JobFile::Output parse_output(TableReader& top, const JobFile::Input& input, const Kind* kind,
                             FileNames names) {
    const bool group = makes_several(kind);
    JobFile::Output output;
    if (!top.has("output") && names == FileNames::batch) {
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
    if (names == FileNames::own) {
        output.file = required_text(*table, "file", "file = \"out/image.h5\", the file to make");
    } else {
        refuse_beside_batch(*table, {"file"}, "batch.output names the outputs");
    }
    if (!output.file.empty()) {
        check_output_file(*table, output.file, input.file);
        parse_format(*table, kind, output);
    }
    output.dataset =
        table->has("dataset") ? filled_text(*table, "dataset") : (group ? "/" : input.dataset);
    if (!group || output.dataset != "/") {
        check_output_dataset(*table, output.dataset);
    }
    output.type = parse_type(*table, "dtype");
    output.overwrite = table->boolean("overwrite").value_or(output.overwrite);
    output.sync = table->boolean("sync").value_or(output.sync);
    parse_layout(*table, output.layout);
    if (table->has("parts")) {
        output.parts = parse_count(*table, "parts", most_parts);
    }
    if (output.parts.value_or(1) > 1 && output.layout.compression != Compression::none) {
        table->complain("parts", "compressed output is in one file; leave out output.parts or "
                                 "output.compression");
    }
    table->finish();
    return output;
}

} // namespace runner
