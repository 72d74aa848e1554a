// SPDX-License-Identifier: BSD-3-Clause
#include "io/formats/slice_names.hpp"

#include "base/format.hpp"
#include "io/files/folder_tree.hpp"
#include "io/formats/rows_format.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

namespace runner {
namespace {

constexpr std::string_view number_digits = "0123456789";
constexpr std::size_t most_digits = 9;

/// Where the mark of slices is in the text, and how many bytes it has: none where none is.
std::pair<std::size_t, std::size_t> find_mark(std::string_view text) {
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '*') {
            return {at, 1};
        }
        const std::size_t end =
            text[at] == '%' ? text.find_first_not_of(number_digits, at + 1) : text.npos;
        if (end != text.npos && (text[end] == 'd' || text[end] == 'i')) {
            return {at, end + 1 - at};
        }
    }
    return {text.size(), 0};
}

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

} // namespace

std::string slices_mark(std::string_view path) {
    const std::string_view name = last_part(path);
    const auto [at, bytes] = find_mark(name);
    return std::string(name.substr(at, bytes));
}

std::string slices_fault(const std::string& file) {
    const std::string_view name = last_part(file);
    const auto [at, bytes] = find_mark(name);
    if (bytes == 0) {
        return "";
    }
    const std::string_view mark = name.substr(at, bytes);
    if (!writes_slices(file)) {
        return fmt::format("holds {}, and no folder of slices is written so: end the name in one "
                           "of {}, or name one file",
                           mark, slices_endings());
    }
    if (const std::string more = slices_mark(name.substr(at + bytes)); !more.empty()) {
        return fmt::format("holds {} and {}, and one of them is the number of a slice", mark, more);
    }
    if (mark.size() > 2 && (mark[1] != '0' || mark.size() - 2 > most_digits)) {
        return fmt::format("holds {}: write the number of a slice as %05d, with up to {} digits",
                           mark, most_digits);
    }
    return "";
}

std::optional<SliceNames> SliceNames::of(const std::string& file) {
    const std::string mark = slices_mark(file);
    if (mark.empty() || file.ends_with(".partial") || !slices_fault(file).empty()) {
        return std::nullopt;
    }
    const std::string_view name = last_part(file);
    const std::size_t at = find_mark(name).first;
    SliceNames names;
    names.folder_ = file.substr(0, file.size() - name.size());
    names.before_ = name.substr(0, at);
    names.behind_ = name.substr(at + mark.size());
    names.fits_ = mark == "*";
    names.digits_ = mark.size() > 2 ? std::stoul(mark.substr(1)) : 1;
    return names;
}

std::string SliceNames::name(std::int64_t index, std::int64_t count) const {
    const std::size_t digits = fits_ ? std::to_string(count - 1).size() : digits_;
    return fmt::format("{}{:0{}}{}", before_, index, digits, behind_);
}

bool SliceNames::has(std::string_view name) const {
    if (name.size() < before_.size() + digits_ + behind_.size() || !name.starts_with(before_) ||
        !name.ends_with(behind_)) {
        return false;
    }
    const std::string_view number =
        name.substr(before_.size(), name.size() - before_.size() - behind_.size());
    return number.find_first_not_of(number_digits) == number.npos &&
           (fits_ || number.size() == digits_ || number.front() != '0');
}

std::vector<std::string> SliceNames::there() const {
    std::vector<std::string> names;
    std::error_code failure; // a folder that cannot be listed is reported by who writes to it
    std::filesystem::directory_iterator entry(folder_.empty() ? "." : folder_, failure);
    for (; !failure && entry != std::filesystem::directory_iterator(); entry.increment(failure)) {
        std::string name = entry->path().filename().string();
        if (has(name)) {
            names.push_back(std::move(name));
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

bool is_output_there(const std::string& file) {
    const std::optional<SliceNames> slices = SliceNames::of(file);
    return slices ? !slices->there().empty() : is_there(file);
}

FileMark mark_of_output(const std::string& file) {
    const std::optional<SliceNames> slices = SliceNames::of(file);
    if (!slices) {
        const FolderOfChunks* const folder = folder_output_of(file);
        const char* const record = folder == nullptr ? nullptr : folder->record;
        return mark_of_tree(file, record == nullptr ? "" : record);
    }
    FileMark all;
    for (const std::string& name : slices->there()) {
        const FileMark mark = mark_of(slices->folder() + name);
        all.bytes = std::max<std::int64_t>(all.bytes, 0) + std::max<std::int64_t>(mark.bytes, 0);
        all.modified = std::max(all.modified, mark.modified);
    }
    return all;
}

} // namespace runner
