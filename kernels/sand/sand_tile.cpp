// SPDX-License-Identifier: BSD-3-Clause
// The rule keeps arrays of vectors, which vectors of a length unknown to the compiler cannot be in.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/sand/sand_tile.cpp"
#include <hwy/foreach_target.h>

#include "kernels/sand/sand_lanes-inl.hpp"
#include "kernels/sand/sand_tile.hpp"

#include <algorithm>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace runner {
namespace HWY_NAMESPACE {

/// A threshold as words of ones and zeros.
struct Threshold {
    std::uint32_t value;
    const std::array<std::uint32_t, 16>& words;

    HWY_INLINE Lanes word(int i) const {
        return {hn::Set(LanesTag(), words[static_cast<std::size_t>(i)])};
    }
};

/// The chances of the blocks of one vector in one row of blocks; nothing is drawn until one is
/// needed.
class Chances {
  public:
    HWY_INLINE Chances(const SandPass& pass, const std::uint32_t* x_planes, std::uint32_t row_part)
        : pass_(pass), x_planes_(x_planes), row_part_(row_part) {}

    template <unsigned salt> HWY_INLINE Lanes operator()(SandSalt<salt> /*salt*/, Lanes need) {
        if (none(need)) {
            return need;
        }
        if (!started_) {
            start();
            started_ = true;
        }
        return draw<salt>();
    }

  private:
    HWY_INLINE void start() {
        for (int i = 0; i < 16; ++i) {
            const auto row = hn::Set(LanesTag(), 0U - ((row_part_ >> i) & 1U));
            start_.bit[i] = {
                hn::Xor(hn::Load(LanesTag(), x_planes_ + i * pass_.tables.stride), row)};
        }
    }

    // Not inlined: five copies in each of the loops would not stay in the instruction cache.
    template <unsigned salt> HWY_NOINLINE Lanes draw() const {
        const SandThresholds& t = pass_.sand.thresholds;
        const std::array<std::uint32_t, 5> values = {t.sand_slide, t.sand_fall, t.water_fall,
                                                     t.water_diagonal, t.water_spread};
        constexpr std::size_t chance = salt < 5 ? salt : 4;
        return sand_chance<salt>(start_, Threshold{values[chance], pass_.threshold_words[chance]});
    }

    const SandPass& pass_;
    const std::uint32_t* x_planes_;
    std::uint32_t row_part_;
    bool started_ = false;
    SandDrawPlanes<Lanes> start_;
};

/// The planes of one row.
struct RowPlanes {
    std::uint32_t* even_high;
    std::uint32_t* even_low;
    std::uint32_t* odd_high;
    std::uint32_t* odd_low;

