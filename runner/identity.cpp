// SPDX-License-Identifier: BSD-3-Clause
#include "runner/identity.hpp"

#include "base/error.hpp"
#include "base/sizes.hpp"
#include "io/file.hpp"
#include "io/row_hashes.hpp"
#include "jobs/toml_text.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <map>
#include <sstream>
#include <utility>
#include <vector>

#include <sys/stat.h>

namespace runner {
namespace {

constexpr std::int64_t head_bytes = 64 * KiB;
constexpr std::int64_t sample_bytes = 4 * KiB;
constexpr std::int64_t samples = 64;
constexpr std::size_t told_differences = 8;

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

std::string input_lines(const PreparedJob& prepared) {
    const JobFile::Input& input = prepared.file.input;
    const File file(input.file, File::Mode::read);
    struct stat status {};
    if (::stat(input.file.c_str(), &status) != 0) {
        throw Error(ExitCode::input, {"cannot look at the input", input.file, errno_text(errno),
                                      errno_remedy(errno)});
    }
    std::error_code ignored;
    const std::filesystem::path path = std::filesystem::weakly_canonical(input.file, ignored);
    return line("input.file", toml_text(path.string())) +
           line("input.dataset", toml_text(input.dataset)) +
           line("input.bytes", std::to_string(file.size())) +
           line("input.modified", std::to_string(status.st_mtim.tv_sec) + " s " +
                                      std::to_string(status.st_mtim.tv_nsec) + " ns") +
           line("input.samples", std::to_string(sample_hash(file))) +
           line("input.shape", shape_text(prepared.input.array.shape)) +
           line("input.dtype", std::string(name_of(prepared.input.array.type)));
}

std::string output_lines(const PreparedJob& prepared) {
    const OutputDataset output = output_dataset(prepared);
    static constexpr std::array compressions = {"none", "deflate", "zstd"};
    const OutputLayout& layout = output.layout;
    std::string text = line("output.dataset", toml_text(output.dataset)) +
                       line("output.dtype", std::string(name_of(output.array.type))) +
                       line("output.shape", shape_text(output.array.shape)) +
                       line("output.chunk", toml_text(std::span<const std::int64_t>(layout.chunk)));
    for (const OutputField& field : output.fields) {
        text += line("output.field " + field.dataset,
                     std::string(name_of(field.array.type)) + " " + shape_text(field.array.shape));
    }
    if (layout.format == FileFormat::sand) {
        text += line("output.format", "sand");
    }
    if (layout.compression != Compression::none) {
        text += line("output.compression",
                     compressions.at(static_cast<std::size_t>(layout.compression))) +
                line("output.level", std::to_string(layout.level)) +
                line("output.shuffle", layout.shuffle ? "true" : "false");
    }
    return text;
}

/// The lines by what stands before " = ".
std::map<std::string, std::string> facts(const std::string& text) {
    std::map<std::string, std::string> all;
    std::istringstream lines(text);
    for (std::string fact; std::getline(lines, fact);) {
        const std::size_t mark = fact.find(" = ");
        all[fact.substr(0, mark)] = mark == std::string::npos ? "" : fact.substr(mark + 3);
    }
    return all;
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

std::vector<Difference> differences(const std::string& was, const std::string& is) {
    const std::map<std::string, std::string> before = facts(was);
    std::map<std::string, std::string> now = facts(is);
    std::vector<Difference> all;
    for (const auto& [key, value] : before) {
        const auto found = now.find(key);
        const std::string current = found == now.end() ? "not set" : found->second;
        if (current != value) {
            all.push_back({key, value, current});
        }
        now.erase(key);
    }
    for (const auto& [key, value] : now) {
        all.push_back({key, "not set", value});
    }
    return all;
}

} // namespace

std::string job_identity(const PreparedJob& prepared) {
    std::string text = line("kind", prepared.file.kind) +
                       line("computation", prepared.computation()) + input_lines(prepared) +
                       output_lines(prepared);
    std::istringstream parameters(prepared.file.parameters->canonical());
    for (std::string parameter; std::getline(parameters, parameter);) {
        text += prepared.file.kind + "." + parameter + "\n";
    }
    return text;
}

std::string identity_difference(const std::string& was, const std::string& is) {
    const std::vector<Difference> all = differences(was, is);
    std::string text;
    for (std::size_t i = 0; i < std::min(all.size(), told_differences); ++i) {
        text += (i == 0 ? "" : "; ") + all[i].key + " was " + cut(all[i].was) + ", is " +
                cut(all[i].is);
    }
    if (all.size() > told_differences) {
        text += "; and " + std::to_string(all.size() - told_differences) + " more";
    }
    return text;
}

bool only_input_differs(const std::string& was, const std::string& is) {
    const std::vector<Difference> all = differences(was, is);
    return !all.empty() && std::all_of(all.begin(), all.end(), [](const Difference& difference) {
        return difference.key.starts_with("input.");
    });
}

} // namespace runner
