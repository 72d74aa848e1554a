// SPDX-License-Identifier: BSD-3-Clause
#include "views/default_dataset.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/text.hpp"
#include "io/formats/rows_format.hpp"
#include "io/input/file_access.hpp"
#include "io/input/generations.hpp"

#include <algorithm>
#include <vector>

namespace runner {
namespace {

std::vector<std::string> candidates(const FileContent& content) {
    std::vector<std::string> names;
    for (const DatasetContent& dataset : content.datasets) {
        if (!dataset.path.starts_with("/runner/") &&
            dataset.path != generations_name(dataset.path)) {
            names.push_back(dataset.path);
        }
    }
    const bool links_alone = names.empty();
    for (const LinkContent& link : content.links) {
        // A soft link leads to one of those, mostly.
        if (link.is_dataset && (links_alone || link.kind == "external link")) {
            names.push_back(link.path);
        }
    }
    return names;
}

/// The one image or volume among datasets of one axis, as coordinates are; else nothing. What
/// links lead to may be another.
std::optional<std::string> only_image(const FileContent& content,
                                      const std::vector<std::string>& names) {
    std::optional<std::string> found;
    const auto is_dataset = [&](const std::string& name) {
        return std::any_of(content.datasets.begin(), content.datasets.end(),
                           [&](const DatasetContent& dataset) { return dataset.path == name; });
    };
    if (!std::all_of(names.begin(), names.end(), is_dataset)) {
        return std::nullopt;
    }
    for (const DatasetContent& dataset : content.datasets) {
        const bool named = std::find(names.begin(), names.end(), dataset.path) != names.end();
        if (named && dataset.shape.size() > 1) {
            if (found) {
                return std::nullopt;
            }
            found = dataset.path;
        }
    }
    return found;
}

std::string listed_names(const std::vector<std::string>& names) {
    constexpr std::size_t most = 20;
    std::string text;
    for (std::size_t i = 0; i < std::min(names.size(), most); ++i) {
        text += (i == 0 ? "" : ", ") + printable(names[i]);
    }
    return names.size() <= most ? text : fmt::format("{}, and {} more", text, names.size() - most);
}

} // namespace

std::string only_dataset(const FileContent& content) {
    const std::vector<std::string> names = candidates(content);
    if (names.size() == 1) {
        return names.front();
    }
    if (std::find(names.begin(), names.end(), cells_dataset) != names.end()) {
        return cells_dataset;
    }
    if (const std::optional<std::string> image = only_image(content, names)) {
        return *image;
    }
    if (names.empty()) {
        const std::string links = content.links.empty()
                                      ? ""
                                      : ", and none of its " +
                                            counted(std::ssize(content.links), "link") +
                                            " leads to one";
        throw Error(ExitCode::input,
                    {"the file has no dataset to open", content.file, "it holds none" + links,
                     "See runner inspect " + shell_word(content.file)});
    }
    throw Error(ExitCode::input, {"the file has several datasets", content.file,
                                  "it holds " + listed_names(names) + ", and none is named",
                                  "Name one: " + content.file + ":" + names.front()});
}

std::optional<std::string> default_dataset(FileAccess& files, const std::string& file) {
    try {
        return files.layout(file, "").dataset;
    } catch (const Error& error) {
        if (error.code() != ExitCode::input) {
            throw;
        }
        return std::nullopt;
    }
}

} // namespace runner
