// SPDX-License-Identifier: BSD-3-Clause
#include "runner/job_file/nearest_file.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

namespace runner {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_listed = 5;
constexpr std::size_t most_looked_at = 10000; // a folder of a data store has millions

std::vector<std::string> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    std::error_code failure;
    for (fs::directory_iterator entry(folder, failure), end;
         !failure && entry != end && names.size() < most_looked_at; entry.increment(failure)) {
        names.push_back(entry->path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

} // namespace

std::string nearest_files_text(const std::string& path) {
    const fs::path wanted(path);
    const fs::path folder = wanted.has_parent_path() ? wanted.parent_path() : fs::path(".");
    std::error_code failure;
    if (!fs::is_directory(folder, failure)) {
        return "There is no folder " + folder.string();
    }
    const auto shown = [&](const std::string& name) {
        return (wanted.has_parent_path() ? folder / name : fs::path(name)).string();
    };
    const std::vector<std::string> names = names_in(folder);
    if (const auto near = nearest_name(wanted.filename().string(), names)) {
        return "Did you mean " + shown(*near) + "?";
    }
    std::string text;
    std::size_t listed = 0;
    for (const std::string& name : names) {
        if (wanted.has_extension() && fs::path(name).extension() == wanted.extension()) {
            if (listed == most_listed) {
                text += ", …";
                break;
            }
            text += (listed++ == 0 ? "There is " : ", ") + shown(name);
        }
    }
    return text;
}

} // namespace runner
