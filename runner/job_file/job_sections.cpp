// SPDX-License-Identifier: BSD-3-Clause
#include "runner/job_file/job_sections.hpp"

#include "base/error.hpp"
#include "io/formats/rows_format.hpp"
#include "io/formats/sand_file.hpp"
#include "io/rows/output_parts.hpp"
#include "jobs/toml_text.hpp"
#include "kernels/patterns/patterns.hpp"
#include "runner/job_file/same_file.hpp"

#include <array>
#include <filesystem>
#include <initializer_list>
#include <limits>
#include <system_error>
#include <utility>

namespace runner {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t most_axes = 32;                 // of an HDF5 dataset
constexpr std::int64_t most_chunk_bytes = 4 * GiB - 1; // of an HDF5 chunk
constexpr std::int64_t most_lanes = 64;
constexpr std::int64_t most_io_threads = 256;
constexpr std::int64_t most_halo_depth = 65536;

/// A text that must not be empty; "" where it is reported.
std::string filled_text(TableReader& table, std::string_view key) {
    const std::optional<std::string> text = table.text(key);
    if (text && text->empty()) {
        table.complain(key, "must not be empty");
    }
    return text.value_or("");
}

std::string required_text(TableReader& table, std::string_view key, const char* what_to_write) {
    if (!table.has(key)) {
        table.missing(key, what_to_write);
        return "";
    }
    return filled_text(table, key);
}

std::optional<ElementType> parse_type(TableReader& table, std::string_view key) {
    std::vector<std::string> names;
    names.reserve(all_element_types.size());
    for (const ElementType type : all_element_types) {
        names.emplace_back(name_of(type));
    }
    const std::optional<std::size_t> index = table.choice(key, names);
    return index ? std::optional(all_element_types.at(*index)) : std::nullopt;
}

void check_axes(TableReader& table, std::string_view key,
                const std::vector<std::int64_t>& extents) {
    const auto axes = static_cast<std::int64_t>(extents.size());
    if (axes < 1 || axes > most_axes) {
        table.complain(key, "must have from 1 to " + std::to_string(most_axes) +
                                " elements, one an axis, got " + std::to_string(axes));
    }
}

std::optional<std::int64_t> product(const ArrayInfo& array) {
    try {
        return byte_count(array);
    } catch (const Error&) {
        return std::nullopt; // past 63 bits
    }
}

std::optional<GenerateRequest> parse_generate(TableReader& input) {
    std::optional<TableReader> table = input.table("generate");
    if (!table) {
        return std::nullopt;
    }
    GenerateRequest request;
    if (!table->has("pattern")) {
        table->missing("pattern", "pattern = \"noise\"; there are " + pattern_names());
    } else if (const std::optional<std::size_t> index =
                   table->choice("pattern", generate_patterns())) {
        request.pattern = generate_patterns()[*index];
    }
    const std::optional<Pattern> pattern = pattern_named(request.pattern);
    const std::optional<std::vector<std::int64_t>> usual =
        pattern ? usual_shape(*pattern) : std::nullopt;
    if (!table->has("dtype") && !(pattern && is_sand_pattern(*pattern))) {
        table->missing("dtype", "dtype = \"float32\" or another element type");
    }
    const std::optional<ElementType> type = parse_type(*table, "dtype");
    request.type = type.value_or(ElementType::uint8);
    if (!table->has("shape") && usual) {
        request.shape = *usual;
    } else if (!table->has("shape")) {
        table->missing("shape", "shape = [1024, 1024] or other extents, the last running fastest");
    } else if (std::optional<std::vector<std::int64_t>> shape = table->integers("shape", 1)) {
        request.shape = std::move(*shape);
        check_axes(*table, "shape", request.shape);
        if (!product({request.type, request.shape})) {
            table->complain("shape",
                            "the bytes of " + shape_text(request.shape) + " pass 2^63 - 1");
        }
    }
    if (const std::optional<std::int64_t> seed = table->integer("seed", 0)) {
        request.seed = static_cast<std::uint64_t>(*seed);
    }
    if (pattern == Pattern::xray) {
        request.counts = table->number("counts").value_or(usual_counts);
        if (!(request.counts > 0 && request.counts <= most_counts)) {
            table->complain("counts",
                            "must be above 0 and at most 1e9, got " + toml_text(request.counts));
        }
    }
    table->finish();
    return request;
}

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
        const std::optional<std::int64_t> least_bytes = product({ElementType::uint8, layout.chunk});
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
    if (is_same_file(output, input)) {
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

/// Refuses what a .sand file cannot hold.
void check_sand_output(TableReader& table, SandFiles sand_files) {
    if (sand_files == SandFiles::none) {
        table.complain("file", "a .sand file holds cells of sand alone; name a .h5 file");
    }
    for (const char* key : {"chunk", "compression", "parts"}) {
        if (table.has(key)) {
            table.complain(key, "a .sand file has none; name a .h5 file to have it");
        }
    }
}

/// Whether a name is of a format that verbs read and write, and jobs do not.
bool is_only_converted(const std::string& file) {
    return rows_format_of(file) != nullptr && !is_sand_name(file);
}

enum class Share { none, allowed };

/// A size in words or in bytes, or a share of what is free where that is allowed.
std::optional<MemorySize> parse_memory(TableReader& table, std::string_view key,
                                       Share share = Share::allowed) {
    const std::string wanted = std::string("a size like \"2GiB\"") +
                               (share == Share::allowed ? " or a share like \"80%\"" : "");
    const TableValue* value = table.value(key);
    if (value == nullptr) {
        return std::nullopt;
    }
    if (std::holds_alternative<std::int64_t>(value->data)) {
        const std::optional<std::int64_t> bytes = table.integer(key, 1);
        return bytes ? std::optional(MemorySize{*bytes, 0}) : std::nullopt;
    }
    const auto* text = std::get_if<std::string>(&value->data);
    if (text == nullptr) {
        table.complain(key, "expected " + wanted + ", got " + type_name(*value));
        return std::nullopt;
    }
    const std::optional<MemorySize> size = parse_memory_size(*text);
    if (!size || (size->fraction != 0 && share == Share::none)) {
        table.complain(key, "expected " + wanted +
                                " (units B, kB, MB, GB, TB, KiB, MiB, GiB, TiB), got " +
                                quoted_text(*text));
        return std::nullopt;
    }
    return size;
}

/// "auto" (nothing) or a number from 1 to `most`.
std::optional<std::int64_t> parse_count(TableReader& table, std::string_view key,
                                        std::int64_t most) {
    const TableValue* value = table.value(key);
    if (value == nullptr) {
        return std::nullopt;
    }
    if (const auto* text = std::get_if<std::string>(&value->data)) {
        if (*text != "auto") {
            table.complain(key,
                           "expected \"auto\" or an integer, got a string, " + quoted_text(*text));
        }
        return std::nullopt;
    }
    if (!std::holds_alternative<std::int64_t>(value->data)) {
        table.complain(key, "expected \"auto\" or an integer, got " + type_name(*value));
        return std::nullopt;
    }
    return table.integer(key, 1, most);
}

/// Reports keys that a batch has no place for.
void refuse_beside_batch(TableReader& table, std::initializer_list<std::string_view> keys,
                         const std::string& why) {
    for (const std::string_view key : keys) {
        if (table.has(key)) {
            table.complain(key, why + ": remove this key, or the table [batch]");
        }
    }
}

/// A number of seconds, 0 or more.
double parse_seconds(TableReader& table, std::string_view key, double otherwise) {
    const std::optional<double> seconds = table.number(key);
    if (seconds && *seconds < 0) {
        table.complain(key, "must be 0 or more, got " + toml_text(*seconds));
    }
    return seconds.value_or(otherwise);
}

} // namespace

JobFile::Input parse_input(TableReader& top, std::string_view usual_dataset, FileNames names) {
    JobFile::Input input;
    if (!top.has("input")) {
        if (names == FileNames::batch && !usual_dataset.empty()) {
            input.dataset = usual_dataset;
            return input;
        }
        top.missing("input", "a table [input] with file and dataset");
        return input;
    }
    std::optional<TableReader> table = top.table("input");
    if (!table) {
        return input;
    }
    if (names == FileNames::own) {
        input.file = required_text(*table, "file", "file = \"data/image.h5\", an HDF5 file");
        if (is_only_converted(input.file)) {
            table->complain("file", "a job reads HDF5; make that first: runner convert " +
                                        quoted_text(input.file) + " " +
                                        quoted_text(input.file + ".h5"));
        }
    } else {
        refuse_beside_batch(*table, {"file", "generate"}, "batch.inputs names the inputs");
    }
    input.dataset = usual_dataset;
    if (table->has("dataset") || usual_dataset.empty()) {
        input.dataset =
            required_text(*table, "dataset", "dataset = \"/image\", its place in the file");
    }
    if (names == FileNames::own) {
        input.generate = parse_generate(*table);
    }
    input.part = parse_input_part(*table);
    if (table->boolean("allow_external").value_or(false)) {
        input.rules.outside = InputRules::Outside::anywhere;
    }
    if (const auto size = parse_memory(*table, "max_logical_bytes", Share::none)) {
        input.rules.max_logical_bytes = size->bytes;
    }
    table->finish();
    return input;
}

JobFile::Output parse_output(TableReader& top, const JobFile::Input& input, SandFiles sand_files,
                             OutputPlace place, FileNames names) {
    JobFile::Output output;
    if (!top.has("output") && names == FileNames::batch) {
        output.dataset = place == OutputPlace::group ? "/" : input.dataset;
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
        if (is_only_converted(output.file)) {
            table->complain("file", "a job writes HDF5; runner convert makes " +
                                        quoted_text(output.file) + " of that");
        }
        if (is_sand_name(output.file)) {
            output.layout.format = FileFormat::sand;
            check_sand_output(*table, sand_files);
        }
    }
    const bool group = place == OutputPlace::group;
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

JobFile::Run parse_run(TableReader& top) {
    JobFile::Run run;
    std::optional<TableReader> table = top.table("run");
    if (!table) {
        return run;
    }
    constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();
    const std::optional<std::size_t> backend = table->choice("backend", {"auto", "cpu", "cuda"});
    run.backend = std::array{BackendChoice::automatic, BackendChoice::cpu, BackendChoice::cuda}.at(
        backend.value_or(0));
    run.host_memory = parse_memory(*table, "host_memory");
    run.device_memory = parse_memory(*table, "device_memory");
    run.chunk_rows = parse_count(*table, "chunk_rows", any);
    run.lanes = parse_count(*table, "lanes", most_lanes);
    run.io_threads = parse_count(*table, "io_threads", most_io_threads);
    run.halo_depth = parse_count(*table, "halo_depth", most_halo_depth);
    const std::optional<std::size_t> halo =
        table->choice("halo_exchange", {"auto", "direct", "staged"});
    run.halo_exchange =
        std::array{HaloChoice::automatic, HaloChoice::direct, HaloChoice::staged}.at(
            halo.value_or(0));
    const std::optional<std::size_t> resume = table->choice("resume", {"auto", "never", "require"});
    run.resume = std::array{ResumeChoice::automatic, ResumeChoice::never, ResumeChoice::require}.at(
        resume.value_or(0));
    const std::optional<std::size_t> check = table->choice("resume_check", {"few", "all"});
    run.resume_check = check == 1 ? RowCheck::all : RowCheck::few;
    run.commit_seconds = parse_seconds(*table, "commit_seconds", run.commit_seconds);
    run.stall_seconds = parse_seconds(*table, "stall_seconds", run.stall_seconds);
    table->finish();
    return run;
}

} // namespace runner
