// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_info.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace runner {

/// An element as a number: std::uint64_t of uint64, std::int64_t of other integers, double of
/// floats.
using ElementNumber = std::variant<std::int64_t, std::uint64_t, double>;

/// The least and the greatest of elements that are values: finite, and not invalid. Zero has no
/// sign.
struct ValueRange {
    ElementNumber least;
    ElementNumber greatest;

    bool operator==(const ValueRange&) const = default;
};

/// The range of each channel of an array; nothing of one in which no element is a value.
using Extremes = std::vector<std::optional<ValueRange>>;

/// Widens `all` to what `more`, of the same type, has too.
void join(std::optional<ValueRange>& all, const std::optional<ValueRange>& more);

/// The same of each channel. One of them may have no channels yet.
void join(Extremes& all, const Extremes& more);

/// On one line, as JSON: [[0, 255], null].
std::string to_text(const Extremes& extremes);

/// The same back, of elements of this type. Nothing for a text that is none.
std::optional<Extremes> extremes_of_text(std::string_view text, const ArrayInfo& array);

} // namespace runner
