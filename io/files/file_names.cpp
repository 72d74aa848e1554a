// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/file_names.hpp"

#include "base/error.hpp"
#include "base/format.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <system_error>

#include <unistd.h>

namespace runner {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::size_t end_of_digits(std::string_view text, std::size_t at) {
    while (at < text.size() && is_digit(text[at])) {
        ++at;
    }
    return at;
}

/// The digits without leading zeros.
std::string_view digits(std::string_view text, std::size_t begin, std::size_t end) {
    while (begin + 1 < end && text[begin] == '0') {
        ++begin;
    }
    return text.substr(begin, end - begin);
}

/// Below, equal to or above 0 as strcmp, of numbers of any length.
int compare_numbers(std::string_view a, std::string_view b) {
    return a.size() != b.size() ? (a.size() < b.size() ? -1 : 1) : a.compare(b);
}

struct NumberedName {
    std::string before;
    std::string behind;
    std::int64_t number = 0;
};

/// The name without its digits at [begin, end) and these as a number.
std::optional<NumberedName> split(const std::string& name, std::size_t begin) {
    const std::size_t end = end_of_digits(name, begin);
    NumberedName split{name.substr(0, begin), name.substr(end), 0};
    const auto [stop, failure] =
        std::from_chars(name.data() + begin, name.data() + end, split.number);
    return failure == std::errc() && begin < end ? std::optional(split) : std::nullopt;
}

/// Where the digits begin in which the two differ; npos where they differ elsewhere too.
std::size_t differing_digits(const std::string& a, const std::string& b) {
    std::size_t at = static_cast<std::size_t>(
        std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
    while (at > 0 && is_digit(a[at - 1])) {
        --at;
    }
    return at < a.size() && at < b.size() && is_digit(a[at]) && is_digit(b[at]) ? at
                                                                                : std::string::npos;
}

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

/// Whether it is a link that leads to nothing.
bool is_broken_link(const fs::path& path) {
    std::error_code failure;
    if (!fs::is_symlink(path, failure)) {
        return false;
    }
    const bool is_there = fs::exists(path, failure);
    return !is_there || failure;
}

/// Finds what the parts of a pattern name.
class Expansion {
  public:
    explicit Expansion(IsInputFolder is_input_folder) : is_input_folder_(is_input_folder) {}

    NamedFiles take() { return std::move(found_); }

    /// Adds what the parts name below the folder.
    void expand(const fs::path& folder, std::span<const std::string> parts) {
        const std::string& part = parts.front();
        const bool last = parts.size() == 1;
        std::error_code failure;
        if (!has_wildcards(part)) {
            const fs::path path = folder / part;
            const bool is_folder = fs::is_directory(path, failure);
            if (last && (fs::is_regular_file(path, failure) || (is_folder && is_input(path)))) {
                found_.files.push_back(path.string());
            } else if (!last && is_folder) {
                expand(path, parts.subspan(1));
            } else if (is_broken_link(path)) {
                found_.missing.push_back(path.string());
            }
            return;
        }
        if (part == any_folders) {
            expand(folder, parts.subspan(1));
            for (const Listed& entry : list(folder)) {
                if (entry.folder && !entry.link && !is_hidden(entry.name) &&
                    !is_input(folder / entry.name)) {
                    expand(folder / entry.name, parts);
                }
            }
            return;
        }
        for (const Listed& entry : list(folder)) {
            if (!matches_name(part, entry.name)) {
                continue;
            }
            const fs::path path = folder / entry.name;
            if (last && (entry.regular || (entry.folder && is_input(path)))) {
                found_.files.push_back(path.string());
            } else if (!last && entry.folder) {
                expand(path, parts.subspan(1));
            } else if (entry.link && is_broken_link(path)) {
                found_.missing.push_back(path.string());
            }
        }
    }

  private:
    bool is_input(const fs::path& path) const {
        return is_input_folder_ != nullptr && is_input_folder_(path.string());
    }

    IsInputFolder is_input_folder_;
    NamedFiles found_;
};

} // namespace

bool natural_less(std::string_view a, std::string_view b) {
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < a.size() && j < b.size()) {
        if (is_digit(a[i]) && is_digit(b[j])) {
            const std::size_t a_end = end_of_digits(a, i);
            const std::size_t b_end = end_of_digits(b, j);
            const int order = compare_numbers(digits(a, i, a_end), digits(b, j, b_end));
            if (order != 0) {
                return order < 0;
            }
            i = a_end;
            j = b_end;
        } else if (a[i] != b[j]) {
            return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
        } else {
            ++i;
            ++j;
        }
    }
    const std::size_t a_left = a.size() - i;
    const std::size_t b_left = b.size() - j;
    return a_left != b_left ? a_left < b_left : a < b;
}

