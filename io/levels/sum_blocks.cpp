// SPDX-License-Identifier: BSD-3-Clause
#include "io/levels/block_lines.hpp"
#include "io/levels/reduce_blocks.hpp"
#include "kernels/blocks/block_sums.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>
#include <vector>

namespace runner {
namespace {

/// The sums of blocks of integers, or of sums of smaller blocks.
template <class T, class S> class Sums {
  public:
    void make(const BlockLines<T>& lines, S* out) {
        if constexpr (std::is_same_v<S, std::int32_t>) {
            if (sums_columns<T>(lines.factor)) {
                sum_rows<T>(lines.rows, lines.columns / lines.factor, lines.factor, out);
                sum_last_block(lines, out);
                return;
            }
        }
        // Rows are added first, which takes no shuffles, and then the columns of the sum.
        sums_.assign(lines.rows.front(), lines.rows.front() + lines.columns);
        S* const sum = sums_.data();
        std::for_each(lines.rows.begin() + 1, lines.rows.end(), [&](const T* row) {
            for (std::int64_t i = 0; i < lines.columns; ++i) {
                sum[i] += static_cast<S>(row[i]);
            }
        });
        std::fill_n(out, lines.blocks(), 0);
        add_row(sum, lines.columns, lines.factor, out);
    }

  private:
    std::vector<S> sums_;
};

/// Sums of blocks of as many elements each, as means.
template <class T, class S>
void divide_row(const S* sums, std::int64_t blocks, std::int64_t elements, T* to) {
    const int shift = std::countr_zero(static_cast<std::uint64_t>(elements));
    if (!std::has_single_bit(static_cast<std::uint64_t>(elements))) {
        for (std::int64_t i = 0; i < blocks; ++i) {
            to[i] = static_cast<T>(rounded_quotient<S>(sums[i], static_cast<S>(elements)));
        }
    } else if constexpr (std::is_same_v<S, std::int32_t>) {
        divide_sums(sums, blocks, shift, to);
    } else if (shift == 0) {
        std::transform(sums, sums + blocks, to, [](S sum) { return static_cast<T>(sum); });
    } else {
        // Vectors of SSE2 shift numbers without a sign alone.
        using Sum = std::conditional_t<std::is_unsigned_v<T>, std::uint64_t, std::int64_t>;
        const auto below_half = static_cast<Sum>(elements / 2 - 1);
        for (std::int64_t i = 0; i < blocks; ++i) { // an odd quotient takes a half up
            const auto sum = static_cast<Sum>(sums[i]);
            to[i] = static_cast<T>((sum + below_half + (sum >> shift & 1)) >> shift);
        }
    }
}

/// Calls `use` with a zero of the element type of an array whose sums are exact in S.
template <class S, class Use> void visit_exact(const ArrayInfo& array, const Use& use) {
    visit_element_type(array.type, [&](auto zero) {
        using T = decltype(zero);
        if constexpr (std::is_integral_v<T> && 2 * sizeof(T) <= sizeof(S)) {
            use(zero);
        }
    });
}

} // namespace

bool has_exact_sums(const ArrayInfo& array, std::int64_t elements, std::int64_t bytes) {
    // So many elements of n bits are below 2^(2n - 1), with or without a sign.
    const std::int64_t most = std::int64_t{1} << (4 * bytes - 1);
    bool has = false;
    if (is_number(array.type) && elements <= most) {
        visit_element_type(array.type, [&](auto zero) {
            has = std::is_integral_v<decltype(zero)> && 2 * std::int64_t{sizeof(zero)} <= bytes;
        });
    }
    return has;
}

template <class S>
void sum_blocks(const ArrayInfo& array, const Blocks& blocks, const std::byte* in, S* sums) {
    visit_exact<S>(array, [&](auto zero) {
        using T = decltype(zero);
        make_row_by_row(blocks, reinterpret_cast<const T*>(in), sums, Sums<T, S>());
    });
}

template <class S> void sum_blocks(const Blocks& blocks, const S* in, S* sums) {
    make_row_by_row(blocks, in, sums, Sums<S, S>());
}

template <class S>
void mean_blocks(const ArrayInfo& array, const Blocks& blocks, const S* sums, std::byte* out) {
    visit_exact<S>(array, [&](auto zero) {
        using T = decltype(zero);
        const auto counts = blocks.counts();
        const auto length = [&](std::size_t axis, std::int64_t block) {
            const std::int64_t factor = blocks.factors[axis];
            return std::min(factor, blocks.extents[axis] - block * factor);
        };
        auto* to = reinterpret_cast<T*>(out);
        const std::int64_t whole = blocks.extents[2] / blocks.factors[2]; // blocks of a row
        for (std::int64_t z = 0; z < counts[0]; ++z) {
            for (std::int64_t y = 0; y < counts[1]; ++y) {
                const std::int64_t in_plane = length(0, z) * length(1, y);
                divide_row(sums, whole, in_plane * blocks.factors[2], to);
                if (whole < counts[2]) {
                    divide_row(sums + whole, 1, in_plane * length(2, whole), to + whole);
                }
                sums += counts[2];
                to += counts[2];
            }
        }
    });
}

template void sum_blocks(const ArrayInfo&, const Blocks&, const std::byte*, std::int32_t*);
template void sum_blocks(const ArrayInfo&, const Blocks&, const std::byte*, std::int64_t*);
template void sum_blocks(const Blocks&, const std::int32_t*, std::int32_t*);
template void sum_blocks(const Blocks&, const std::int64_t*, std::int64_t*);
template void mean_blocks(const ArrayInfo&, const Blocks&, const std::int32_t*, std::byte*);
template void mean_blocks(const ArrayInfo&, const Blocks&, const std::int64_t*, std::byte*);

} // namespace runner
