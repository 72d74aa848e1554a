// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace runner {

/// What a file, or a page of it, says of elements that are not what they seem.
struct Meaning {
    std::vector<std::string> notes;      ///< for people, as format_error() makes them
    std::vector<std::string> invalid;    ///< what it says are no values, a text each
    std::optional<double> invalid_value; ///< the number that these elements are

    bool operator==(const Meaning&) const = default;
};

/// What the parts of one dataset say of their elements, such as the files of a stack or the pages
/// of a file. A part says what it says of its own elements alone.
class JoinedMeaning {
  public:
    /// `parts`: what they are called, "files".
    explicit JoinedMeaning(std::string parts) : parts_(std::move(parts)) {}

    /// `name`: of the part, for messages.
    void add(const std::string& name, const Meaning& part);

    /// The first of notes that begin alike, with how many parts have such a note where that is not
    /// all of them. The marks of invalid elements are those of each part; where parts differ, they
    /// are one mark that names two of them, without a number.
    Meaning joined() const;

  private:
    /// A note of one part or several.
    struct Note {
        std::string text; ///< of the first
        std::int64_t count = 0;
        bool is_alike = true;
    };

    void add_note(const std::string& text);
    void add_marks(const std::string& name, const Meaning& part);

    std::string parts_;
    std::int64_t count_ = 0;
    std::vector<Note> notes_;
    std::map<std::string, std::size_t> numbers_; ///< of notes, by what they begin with
    std::string first_;                          ///< the name of the first part
    Meaning marks_;
};

/// What to say where the marks of invalid elements are those of parts that differ; nothing where
/// they are not. `where`: the dataset.
std::optional<ErrorText> differing_marks(const std::vector<std::string>& invalid,
                                         const std::string& where);

} // namespace runner