    RowPlanes(const SandTileRows& rows, std::int64_t y)
        : even_high(rows.row(y)), even_low(even_high + rows.stride),
          odd_high(even_low + rows.stride), odd_low(odd_high + rows.stride) {}
};

/// The even columns at the right of the odd ones: bit i of the result is column 2i + 2.
HWY_INLINE Lanes next_even(const std::uint32_t* plane) {
    const LanesTag d;
    return {
        hn::Or(hn::ShiftRight<1>(hn::Load(d, plane)), hn::ShiftLeft<31>(hn::LoadU(d, plane + 1)))};
}

/// Toggles the even columns at the right of the odd ones. The bit that goes to the next lane is
/// moved in registers: what was just stored is slow to load at another alignment.
HWY_INLINE void toggle_next_even(std::uint32_t* plane, Lanes change) {
    const LanesTag d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const auto from_before = hn::IndicesFromVec(
        d,
        hn::And(hn::Add(hn::Iota(d, 0), hn::Set(d, static_cast<std::uint32_t>(hn::Lanes(d) - 1))),
                hn::Set(d, static_cast<std::uint32_t>(hn::Lanes(d) - 1))));
    const auto over = hn::TableLookupLanes(hn::ShiftRight<31>(change.v), from_before);
    const auto inside = hn::IfThenZeroElse(hn::FirstN(d, 1), over);
    hn::Store(hn::Xor(hn::Load(d, plane), hn::Xor(hn::ShiftLeft<1>(change.v), inside)), d, plane);
    if (const std::uint32_t beyond = hn::GetLane(over); beyond != 0) {
        plane[lanes] ^= beyond;
    }
}

HWY_INLINE void toggle(std::uint32_t* plane, Lanes change) {
    const LanesTag d;
    hn::Store(hn::Xor(hn::Load(d, plane), change.v), d, plane);
}

HWY_INLINE SandBlocks<Lanes> sand_difference(const SandBlocks<Lanes>& a,
                                             const SandBlocks<Lanes>& b) {
    return {a.tl_high ^ b.tl_high, a.tl_low ^ b.tl_low, a.tr_high ^ b.tr_high, a.tr_low ^ b.tr_low,
            a.bl_high ^ b.bl_high, a.bl_low ^ b.bl_low, a.br_high ^ b.br_high, a.br_low ^ b.br_low};
}

HWY_INLINE Lanes sand_any(const SandBlocks<Lanes>& a) {
    return a.tl_high | a.tl_low | a.tr_high | a.tr_low | a.bl_high | a.bl_low | a.br_high |
           a.br_low;
}

/// One generation of the blocks of a row of blocks, with the left cells in the even columns
/// (offset 0) or in the odd ones (1).
template <int column_offset>
HWY_INLINE void step_blocks(const SandPass& pass, const SandTileRows& rows, std::int64_t y,
                            std::uint32_t row_part) {
    const RowPlanes top(rows, y);
    const RowPlanes bottom(rows, y + 1);
    const bool has_floor = y + 2 < rows.first_row + rows.rows;
    const RowPlanes below(rows, has_floor ? y + 2 : y);
    const std::uint32_t* valid_words = pass.tables.plane(column_offset, 16);
    const std::uint32_t* x_planes = pass.tables.plane(column_offset, 0);
    const LanesTag d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const auto load = [&](const std::uint32_t* from) { return Lanes{hn::Load(d, from)}; };
    const auto left_of = [&](const std::uint32_t* even, const std::uint32_t* odd, std::int64_t i) {
        return column_offset == 0 ? load(even + i) : load(odd + i);
    };
    const auto right_of = [&](const std::uint32_t* even, const std::uint32_t* odd, std::int64_t i) {
        return column_offset == 0 ? load(odd + i) : next_even(even + i);
    };
    for (std::int64_t i = 0; i < pass.tables.stride; i += lanes) {
        const SandBlocks<Lanes> before = {left_of(top.even_high, top.odd_high, i),
                                          left_of(top.even_low, top.odd_low, i),
                                          right_of(top.even_high, top.odd_high, i),
                                          right_of(top.even_low, top.odd_low, i),
                                          left_of(bottom.even_high, bottom.odd_high, i),
                                          left_of(bottom.even_low, bottom.odd_low, i),
                                          right_of(bottom.even_high, bottom.odd_high, i),
                                          right_of(bottom.even_low, bottom.odd_low, i)};
        const Lanes valid = load(valid_words + i);
        if (none(sand_unequal(before) & valid)) {
            continue;
        }
        Lanes floor = ~(valid ^ valid);
        if (has_floor) {
            floor = (left_of(below.even_high, below.odd_high, i) |
                     left_of(below.even_low, below.odd_low, i)) &
                    (right_of(below.even_high, below.odd_high, i) |
                     right_of(below.even_low, below.odd_low, i));
        }
        SandBlocks<Lanes> after = before;
        sand_step(after, floor, valid, Chances(pass, x_planes + i, row_part));
        const SandBlocks<Lanes> change = sand_difference(before, after);
        if (none(sand_any(change))) {
            continue;
        }
        const auto put = [&](std::uint32_t* even, std::uint32_t* odd, Lanes left, Lanes right) {
            toggle((column_offset == 0 ? even : odd) + i, left);
            if (column_offset == 0) {
                toggle(odd + i, right);
            } else {
                toggle_next_even(even + i, right);
            }
        };
        put(top.even_high, top.odd_high, change.tl_high, change.tr_high);
        put(top.even_low, top.odd_low, change.tl_low, change.tr_low);
        put(bottom.even_high, bottom.odd_high, change.bl_high, change.br_high);
        put(bottom.even_low, bottom.odd_low, change.bl_low, change.br_low);
    }
}

/// Between the groups of four words of the state and the planes of a tile's row.
void load_row(const std::byte* from, std::int64_t groups, const SandTileRows& rows,
              std::int64_t y) {
    const RowPlanes to(rows, y);
    const LanesTag d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    HWY_ALIGN std::uint32_t part[4 * 16] = {};
    for (std::int64_t i = 0; i < groups; i += lanes) {
        const auto* words = reinterpret_cast<const std::uint32_t*>(from) + 4 * i;
        if (i + lanes > groups) {
            std::memcpy(part, words, static_cast<std::size_t>(groups - i) * 16);
            words = part;
        }
        hn::Vec<LanesTag> a;
        hn::Vec<LanesTag> b;
        hn::Vec<LanesTag> c;
        hn::Vec<LanesTag> e;
        hn::LoadInterleaved4(d, words, a, b, c, e);
        hn::Store(a, d, to.even_high + i);
        hn::Store(b, d, to.even_low + i);
        hn::Store(c, d, to.odd_high + i);
        hn::Store(e, d, to.odd_low + i);
    }
}

void store_row(const SandTileRows& rows, std::int64_t y, std::int64_t groups, std::byte* to) {
    const RowPlanes from(rows, y);
    const LanesTag d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    HWY_ALIGN std::uint32_t part[4 * 16];
    for (std::int64_t i = 0; i < groups; i += lanes) {
        auto* words = reinterpret_cast<std::uint32_t*>(to) + 4 * i;
        const bool whole = i + lanes <= groups;
        hn::StoreInterleaved4(hn::Load(d, from.even_high + i), hn::Load(d, from.even_low + i),
                              hn::Load(d, from.odd_high + i), hn::Load(d, from.odd_low + i), d,
                              whole ? words : part);
        if (!whole) {
            std::memcpy(words, part, static_cast<std::size_t>(groups - i) * 16);
        }
    }
}

void tile_of(const SandPass& pass, std::int64_t first_row, std::int64_t row_count,
             std::uint32_t* memory) {
    const std::int64_t n = pass.generations;
    const std::int64_t held_end = pass.held.first_row + pass.held.rows;
    const std::int64_t begin = std::max(pass.held.first_row, first_row - n);
    const std::int64_t end = std::min(held_end, first_row + row_count + n);
    const SandTileRows rows{memory, SandTileRows::stride_of(pass.sand.columns), begin, end - begin};
    const std::int64_t row_bytes = sand_row_bytes(pass.sand.columns);
    for (std::int64_t y = begin; y < end; ++y) {
        load_row(pass.from + (y - pass.held.first_row) * row_bytes, row_bytes / 16, rows, y);
    }
    for (std::int64_t g = 0; g < n; ++g) {
        const std::uint64_t generation = pass.generation + static_cast<std::uint64_t>(g);
        // Each generation needs a row fewer on either side.
        const std::int64_t low = std::max(begin, first_row - (n - 1 - g) - 1);
        const std::int64_t high = std::min(end, first_row + row_count + (n - 1 - g) + 1);
        const int row_offset = sand_row_offset(generation);
        for (std::int64_t y = low + ((low + row_offset) & 1); y + 1 < high; y += 2) {
            const std::uint32_t row_part =
                sand_row_part(static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(generation),
                              pass.sand.seed);
            if (sand_column_offset(generation) == 0) {
                step_blocks<0>(pass, rows, y, row_part);
            } else {
                step_blocks<1>(pass, rows, y, row_part);
            }
        }
    }
    for (std::int64_t y = first_row; y < first_row + row_count; ++y) {
        store_row(rows, y, row_bytes / 16, pass.to + (y - pass.held.first_row) * row_bytes);
    }
}

} // namespace HWY_NAMESPACE
} // namespace runner
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace runner {

HWY_EXPORT(tile_of);

void sand_tile(const SandPass& pass, std::int64_t first_row, std::int64_t rows,
               std::uint32_t* memory) {
    HWY_DYNAMIC_DISPATCH(tile_of)(pass, first_row, rows, memory);
}

} // namespace runner
#endif
