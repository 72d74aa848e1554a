// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"

#include <cstdint>

namespace runner {

/// Elements of two datasets that differ in a byte.
struct ByteDifferences {
    std::int64_t different = 0;
    std::int64_t first = -1; ///< the first one's number, counted in row-major order; -1: none
};

/// Compares two datasets of one shape and element type, in bounded memory (or a row of each, where
/// rows are longer). @throws Error (input) when one cannot be read.
ByteDifferences compare_bytes(RowReader& a, RowReader& b);

} // namespace runner
