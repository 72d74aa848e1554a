// SPDX-License-Identifier: BSD-3-Clause
#include "base/joined_meaning.hpp"

#include "base/format.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>

namespace runner {
namespace {

/// What the mark of parts that differ begins with.
constexpr std::string_view differing = "not alike: ";

bool is_differing(const std::string& mark) { return mark.starts_with(differing); }

/// Whether two parts have the same invalid elements, however they say it.
bool are_alike(const Meaning& a, const Meaning& b) {
    if (a.invalid == b.invalid) {
        return true;
    }
    const bool are_numbers =
        a.invalid_value && b.invalid_value && a.invalid.size() == 1 && b.invalid.size() == 1;
    return are_numbers && (*a.invalid_value == *b.invalid_value ||
                           (std::isnan(*a.invalid_value) && std::isnan(*b.invalid_value)));
}

/// "_FillValue = 7 in a.tif", "none in a.tif".
std::string said_by(const std::string& name, const std::vector<std::string>& invalid) {
    std::string text;
    for (const std::string& mark : invalid) {
        text.append(text.empty() ? "" : ", ").append(mark);
    }
    return (text.empty() ? "none" : text) + " in " + name;
}

/// The number of a mark that has one, "7" of "_FillValue = 7 in a.tif"; of others "7".
std::string number_of(const std::string& mark) {
    const std::size_t at = mark.find("= ");
    return at == std::string::npos ? "7"
                                   : mark.substr(at + 2, mark.find_first_of(" ,", at + 2) - at - 2);
}

} // namespace

void JoinedMeaning::add(const std::string& name, const Meaning& part) {
    for (const std::string& note : part.notes) {
        add_note(note);
    }
    add_marks(name, part);
    ++count_;
}

void JoinedMeaning::add_note(const std::string& text) {
    const auto [at, is_new] = numbers_.try_emplace(text.substr(0, text.find(" (")), notes_.size());
    if (is_new) {
        notes_.push_back({text});
    }
    Note& note = notes_[at->second];
    ++note.count;
    // What is between parentheses is the name of the part.
    const auto why = [](const std::string& each) {
        return std::string_view(each).substr(std::min(each.find("): "), each.size()));
    };
    note.is_alike = note.is_alike && why(text) == why(note.text);
}

void JoinedMeaning::add_marks(const std::string& name, const Meaning& part) {
    if (std::any_of(marks_.invalid.begin(), marks_.invalid.end(), is_differing)) {
        return;
    }
    const auto own = std::find_if(part.invalid.begin(), part.invalid.end(), is_differing);
    if (own != part.invalid.end()) {
        marks_.invalid = {*own + " of " + name};
        marks_.invalid_value.reset();
    } else if (count_ == 0) {
        first_ = name;
        marks_.invalid = part.invalid;
        marks_.invalid_value = part.invalid_value;
    } else if (!are_alike(marks_, part)) {
        marks_.invalid = {fmt::format("{}{}, {}", differing, said_by(first_, marks_.invalid),
                                      said_by(name, part.invalid))};
        marks_.invalid_value.reset();
    }
}

Meaning JoinedMeaning::joined() const {
    Meaning joined = marks_;
    for (const Note& note : notes_) {
        std::string text = note.text;
        if (note.count != count_ || !note.is_alike) {
            text += fmt::format("{} {} of the {} {} {}{}", text.ends_with('.') ? "" : ".",
                                note.count, count_, parts_, note.count == 1 ? "says" : "say",
                                note.is_alike ? " so" : " such, not all the same");
        }
        joined.notes.push_back(std::move(text));
    }
    return joined;
}

std::optional<ErrorText> differing_marks(const std::vector<std::string>& invalid,
                                         const std::string& where) {
    const auto mark = std::find_if(invalid.begin(), invalid.end(), is_differing);
    if (mark == invalid.end()) {
        return std::nullopt;
    }
    return ErrorText{"parts of the dataset do not agree on which elements are no values", where,
                     mark->substr(differing.size()),
                     fmt::format("Write input.invalid = {}, or another number, for the elements "
                                 "that are invalid in all of them, or input.invalid = \"none\"",
                                 number_of(*mark))};
}

} // namespace runner
