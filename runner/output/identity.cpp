// SPDX-License-Identifier: BSD-3-Clause
#include "runner/output/identity.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/json.hpp"
#include "base/sizes.hpp"
#include "io/files/file.hpp"
#include "io/files/file_mark.hpp"
#include "io/files/hash.hpp"
#include "io/files/text_file.hpp"
#include "io/formats/rows_format.hpp"
#include "io/input/stack.hpp"
#include "jobs/toml_text.hpp"
#include "runner/output/read_files.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <limits>
#include <numeric>
#include <sstream>
#include <utility>
#include <vector>

#include <sys/stat.h>

namespace runner::output {
namespace {

constexpr std::int64_t head_bytes = 64 * KiB;
constexpr std::int64_t sample_bytes = 4 * KiB;
constexpr std::int64_t samples = 64;
constexpr std::size_t told_differences = 3;
constexpr std::size_t most_listed = 1000; // of other files; more have one checksum
constexpr const char* computation_key = "computation";
constexpr const char* modified_key = "input.modified";

std::string line(const std::string& key, const std::string& value) {
    return key + " = " + value + "\n";
}

/// A checksum of the file's beginning and end and of pieces evenly between.
std::uint64_t sample_hash(const File& file) {
    const std::int64_t size = file.size();
    const std::int64_t head = std::min(size, head_bytes);
    std::vector<std::byte> bytes(static_cast<std::size_t>(head + samples * sample_bytes));
    file.read(0, head, bytes.data());
    std::int64_t taken = head;
    const std::int64_t last = size - sample_bytes;
    for (std::int64_t i = 1; i <= samples && last > head; ++i) {
        const std::int64_t offset = last / samples * i + last % samples * i / samples;
        file.read(offset, sample_bytes, bytes.data() + taken);
        taken += sample_bytes;
    }
    return hash_bytes(bytes.data(), taken);
}

/// The lines of files that hold elements beside the input's own.
std::string lines_of(const std::vector<std::string>& files) {
    std::vector<std::string> texts(files.size());
    for_each_file(std::ssize(files), [&](std::int64_t index) {
        const auto i = static_cast<std::size_t>(index);
        const FileMark mark = mark_of(files[i]);
        const std::string key = "input.source " + toml_text(files[i]) + ".";
        texts[i] =
            line(key + "bytes", std::to_string(mark.bytes)) +
            line(key + "modified", fmt::format("{} ns", mark.modified)) +
            line(key + "samples", std::to_string(sample_hash(File(files[i], File::Mode::read))));
    });
    return std::accumulate(texts.begin(), texts.end(), std::string());
}

std::string hash_text(const std::string& text) {
    return std::to_string(
        hash_bytes(reinterpret_cast<const std::byte*>(text.data()), std::ssize(text)));
}

std::string other_lines(const PreparedJob& prepared) {
    const std::vector<std::string> files = other_files(prepared);
    const std::string lines = lines_of(files);
    return files.size() <= most_listed ? lines
                                       : line("input.sources", std::to_string(files.size())) +
                                             line("input.sources.samples", hash_text(lines));
}

std::string time_text(std::int64_t seconds, std::int64_t nanoseconds) {
    return std::to_string(seconds) + " s " + std::to_string(nanoseconds) + " ns";
}

std::string file_lines(const std::string& name) {
    const File file(name, File::Mode::read);
    struct stat status {};
    if (::stat(name.c_str(), &status) != 0) {
        throw Error(ExitCode::input,
                    {"cannot inspect the input", name, errno_text(errno), errno_remedy(errno)});
    }
    return line("input.bytes", std::to_string(file.size())) +
           line(modified_key, time_text(status.st_mtim.tv_sec, status.st_mtim.tv_nsec)) +
           line("input.samples", std::to_string(sample_hash(file)));
}

/// A checksum of the file's beginning, its middle and its end.
std::uint64_t brief_hash(const File& file) {
    std::array<std::byte, 3 * sample_bytes> taken{};
    const std::int64_t size = file.size();
    const std::int64_t part = std::min(size, sample_bytes);
    file.read(0, part, taken.data());
    file.read((size - part) / 2, part, taken.data() + sample_bytes);
    file.read(size - part, part, taken.data() + 2 * sample_bytes);
    return hash_bytes(taken.data(), std::ssize(taken));
}

/// Lines of all files of a stack or a folder, which may be thousands: their names, sizes and times,
/// and of each its beginning, its middle and its end.
std::string lines_of_all(const std::vector<std::string>& files) {
    constexpr std::int64_t nanoseconds = 1'000'000'000;
    std::vector<FileMark> of_files(files.size());
    std::vector<std::uint64_t> hashes(files.size());
    for_each_file(std::ssize(files), [&](std::int64_t index) {
        const auto i = static_cast<std::size_t>(index);
        of_files[i] = mark_of(files[i]);
        hashes[i] = brief_hash(File(files[i], File::Mode::read));
    });
    std::string marks;
    std::int64_t bytes = 0;
    std::int64_t modified = 0;
    for (std::size_t i = 0; i < of_files.size(); ++i) {
        const FileMark& mark = of_files[i];
        marks += files[i] + " " + std::to_string(mark.bytes) + " " + std::to_string(mark.modified) +
                 " " + std::to_string(hashes[i]) + "\n";
        bytes += mark.bytes;
        modified = std::max(modified, mark.modified);
    }
    return line("input.files", std::to_string(files.size())) +
           line("input.bytes", std::to_string(bytes)) +
           line(modified_key, time_text(modified / nanoseconds, modified % nanoseconds)) +
           line("input.samples", hash_text(marks));
}

/// The files that hold the rows of the sources.
std::vector<std::string> holders(const DatasetLayout& layout) {
    std::vector<std::string> files;
    for (const DatasetLayout& source : layout.sources) {
        // What stands for rows that no source has is of the dataset itself (SourceFill).
        if (source.file != layout.file || source.dataset != layout.dataset) {
            files.push_back(source.holder);
        }
    }
    return files;
}

std::string raw_text(const DenseLayout& raw) {
    return "from byte " + std::to_string(raw.offset) +
           (raw.bytes == DenseLayout::Bytes::big_endian ? ", big-endian" : ", little-endian");
}

/// Lines of what an earlier pass made: what made it of the job's own input.
std::string origin_lines(const PreparedJob& prepared, const std::string& identity) {
    std::string text;
    std::istringstream lines(identity);
    for (std::string each; std::getline(lines, each);) {
        const bool is_input = each.starts_with("input.");
        text += (is_input ? "" : "before.") + each + "\n";
    }
    return text + other_lines(prepared) +
           line("between.shape", shape_text(prepared.input.array.shape)) +
           line("between.dtype", type_text(prepared.input.array));
}

std::string input_lines(const PreparedJob& prepared) {
    const JobFile::Input& input = prepared.file.input;
    if (prepared.place.origin) {
        return origin_lines(prepared, prepared.place.origin->identity);
    }
    std::error_code ignored;
    const std::filesystem::path path = std::filesystem::weakly_canonical(input.file, ignored);
    const bool stack = is_stack(input.file);
    return line("input.file", toml_text(path.string())) +
           line("input.dataset", toml_text(input.dataset)) +
           (stack                       ? lines_of_all(holders(prepared.layout))
            : is_folder_input(prepared) ? lines_of_all(files_of_folder(prepared))
                                        : file_lines(input.file)) +
           (input.raw ? line("input.raw", raw_text(*input.raw)) : "") +
           (prepared.part ? line("input.part", part_text(*prepared.part)) : "") +
           (input.axes.letters.empty() ? "" : line("input.axes", toml_text(input.axes.letters))) +
           (input.axes.sets_spacing() ? line("input.spacing", spacing_text(input.axes)) : "") +
           (input.colour ? line("input.colour", *input.colour ? "true" : "false") : "") +
           (prepared.input.invalid_value
                ? line("input.invalid", toml_text(*prepared.input.invalid_value))
                : "") +
           (prepared.mask ? prepared.mask->identity() : "") +
           (stack ? "" : lines_of(holders(prepared.layout))) + other_lines(prepared) +
           line("input.shape", shape_text(prepared.input.array.shape)) +
           line("input.dtype", type_text(prepared.input.array));
}

std::string output_lines(const PreparedJob& prepared) {
    const OutputDataset output = output_dataset(prepared);
    const OutputLayout& layout = output.layout;
    std::string text = line("output.dataset", toml_text(prepared.file.output.dataset)) +
                       line("output.dtype", type_text(output.array)) +
                       line("output.shape", shape_text(output.array.shape)) +
                       line("output.chunk", toml_text(std::span<const std::int64_t>(layout.chunk)));
    for (const auto& [key, extents] :
         {std::pair("output.shard", layout.shard), std::pair("output.tile", layout.tile)}) {
        text += extents.empty() ? "" : line(key, toml_text(std::span(extents)));
    }
    for (const OutputField& field : output.fields) {
        text += line("output.field " + field.dataset,
                     type_text(field.array) + " " + shape_text(field.array.shape));
    }
    // A pass finds the values before it in any parts.
    const std::optional<std::int64_t> parts = prepared.file.output.parts;
    if (parts != 1 && !prepared.place.is_between) {
        text += line("output.parts", parts ? std::to_string(*parts) : "auto");
    }
    if (!layout.is_hdf5()) {
        text += line("output.format", std::string(rows_format_of(output.file)->name));
    }
    if (layout.compression != Compression::none) {
        text += line("output.compression", name_of(layout.compression)) +
                line("output.level", std::to_string(layout.level)) +
                line("output.shuffle", layout.shuffle ? "true" : "false");
    }
    if (const auto& [levels, factors, downsample, level] = layout.pyramid; levels != 1) {
        const std::optional<double> invalid = prepared.job->invalid();
        const char* const how = downsample_names.at(static_cast<std::size_t>(downsample));
        text += line("output.levels", levels == 0 ? "auto" : std::to_string(levels)) +
                line("output.level_factors", toml_text(std::span(factors))) +
                line("output.downsample", how) +
                (invalid ? line(levels_invalid_key, toml_text(*invalid)) : "");
    }
    const char* const ngff = ngff_names.at(static_cast<std::size_t>(layout.ngff));
    return layout.ngff == Ngff::v0_5 ? text : text + line("output.ngff", ngff);
}

struct Fact {
    std::string key;
    std::string value;
};

/// The lines, in their order.
std::vector<Fact> facts(const std::string& text) {
    std::vector<Fact> all;
    std::istringstream lines(text);
    for (std::string fact; std::getline(lines, fact);) {
        const std::size_t mark = fact.find(" = ");
        all.push_back(
            {fact.substr(0, mark), mark == std::string::npos ? "" : fact.substr(mark + 3)});
    }
    return all;
}

const std::string* value_of(const std::vector<Fact>& facts, std::string_view key) {
    const auto found =
        std::find_if(facts.begin(), facts.end(), [&](const Fact& fact) { return fact.key == key; });
    return found == facts.end() ? nullptr : &found->value;
}

std::string cut(const std::string& value) {
    constexpr std::size_t most = 80;
    return value.size() <= most ? value : value.substr(0, most) + "...";
}

struct Difference {
    std::string key;
    std::string was;
    std::string is;
};

/// In the order of the identity's lines, which begins with what tells jobs apart at a glance; the
/// computation, which a person does not read, comes last.
std::vector<Difference> differences(const std::string& was, const std::string& is) {
    constexpr const char* none = "not set";
    const std::vector<Fact> before = facts(was);
    const std::vector<Fact> now = facts(is);
    std::vector<Difference> all;
    for (const auto& [key, value] : before) {
        const std::string* const current = value_of(now, key);
        if (current == nullptr || *current != value) {
            all.push_back({key, value, current == nullptr ? none : *current});
        }
    }
    for (const auto& [key, value] : now) {
        if (value_of(before, key) == nullptr) {
            all.push_back({key, none, value});
        }
    }
    std::stable_partition(all.begin(), all.end(), [](const Difference& difference) {
        return difference.key != computation_key;
    });
    return all;
}

/// "1795310460 s 5 ns", or the same as "1795310460000000005 ns", as
/// "2026-11-22T02:01:00.000000005Z"; any other text as it is.
std::string date_text(const std::string& value) {
    std::istringstream text(value);
    constexpr std::int64_t second = 1'000'000'000;
    std::int64_t seconds = 0;
    std::int64_t nanoseconds = 0;
    std::string unit;
    std::string small_unit;
    if (!(text >> seconds >> unit)) {
        return value;
    }
    if (unit == "ns" && text.peek() == std::istringstream::traits_type::eof()) {
        return precise_utc_text(seconds);
    }
    if (unit != "s" || !(text >> nanoseconds >> small_unit) || small_unit != "ns" ||
        nanoseconds < 0 || nanoseconds >= second ||
        std::abs(seconds) > std::numeric_limits<std::int64_t>::max() / second - 1) {
        return value;
    }
    return precise_utc_text(seconds * second + nanoseconds);
}

std::string value_text(const std::string& key, const std::string& value) {
    const bool is_time = key.starts_with("input.") && key.ends_with(".modified");
    return cut(is_time ? date_text(value) : value);
}

} // namespace

std::string job_identity(const PreparedJob& prepared) {
    std::string text = line("kind", prepared.file.kind) +
                       line(computation_key, prepared.job->computation()) + input_lines(prepared) +
                       output_lines(prepared) + (prepared.kept ? prepared.kept->identity() : "");
    const std::optional<std::string> own = prepared.job->parameters();
    std::istringstream parameters(
        own ? *own : prepared.file.parameters->canonical_for(prepared.input.array));
    for (std::string parameter; std::getline(parameters, parameter);) {
        text += prepared.file.kind + "." + parameter + "\n";
    }
    return text;
}

std::string without_layout(const std::string& identity) {
    return identity.substr(0, identity.rfind("layout = "));
}

std::optional<std::string> identity_value(const std::string& identity, std::string_view key) {
    const std::vector<Fact> all = facts(identity);
    const std::string* const value = value_of(all, key);
    return value == nullptr ? std::nullopt : std::optional(*value);
}

FileMarks sources_of(const std::string& identity) {
    constexpr std::string_view begin = "input.source ";
    FileMarks sources;
    std::istringstream lines(identity);
    for (std::string each; std::getline(lines, each);) {
        const std::size_t equals = each.rfind(" = ");
        const std::size_t dot = each.rfind('.', equals);
        if (!each.starts_with(begin) || equals == std::string::npos || dot == std::string::npos) {
            continue;
        }
        const std::string_view what = std::string_view(each).substr(dot + 1, equals - dot - 1);
        try { // the escapes of toml_text() are JSON's
            const auto name =
                Json::parse(std::string_view(each).substr(begin.size(), dot - begin.size()))
                    .get<std::string>();
            const std::int64_t value = std::stoll(each.substr(equals + 3));
            if (what == "bytes") {
                sources[name].bytes = value;
            } else if (what == "modified") {
                sources[name].modified = value;
            }
        } catch (const std::exception&) { // a name that is no text
        }
    }
    return sources;
}

std::string identity_difference(const std::string& was, const std::string& is) {
    const std::vector<Difference> all = differences(was, is);
    std::string text;
    for (std::size_t i = 0; i < std::min(all.size(), told_differences); ++i) {
        const auto& [key, before, now] = all[i];
        text += (i == 0 ? "" : "; ") + key + " was " + value_text(key, before) + ", is " +
                value_text(key, now);
    }
    if (all.size() > told_differences) {
        text += fmt::format("; and {} more", all.size() - told_differences);
    }
    return text;
}

bool only_input_differs(const std::string& was, const std::string& is) {
    const std::vector<Difference> all = differences(was, is);
    return !all.empty() && std::all_of(all.begin(), all.end(), [](const Difference& difference) {
        return difference.key.starts_with("input.");
    });
}

} // namespace runner::output