std::string name_length_fault(const std::string& file) {
    constexpr std::size_t usual_most = 255; // of every file system that Linux writes
    constexpr std::size_t beside = 26;      // ".partial.shard-" and its numbers
    const fs::path path(file);
    const fs::path folder = path.has_parent_path() ? path.parent_path() : ".";
    const long there = ::pathconf(folder.c_str(), _PC_NAME_MAX);
    const std::size_t most = there > 0 ? static_cast<std::size_t>(there) : usual_most;
    const std::size_t bytes = path.filename().native().size();
    if (bytes + beside <= most) {
        return "";
    }
    return fmt::format(
        "has {} bytes in its last part, and files beside it while it is made have "
        "longer names than the {} bytes that the file system takes: shorten it to {}",
        bytes, most, most > beside ? most - beside : 1);
}

std::string first_gap(const std::vector<std::string>& names) {
    if (names.size() < 3) {
        return "";
    }
    const std::size_t at = differing_digits(names[0], names[1]);
    std::vector<std::int64_t> numbers;
    for (const std::string& name : names) {
        const auto first = at == std::string::npos ? std::nullopt : split(names[0], at);
        const auto here = first && at < name.size() ? split(name, at) : std::nullopt;
        if (!here || here->before != first->before || here->behind != first->behind) {
            return "";
        }
        numbers.push_back(here->number);
    }
    std::int64_t step = std::numeric_limits<std::int64_t>::max();
    for (std::size_t i = 1; i < numbers.size(); ++i) {
        step = std::min(step, numbers[i] - numbers[i - 1]);
    }
    for (std::size_t i = 1; i < numbers.size(); ++i) {
        if (step > 0 && numbers[i] - numbers[i - 1] != step) {
            return "nothing between " + names[i - 1] + " and " + names[i];
        }
    }
    return "";
}

ErrorText missing_text(const std::string& what, const std::string& where,
                       const std::vector<std::string>& files) {
    constexpr std::size_t most_named = 5;
    std::string names;
    for (std::size_t i = 0; i < std::min(files.size(), most_named); ++i) {
        std::error_code failure;
        names += (i == 0 ? "" : ", ") + files[i];
        if (fs::is_symlink(files[i], failure)) {
            names += ", a link to " + fs::read_symlink(files[i], failure).string();
        }
    }
    if (files.size() > most_named) {
        names += fmt::format(", and {} more", files.size() - most_named);
    }
    return {what, where, "not there: " + names,
            "Fetch them, or leave them out: input.missing = \"skip\""};
}

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

NamedFiles expand_pattern(const std::string& pattern, IsInputFolder is_input) {
    const Parts parts = pattern_parts(pattern);
    Expansion expansion(is_input);
    if (!parts.empty()) {
        expansion.expand({}, parts);
    }
    NamedFiles found = expansion.take();
    for (std::vector<std::string>* names : {&found.files, &found.missing}) {
        std::sort(names->begin(), names->end());
        names->erase(std::unique(names->begin(), names->end()), names->end());
    }
    return found;
}

} // namespace runner
