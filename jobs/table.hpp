// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace runner {

/// A place in the job file; lines and columns count from 1.
struct SourcePlace {
    int line = 0;
    int column = 0;
    int setting = 0; ///< 0: in the file; n: in the n-th `--set` laid over it

    bool operator==(const SourcePlace&) const = default;
};

struct TableValue;
using TableArray = std::vector<TableValue>;
struct TableEntry;
using TableEntries = std::vector<TableEntry>;

/// A TOML value with its place, free of the parser it came from. Monostate: a date or time, which
/// no key takes.
struct TableValue {
    std::variant<std::monostate, bool, std::int64_t, double, std::string, TableArray, TableEntries>
        data;
    SourcePlace place;
    SourcePlace key_place; ///< of the key in front of it, where there is one
};

/// A key of a table and its value.
struct TableEntry {
    std::string key;
    TableValue value;
};

/// "an integer", "a string", "a table": what a value is, for messages.
std::string type_name(const TableValue& value);

/// All that is wrong with a job file, gathered so that one run tells it all.
class Diagnostics {
  public:
    struct Entry {
        SourcePlace place;
        std::string text;
    };
    void add(SourcePlace place, std::string text) { entries_.push_back({place, std::move(text)}); }
    const std::vector<Entry>& entries() const { return entries_; }

    /// Every key that was asked for, by its dotted name, there or not: what the reader knows.
    void note_key(std::string dotted) { keys_.insert(std::move(dotted)); }
    const std::set<std::string>& keys() const { return keys_; }

  private:
    std::vector<Entry> entries_;
    std::set<std::string> keys_;
};

/// Reads one table key by key: checks type and range, remembers which keys were asked for, and at
/// the end reports the others. Every getter reports a wrong value to the diagnostics (with the
/// key's dotted name and the place) and returns nothing, so a caller continues and finds the next
/// error.
class TableReader {
  public:
    /// `table` and `diagnostics` outlive the reader. `name`: the table's dotted name, "" at the
    /// top.
    TableReader(const TableEntries& table, SourcePlace place, std::string name,
                Diagnostics& diagnostics);

    /// Whether the key is there; counts as asking for it.
    bool has(std::string_view key);
    std::optional<bool> boolean(std::string_view key);
    std::optional<std::int64_t>
    integer(std::string_view key, std::int64_t least = std::numeric_limits<std::int64_t>::min(),
            std::int64_t most = std::numeric_limits<std::int64_t>::max());
    /// A finite number, an integer taken as one too.
    std::optional<double> number(std::string_view key);
    std::optional<std::string> text(std::string_view key);
    /// A text that must be one of `allowed`; returns its position there.
    std::optional<std::size_t> choice(std::string_view key,
                                      const std::vector<std::string>& allowed);
    /// An array of integers, each at least `least`.
    std::optional<std::vector<std::int64_t>> integers(std::string_view key, std::int64_t least);
    /// An array of finite numbers.
    std::optional<std::vector<double>> numbers(std::string_view key);
    /// The raw value, for keys that take values of several types.
    const TableValue* value(std::string_view key);
    /// The reader of a table below this one; nothing if there is none.
    std::optional<TableReader> table(std::string_view key);

    /// Reports that `key`'s value is wrong: "convolve.boundary: " + text.
    void complain(std::string_view key, const std::string& text);
    /// Reports that a required key is missing: "convolve.row_taps is missing: write " +
    /// what_to_write.
    void missing(std::string_view key, const std::string& what_to_write);
    /// Reports every key that was never asked for, with the nearest known name.
    void finish();

    const std::string& name() const { return name_; }
    Diagnostics& diagnostics() { return *diagnostics_; }

  private:
    const TableValue* find(std::string_view key);
    std::string dotted(std::string_view key) const;
    void complain_at(SourcePlace place, std::string_view key, const std::string& text);
    template <class T> const T* typed(std::string_view key, const char* expected);

    const TableEntries* table_;
    SourcePlace place_;
    std::string name_;
    Diagnostics* diagnostics_;
    std::vector<std::string> asked_;
};

} // namespace runner
