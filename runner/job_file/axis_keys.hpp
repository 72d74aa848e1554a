// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/index_range.hpp"
#include "jobs/table.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace runner {

/// What input.select takes of one axis.
struct AxisSelection {
    std::string axis; ///< its name
    /// An index, which takes the axis away; a range; or the name of a channel.
    std::variant<std::int64_t, IndexRange, std::string> taken;
};

/// The keys of [input] that are about its axes: `axes`, `spacing` and `select`.
struct AxisKeys {
    std::string letters = {}; ///< a name for each axis, in small letters; empty: as the file says
    /// From one element to the next along the last axes, or along those that have names here.
    std::vector<double> spacing = {};
    std::vector<std::pair<std::string, double>> named_spacing = {};
    std::string unit = {}; ///< of the named ones; empty: as the file says
    std::vector<AxisSelection> select = {};

    bool sets_spacing() const { return !spacing.empty() || !named_spacing.empty(); }
};

/// Reads them. What is wrong is reported to the table.
AxisKeys parse_axis_keys(TableReader& input);

/// A line each, as "axes = \"tczyx\"\n"; none for a key that is left out.
std::string toml_lines(const AxisKeys& keys);

/// `input.spacing` as it is written; "" where it is left out.
std::string spacing_text(const AxisKeys& keys);

} // namespace runner
