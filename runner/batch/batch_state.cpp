// SPDX-License-Identifier: BSD-3-Clause
#include "runner/batch/batch_state.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/json.hpp"
#include "base/sizes.hpp"
#include "io/files/file.hpp"
#include "io/files/hash.hpp"
#include "io/files/text_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <sstream>
#include <system_error>

#include <unistd.h>

namespace runner::batch {
namespace {

namespace fs = std::filesystem;

constexpr int format_version = 1;
constexpr const char* list_name = "datasets.jsonl";
constexpr std::int64_t longest_list = 4 * GiB;

void make_folder(const std::string& folder) {
    std::error_code failure;
    fs::create_directories(folder, failure);
    if (failure) {
        throw Error(ExitCode::output, {"cannot make the folder of the batch's state", folder,
                                       failure.message(), "Set batch.state to another folder"});
    }
}

/// The first line of the file, as far as a list's may be long.
std::string first_line(const std::string& path) {
    const File file(path, File::Mode::read);
    std::string text(static_cast<std::size_t>(std::min<std::int64_t>(file.size(), 2 * MiB)), ' ');
    file.read(0, std::ssize(text), reinterpret_cast<std::byte*>(text.data()));
    return text.substr(0, text.find('\n'));
}

/// Refuses a file under the list's name that is none. Nothing is lost in an empty one, or in the
/// zeros that a power cut leaves.
void check_list(const std::string& path) {
    std::error_code failure;
    if (!fs::exists(path, failure)) {
        return;
    }
    std::string why = "a file of that name is there, and it is no list of a batch";
    try {
        const std::string line = first_line(path);
        if (line.empty() || line.starts_with('\0')) {
            return;
        }
        const Json head = Json::parse(line);
        for (const char* key : {"datasets", "format", "kind", "name"}) {
            (void)head.at(key);
        }
        return;
    } catch (const JsonError&) {
    } catch (const Error& error) {
        why = error.text().why;
    }
    throw Error(ExitCode::output, {"cannot write the batch's list", path, why,
                                   "Move it away, or set batch.state to another folder"});
}

} // namespace

std::string own_name() {
    static const auto start = std::chrono::system_clock::now().time_since_epoch().count();
    return fmt::format("{}-{}", ::getpid(), start);
}

void write_list(const std::string& folder, const DatasetList& list) {
    make_folder(folder);
    std::string text = Json{{"datasets", list.datasets.size()},
                            {"format", format_version},
                            {"kind", list.kind},
                            {"name", list.name}}
                           .text() +
                       "\n";
    for (const ListedDataset& dataset : list.datasets) {
        text += Json{{"bytes", dataset.bytes},
                     {"input", dataset.input},
                     {"key", dataset.key},
                     {"output", dataset.output},
                     {"rows", dataset.rows}}
                    .text() +
                "\n";
    }
    const std::string path = (fs::path(folder) / list_name).string();
    check_list(path);
    write_text_file(path, text);
}

DatasetList read_list(const std::string& folder) {
    const std::string path = (fs::path(folder) / list_name).string();
    std::istringstream file;
    std::string text;
    std::string why = "it is empty";
    try {
        file.str(read_text_file(path, longest_list));
    } catch (const Error& error) {
        why = error.text().why;
    }
    if (!std::getline(file, text)) {
        throw Error(ExitCode::input, {"there is no state of a batch", path, why,
                                      "`runner batch JOB.toml` makes it; the job file's "
                                      "batch.output or batch.state says where"});
    }
    DatasetList list;
    try {
        const Json head = Json::parse(text);
        list.name = head.at("name").get<std::string>();
        list.kind = head.at("kind").get<std::string>();
        while (std::getline(file, text)) {
            const Json line = Json::parse(text);
            list.datasets.push_back(
                {line.at("input").get<std::string>(), line.at("output").get<std::string>(),
                 line.at("key").get<std::string>(), line.at("bytes").get<std::int64_t>(),
                 line.at("rows").get<std::int64_t>()});
        }
    } catch (const JsonError& failure) {
        throw Error(ExitCode::input, {"the batch's list is damaged", path, failure.what(),
                                      "Run `runner batch` again: it makes the list again"});
    }
    return list;
}

std::string checksum_text(const std::string& text) {
    std::array<char, 24> digits{};
    (void)std::snprintf(
        digits.data(), digits.size(), "%016llx",
        static_cast<unsigned long long>(hash_bytes(reinterpret_cast<const std::byte*>(text.data()),
                                                   static_cast<std::int64_t>(text.size()))));
    return digits.data();
}

} // namespace runner::batch
