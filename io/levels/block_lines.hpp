// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/rounding.hpp"
#include "io/levels/invalid_mark.hpp"
#include "io/levels/reduce_blocks.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace runner {

/// sum / count, to nearest, ties to even.
template <class S> S rounded_quotient(S sum, S count) {
    S quotient = 0;
    S rest = 0;
    if ((count & (count - 1)) == 0) {
        quotient = sum >> std::countr_zero(static_cast<std::uint64_t>(count));
        rest = sum & (count - 1);
    } else {
        quotient = sum / count;
        rest = sum % count;
        if (rest < 0) {
            rest += count;
            --quotient;
        }
    }
    const S twice = 2 * rest;
    return quotient + (twice > count || (twice == count && (quotient & 1) != 0) ? 1 : 0);
}

/// The rows of one row of blocks: lines of elements in the order z, y.
template <class T> struct BlockLines {
    std::vector<const T*> rows;
    std::int64_t columns = 0; ///< of each
    std::int64_t factor = 1;  ///< columns of a block
    std::int64_t nearest = 0; ///< the row that the blocks' middle is in

    std::int64_t blocks() const { return ceil_divide(columns, factor); }
    std::int64_t begin(std::int64_t block) const { return block * factor; }
    std::int64_t end(std::int64_t block) const { return std::min(columns, (block + 1) * factor); }
    std::int64_t elements(std::int64_t block) const {
        return std::ssize(rows) * (end(block) - begin(block));
    }
};

/// Adds each element to its block's sum, in the order x.
template <class T, class S>
void add_row(const T* row, std::int64_t columns, std::int64_t factor, S* sums) {
    const std::int64_t whole = columns / factor;
    if (factor == 2) {
        for (std::int64_t i = 0; i < whole; ++i) {
            sums[i] = (sums[i] + static_cast<S>(value_of(row[2 * i]))) +
                      static_cast<S>(value_of(row[2 * i + 1]));
        }
    } else {
        for (std::int64_t i = 0; i < whole; ++i) {
            for (std::int64_t j = 0; j < factor; ++j) {
                sums[i] += static_cast<S>(value_of(row[i * factor + j]));
            }
        }
    }
    for (std::int64_t j = whole * factor; j < columns; ++j) {
        sums[whole] += static_cast<S>(value_of(row[j]));
    }
}

/// Sums up the last block, if it has fewer columns than the others.
template <class T, class S> void sum_last_block(const BlockLines<T>& lines, S* sums) {
    const std::int64_t whole = lines.columns / lines.factor;
    if (whole == lines.blocks()) {
        return;
    }
    sums[whole] = 0;
    for (const T* const row : lines.rows) {
        for (std::int64_t i = lines.begin(whole); i < lines.columns; ++i) {
            sums[whole] += static_cast<S>(row[i]);
        }
    }
}

/// Calls maker.make(lines, to) for each row of blocks; `to` gets a row's results behind another's.
template <class T, class Made, class Maker>
void make_row_by_row(const Blocks& blocks, const T* from, Made* to, Maker maker) {
    const auto [depth, height, width] = blocks.extents;
    const auto [deep, high, wide] = blocks.factors;
    const auto counts = blocks.counts();
    const bool is_dense = blocks.pitches[1] == 0;
    const std::int64_t row = is_dense ? width : blocks.pitches[1];
    const std::int64_t layer = is_dense ? height * width : blocks.pitches[0];
    BlockLines<T> lines;
    lines.columns = width;
    lines.factor = wide;
    for (std::int64_t z = 0; z < depth; z += deep) {
        for (std::int64_t y = 0; y < height; y += high) {
            const std::int64_t z_end = std::min(depth, z + deep);
            const std::int64_t y_end = std::min(height, y + high);
            lines.rows.clear();
            for (std::int64_t i = z; i < z_end; ++i) {
                for (std::int64_t j = y; j < y_end; ++j) {
                    lines.rows.push_back(from + i * layer + j * row);
                }
            }
            lines.nearest = std::min((deep - 1) / 2, z_end - z - 1) * (y_end - y) +
                            std::min((high - 1) / 2, y_end - y - 1);
            maker.make(lines, to);
            to += counts[2];
        }
    }
}

} // namespace runner
