// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/path_pattern.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <filesystem>
#include <span>
#include <system_error>

namespace runner {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view any_folders = "**";

using Parts = std::vector<std::string>;

/// The parts of a path between slashes, the empty ones and "." left out; an absolute path begins
/// with "/".
Parts parts_of(std::string_view path) {
    Parts parts;
    if (path.starts_with('/')) {
        parts.emplace_back("/");
    }
    for (std::size_t begin = 0; begin < path.size();) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        std::string part(path.substr(begin, end - begin));
        const bool again = part == any_folders && !parts.empty() && parts.back() == any_folders;
        if (!part.empty() && part != "." && !again) {
            parts.push_back(std::move(part));
        }
        begin = end + 1;
    }
    return parts;
}

/// The parts of a pattern: one that ends with folders means the files in them.
Parts pattern_parts(std::string_view pattern) {
    Parts parts = parts_of(pattern);
    if (!parts.empty() && parts.back() == any_folders) {
        parts.emplace_back("*");
    }
    return parts;
}

/// The byte after the character, in UTF-8, that begins at `at`.
std::size_t after_character(std::string_view text, std::size_t at) {
    constexpr unsigned char kind_bits = 0xc0;
    constexpr unsigned char later_byte = 0x80;
    do {
        ++at;
    } while (at < text.size() && (static_cast<unsigned char>(text[at]) & kind_bits) == later_byte);
    return at;
}

bool is_hidden(std::string_view name) { return name.starts_with('.'); }

/// Whether one name has the form of one part, which is not `**`.
bool matches_name(std::string_view part, std::string_view name) {
    if (is_hidden(name) && !is_hidden(part)) {
        return false;
    }
    std::size_t p = 0;
    std::size_t n = 0;
    std::size_t star = std::string_view::npos; // the last one met
    std::size_t begin = 0;                     // of what stands after it in the name
    while (n < name.size()) {
        if (p < part.size() && part[p] == '*') {
            star = p++;
            begin = n;
        } else if (p < part.size() && part[p] == '?') {
            ++p;
            n = after_character(name, n);
        } else if (p < part.size() && part[p] == name[n]) {
            ++p;
            ++n;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            n = ++begin;
        } else {
            return false;
        }
    }
    return part.find_first_not_of('*', p) == std::string_view::npos;
}

/// Names and whether each is a folder to go into.
struct Listed {
    std::string name;
    bool folder = false;  ///< through links too
    bool regular = false; ///< a regular file, through links too
    bool link = false;
};

std::vector<Listed> list(const fs::path& folder) {
    std::vector<Listed> all;
    std::error_code failure;
    fs::directory_iterator entry(folder.empty() ? fs::path(".") : folder, failure);
    for (; !failure && entry != fs::directory_iterator(); entry.increment(failure)) {
        std::error_code gone; // it may go meanwhile
        // The listing says what an entry is; only links and odd file systems cost a call.
        all.push_back({entry->path().filename().string(), entry->is_directory(gone),
                       entry->is_regular_file(gone), entry->is_symlink(gone)});
    }
    if (failure) {
        throw Error(ExitCode::input, {"cannot list a folder for the inputs", folder.string(),
                                      failure.message(), "Make it readable, or name other inputs"});
    }
    return all;
}

/// Adds what the parts name below the folder.
void expand(const fs::path& folder, std::span<const std::string> parts,
            std::vector<std::string>& found) {
    const std::string& part = parts.front();
    const bool last = parts.size() == 1;
    std::error_code failure;
    if (!has_wildcards(part)) {
        const fs::path path = folder / part;
        if (last && fs::is_regular_file(path, failure)) {
            found.push_back(path.string());
        } else if (!last && fs::is_directory(path, failure)) {
            expand(path, parts.subspan(1), found);
        }
        return;
    }
    if (part == any_folders) {
        expand(folder, parts.subspan(1), found);
        for (const Listed& entry : list(folder)) {
            if (entry.folder && !entry.link && !is_hidden(entry.name)) {
                expand(folder / entry.name, parts, found);
            }
        }
        return;
    }
    for (const Listed& entry : list(folder)) {
        if (!matches_name(part, entry.name)) {
            continue;
        }
        const fs::path path = folder / entry.name;
        if (last && entry.regular) {
            found.push_back(path.string());
        } else if (!last && entry.folder) {
            expand(path, parts.subspan(1), found);
        }
    }
}

} // namespace

bool has_wildcards(std::string_view pattern) {
    return pattern.find_first_of("*?") != std::string_view::npos;
}

bool matches_pattern(std::string_view pattern, std::string_view path) {
    const Parts form = pattern_parts(pattern);
    const Parts names = parts_of(path);
    // good[n]: the parts so far match the first n names.
    std::vector<bool> good(names.size() + 1, false);
    good[0] = true;
    for (const std::string& part : form) {
        std::vector<bool> next(names.size() + 1, false);
        for (std::size_t n = 0; n <= names.size(); ++n) {
            if (part == any_folders) {
                next[n] = good[n] || (n > 0 && next[n - 1] && !is_hidden(names[n - 1]));
            } else {
                next[n] = n > 0 && good[n - 1] && matches_name(part, names[n - 1]);
            }
        }
        good = std::move(next);
    }
    return good.back();
}

std::vector<std::string> expand_pattern(const std::string& pattern) {
    const Parts parts = pattern_parts(pattern);
    std::vector<std::string> found;
    if (!parts.empty()) {
        expand({}, parts, found);
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

} // namespace runner
