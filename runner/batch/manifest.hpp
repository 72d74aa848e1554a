// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace runner::batch {

/// A line of a manifest: an input and what is its own in the job.
struct ManifestEntry {
    /// A `table.key=value` and the place that messages name: "list.tsv:3:14".
    struct Setting {
        std::string text;
        std::string place;
    };

    std::string input;
    std::optional<std::string> output; ///< in place of the name that batch.output gives
    std::vector<Setting> settings;
    std::string place; ///< "list.tsv:3:1"
};

/// Reads a manifest: a path a line; or, where the first line has the cell `input.file` or another
/// table.key behind its first cell, a table with tabs between the cells, whose first line names a
/// key of the job file for each column; without `input.file` the first column is the input.
/// A cell is a value of TOML, or else a text without quotes; an empty one leaves the job file's
/// value. Empty lines and those that begin with `#` are passed over.
/// `name`: what messages call the file. @throws Error (usage) with every error, a line each.
std::vector<ManifestEntry> parse_manifest(std::string_view text, const std::string& name);

/// The same for a file. @throws Error (usage) for one that cannot be read.
std::vector<ManifestEntry> read_manifest(const std::string& path);

} // namespace runner::batch
