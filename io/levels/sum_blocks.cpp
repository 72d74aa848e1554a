// SPDX-License-Identifier: BSD-3-Clause
#include "io/levels/block_lines.hpp"
#include "io/levels/reduce_blocks.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>
#include <vector>

namespace runner {
namespace {

/// The sums of blocks of integers, into the caller's memory: of the rows first, which takes no
/// shuffles, and then along the row that is left.
template <class T> class Sums {
  public:
    void make(const BlockLines<T>& lines, std::int64_t* out) {
        constexpr std::size_t most_rows = 32768; // so many of 16 bits are below 2^31
        if (sizeof(T) <= 2 && lines.rows.size() <= most_rows) {
            add(lines, narrow_, out);
        } else {
            add(lines, wide_, out);
        }
    }

  private:
    template <class S>
    static void add(const BlockLines<T>& lines, std::vector<S>& sums, std::int64_t* out) {
        const std::int64_t columns = lines.columns;
        sums.assign(lines.rows.front(), lines.rows.front() + columns);
        S* const sum = sums.data();
        std::for_each(lines.rows.begin() + 1, lines.rows.end(), [&](const T* row) {
            for (std::int64_t i = 0; i < columns; ++i) {
                sum[i] += static_cast<S>(row[i]);
            }
        });
        std::fill_n(out, lines.blocks(), 0);
        add_row(sum, columns, lines.factor, out);
    }

    std::vector<std::int32_t> narrow_;
    std::vector<std::int64_t> wide_;
};

/// Sums of blocks of as many elements each, as means.
template <class T>
void divide_row(const std::int64_t* sums, std::int64_t blocks, std::int64_t elements, T* to) {
    if (elements > 1 && (elements & (elements - 1)) == 0) {
        // Vectors of SSE2 shift numbers without a sign alone.
        using Sum = std::conditional_t<std::is_unsigned_v<T>, std::uint64_t, std::int64_t>;
        const int shift = std::countr_zero(static_cast<std::uint64_t>(elements));
        const auto below_half = static_cast<Sum>(elements / 2 - 1);
        for (std::int64_t i = 0; i < blocks; ++i) { // an odd quotient takes a half up
            const auto sum = static_cast<Sum>(sums[i]);
            to[i] = static_cast<T>((sum + below_half + (sum >> shift & 1)) >> shift);
        }
        return;
    }
    for (std::int64_t i = 0; i < blocks; ++i) {
        to[i] = static_cast<T>(rounded_quotient(sums[i], elements));
    }
}

/// Calls `use` with a zero of the element type of an array that has exact sums.
template <class Use> void visit_small_integer(const ArrayInfo& array, const Use& use) {
    visit_element_type(array.type, [&](auto zero) {
        using T = decltype(zero);
        if constexpr (std::is_integral_v<T> && sizeof(T) <= 4) {
            use(zero);
        }
    });
}

} // namespace

bool has_exact_sums(const ArrayInfo& array) {
    bool has = false;
    if (is_number(array.type)) {
        visit_small_integer(array, [&](auto /*zero*/) { has = true; });
    }
    return has;
}

void sum_blocks(const ArrayInfo& array, const Blocks& blocks, const std::byte* in,
                std::int64_t* sums) {
    visit_small_integer(array, [&](auto zero) {
        using T = decltype(zero);
        make_row_by_row(blocks, reinterpret_cast<const T*>(in), sums, Sums<T>());
    });
}

void sum_blocks(const Blocks& blocks, const std::int64_t* in, std::int64_t* sums) {
    make_row_by_row(blocks, in, sums, Sums<std::int64_t>());
}

void mean_blocks(const ArrayInfo& array, const Blocks& blocks, const std::int64_t* sums,
                 std::byte* out) {
    visit_small_integer(array, [&](auto zero) {
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

} // namespace runner
