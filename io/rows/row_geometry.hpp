// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_info.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

namespace runner {

/// How many of the leading axes count rows: all but the last, or the only one.
inline std::size_t row_axes(std::span<const std::int64_t> shape) {
    return shape.size() > 1 ? shape.size() - 1 : 1;
}

/// Whether a shape may be that of colour: a last axis of 3 or 4 behind two others.
inline bool may_be_colour(std::span<const std::int64_t> shape) {
    return shape.size() >= 3 && (shape.back() == 3 || shape.back() == 4);
}

/// Elements of one row: a run along the last axis; one where there is a single axis.
inline std::int64_t row_elements(const ArrayInfo& array) {
    return array.shape.size() > 1 ? array.shape.back() : 1;
}

inline std::int64_t row_bytes(const ArrayInfo& array) {
    return row_elements(array) * size_of(array.type);
}

/// All rows of an array.
inline std::int64_t row_count(const ArrayInfo& array) {
    return checked_product(std::span(array.shape).first(row_axes(array.shape)));
}

/// How many rows from `first`, a border of row_alignment(), on may be written at once: at most
/// `most` ≥ 1, and where that is no less than the alignment up to a border or the array's end.
std::int64_t rows_to_border(const ArrayInfo& array, std::int64_t alignment, std::int64_t first,
                            std::int64_t most);

/// @throws Error (defect) when rows [first, first + rows) are not all in the array.
void check_rows(const ArrayInfo& array, std::int64_t first, std::int64_t rows);

/// A box of an array, whole along its later axes.
struct RowBox {
    std::vector<std::int64_t> start;
    std::vector<std::int64_t> count;
    std::int64_t rows = 0;

    bool operator==(const RowBox&) const = default;
};

/// The largest box that begins at row `first` and holds no row from `end` on. Cutting a run of rows
/// into such boxes takes at most two for each leading axis.
RowBox box_at(std::span<const std::int64_t> shape, std::int64_t first, std::int64_t end);

/// The chunks of these extents, each by its first element, that hold any of rows [first, end).
std::set<std::vector<std::int64_t>> chunks_of_rows(std::span<const std::int64_t> shape,
                                                   std::span<const std::int64_t> extents,
                                                   std::int64_t first, std::int64_t end);

} // namespace runner
