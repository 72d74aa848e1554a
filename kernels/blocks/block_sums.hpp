// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

namespace runner {

/// What sum_rows() adds elements up in.
template <class T>
using RowSum = std::conditional_t<std::is_floating_point_v<T>, double, std::int32_t>;

/// Whether sum_rows() has blocks of so many columns.
template <class T> constexpr bool sums_columns(std::int64_t factor) {
    return factor == 2 || (std::is_floating_point_v<T> && factor == 4);
}

/// Sums of blocks of elements, `factor` columns side by side of all rows: sums[b] = 0 + rows[0][b ·
/// factor] + rows[0][b · factor + 1] + … + rows[1][b · factor] + …, added in this order, for b from
/// 0 to blocks − 1. Of integers of 8 and 16 bits, float and double, and of std::int32_t, sums of
/// smaller blocks; no sum is beyond its type. Runs on the widest vectors of this machine, in the
/// calling thread.
template <class T>
void sum_rows(std::span<const T* const> rows, std::int64_t blocks, std::int64_t factor,
              RowSum<T>* sums);

/// Means of blocks of 2^shift integers of 8 or 16 bits, by their sums: to nearest, ties to even.
template <class T>
void divide_sums(const std::int32_t* sums, std::int64_t blocks, int shift, T* means);

} // namespace runner
