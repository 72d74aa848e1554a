// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace runner {

struct Kind;

/// A key of a kind's table in words: for `runner init` and `runner keys`, the tables of docs/ and
/// the Python package. Backquotes mark what may be written as it is. `type`, `range` and `meaning`
/// begin in lower case and end without a full stop; `detail` is sentences.
struct KeyText {
    /// How `runner init` shows the key: to be used, or in a comment.
    enum class Shown { set, commented };

    std::string name;
    std::string type;       ///< "integer"
    std::string range = {}; ///< which values of the type are taken; empty: any
    std::string unit = {};  ///< of the value; empty: none
    std::string usual = {}; ///< what holds where the key is left out, or "required"
    std::string meaning = {};
    std::string detail = {};     ///< what `runner init` leaves out; may be empty
    std::string annotation = {}; ///< the type in Python
    std::string sample = {};     ///< a value to start from, in TOML
    Shown shown = Shown::set;
};

/// The lines of a table to start from, each key with its meaning in a comment.
std::string sample_lines(std::span<const KeyText> keys);

/// What the key means, its values and its default, on one line: for the help of an option.
std::string key_line(const KeyText& key);

/// The table of a kind's keys in Markdown, as it stands in docs/.
std::string key_table(const Kind& kind);

/// The keys for reading in a terminal, a paragraph a key.
std::string key_paragraphs(const Kind& kind);

/// Kinds and their keys as JSON: an array of {"kind", "summary", "keys": [{"name", "type",
/// "range", "unit", "default", "meaning", "detail", "annotation"}]}. Empty texts are left out.
std::string kinds_json(std::span<const Kind> kinds);

} // namespace runner
