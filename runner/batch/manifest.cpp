// SPDX-License-Identifier: BSD-3-Clause
#include "runner/batch/manifest.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/sizes.hpp"
#include "jobs/kind.hpp"
#include "jobs/toml_text.hpp"
#include "runner/job_file/job_text.hpp"
#include "runner/toml/toml_values.hpp"

#include <algorithm>
#include <utility>

namespace runner::batch {
namespace {

constexpr std::string_view input_key = "input.file";
constexpr std::string_view output_key = "output.file";

/// A piece of the text with its place.
struct Cell {
    std::string text;
    int line = 0;
    int column = 0;
};

/// The cells of one line; columns count bytes from 1, as in a job file.
std::vector<Cell> cells_of(std::string_view line, int number) {
    std::vector<Cell> cells;
    for (std::size_t begin = 0; begin <= line.size();) {
        const std::size_t end = std::min(line.find('\t', begin), line.size());
        cells.push_back(
            {std::string(line.substr(begin, end - begin)), number, static_cast<int>(begin) + 1});
        begin = end + 1;
    }
    return cells;
}

/// Whether a cell names a key in a table of a job file.
bool is_table_key(std::string_view cell) {
    const std::size_t dot = cell.find('.');
    if (dot == std::string_view::npos) {
        return false;
    }
    const std::string_view table = cell.substr(0, dot);
    return table == "input" || table == "output" || table == "run" || table == "step" ||
           std::any_of(kinds().begin(), kinds().end(),
                       [&](const Kind& kind) { return kind.name == table; });
}

/// Whether the first line names columns: that of the inputs, or keys behind a column of any name.
bool is_head(const std::vector<Cell>& cells) {
    const auto is_input = [](const Cell& cell) { return cell.text == input_key; };
    return std::any_of(cells.begin(), cells.end(), is_input) ||
           std::any_of(cells.begin() + 1, cells.end(),
                       [](const Cell& cell) { return is_table_key(cell.text); });
}

bool is_text_key(const std::string& key) {
    return key == "name" || key == "input.dataset" || key == "output.dataset";
}

/// The value that a cell gives its key, as TOML.
std::string value_text(const std::string& key, const std::string& cell) {
    Diagnostics unused;
    const std::optional<TableEntries> read =
        is_text_key(key) ? std::nullopt : parse_toml("x=" + cell, 0, unused);
    const bool is_value = read && read->size() == 1 && read->front().key == "x";
    return is_value ? cell : toml_text(cell);
}

class ManifestReader {
  public:
    explicit ManifestReader(const std::string& name) : name_(name) {}

    std::vector<ManifestEntry> read(std::string_view text) {
        if (text.starts_with("\xef\xbb\xbf")) {
            text.remove_prefix(3);
        }
        int number = 0;
        for (std::size_t begin = 0; begin < text.size();) {
            const std::size_t end = std::min(text.find('\n', begin), text.size());
            std::string_view line = text.substr(begin, end - begin);
            if (line.ends_with('\r')) {
                line.remove_suffix(1);
            }
            take_line(line, ++number);
            begin = end + 1;
        }
        if (entries_.empty() && errors_ == 0) {
            complain({"", 1, 1}, "lists no input");
        }
        if (errors_ > 0) {
            throw Error(ExitCode::usage,
                        {fmt::format("the list of inputs is wrong ({}): {}{}{}", name_, errors_,
                                     (errors_ == 1 ? " error" : " errors"), text_),
                         "", "", ""});
        }
        return std::move(entries_);
    }

  private:
    void complain(const Cell& cell, const std::string& what) {
        constexpr int most_errors_told = 50;
        ++errors_;
        if (errors_ <= most_errors_told) {
            text_ += "\n" + place(cell) + ": " + what;
        }
    }

    std::string place(const Cell& cell) const {
        return fmt::format("{}:{}:{}", name_, cell.line, cell.column);
    }

    void take_line(std::string_view line, int number) {
        if (line.find_first_not_of(" \t") == std::string_view::npos || line.starts_with('#')) {
            return;
        }
        if (line.find('\0') != std::string_view::npos) {
            complain({"", number, 1}, "holds the character U+0000; a manifest is a text");
            return;
        }
        const bool first = !std::exchange(begun_, true);
        if (first && is_head(cells_of(line, number))) {
            take_head(cells_of(line, number));
        } else if (keys_.empty()) {
            const Cell whole{std::string(line), number, 1};
            entries_.push_back({whole.text, std::nullopt, {}, place(whole)});
        } else {
            take_row(cells_of(line, number));
        }
    }

    void take_head(std::vector<Cell> cells) {
        const auto input = std::find_if(cells.begin(), cells.end(),
                                        [](const Cell& cell) { return cell.text == input_key; });
        if (input != cells.end()) {
            input_ = static_cast<std::size_t>(input - cells.begin());
        } else if (is_table_key(cells.front().text)) {
            complain(cells.front(), "no column is called \"input.file\"");
        } else {
            cells.front().text = input_key; // called something else by who wrote it
        }
        for (const Cell& cell : cells) {
            const std::string& key = cell.text;
            const std::string table = key.substr(0, key.find('.'));
            if (key.empty()) {
                complain(cell, "a column has no name; write table.key, as in the job file");
            } else if (std::find(keys_.begin(), keys_.end(), key) != keys_.end()) {
                complain(cell, "two columns are called " + quoted_text(key));
            } else if (table == "kind" || table == "batch") {
                complain(cell, quoted_text(key) + " is one for the whole batch");
            } else if (key.find_first_of("=\"'# ") != std::string::npos) {
                complain(cell, quoted_text(key) + " is no table.key of a job file");
            }
            keys_.push_back(key);
        }
    }

    void take_row(const std::vector<Cell>& cells) {
        if (cells.size() > keys_.size()) {
            complain(cells[keys_.size()], fmt::format("has {} cells, and {} columns have a name",
                                                      cells.size(), keys_.size()));
            return;
        }
        if (cells.size() <= input_ || cells[input_].text.empty()) {
            complain(cells.front(), "names no input");
            return;
        }
        ManifestEntry entry{cells[input_].text, std::nullopt, {}, place(cells[input_])};
        for (std::size_t i = 0; i < cells.size(); ++i) {
            const std::string& cell = cells[i].text;
            if (cell.empty() || i == input_) {
                continue;
            }
            if (keys_[i] == output_key) {
                entry.output = cell;
            } else {
                entry.settings.push_back(
                    {keys_[i] + "=" + value_text(keys_[i], cell), place(cells[i])});
            }
        }
        entries_.push_back(std::move(entry));
    }

    std::string name_;
    bool begun_ = false;
    std::vector<std::string> keys_; ///< none: a path a line
    std::size_t input_ = 0;         ///< which of them is the input
    std::vector<ManifestEntry> entries_;
    int errors_ = 0;
    std::string text_;
};

} // namespace

std::vector<ManifestEntry> parse_manifest(std::string_view text, const std::string& name) {
    return ManifestReader(name).read(text);
}

std::vector<ManifestEntry> read_manifest(const std::string& path) {
    constexpr std::int64_t most_bytes = 256 * MiB;
    return parse_manifest(read_user_text(path, "the list of inputs", most_bytes), path);
}

} // namespace runner::batch
