// SPDX-License-Identifier: BSD-3-Clause
// The rule and the draws of the sand automaton on bit planes. Included once for every vector set,
// as Highway wants it, and once by the CUDA form; hence no #pragma once.
#if defined(RUNNER_KERNELS_SAND_RULE_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef RUNNER_KERNELS_SAND_RULE_INL_HPP
#undef RUNNER_KERNELS_SAND_RULE_INL_HPP
#else
#define RUNNER_KERNELS_SAND_RULE_INL_HPP
#endif

#include "kernels/sand/sand.hpp"
#include "kernels/sand/sand_hash.hpp"

#include <cstdint>
#include <type_traits>

#undef RUNNER_SAND_INLINE
#undef RUNNER_SAND_LANES
#undef RUNNER_SAND_UNROLL
#ifdef __CUDACC__
#define RUNNER_SAND_INLINE __device__ __forceinline__
#define RUNNER_SAND_LANES sand_cuda
#define RUNNER_SAND_UNROLL _Pragma("unroll")
#else
#include <hwy/highway.h>
#define RUNNER_SAND_INLINE HWY_INLINE
#define RUNNER_SAND_LANES HWY_NAMESPACE
#define RUNNER_SAND_UNROLL _Pragma("GCC unroll 16")
HWY_BEFORE_NAMESPACE();
#endif
namespace runner {
namespace RUNNER_SAND_LANES {

/// Blocks side by side, one a bit, in planes: the high and the low bit of each of their cells. Word
/// has &, |, ^, ~ and the functions xor3 and majority.
template <class Word> struct SandBlocks {
    Word tl_high, tl_low, tr_high, tr_low, bl_high, bl_low, br_high, br_low;
};

/// Where a block's cells are not all equal.
template <class Word> RUNNER_SAND_INLINE Word sand_unequal(const SandBlocks<Word>& b) {
    return ((b.tl_high ^ b.tr_high) | (b.tl_low ^ b.tr_low)) |
           ((b.tl_high ^ b.bl_high) | (b.tl_low ^ b.bl_low)) |
           ((b.tl_high ^ b.br_high) | (b.tl_low ^ b.br_low));
}

/// The sixteen planes of a draw's t (kernels/sand/sand_hash.hpp).
template <class Word> struct SandDrawPlanes { Word bit[16]; };

template <unsigned salt> using SandSalt = std::integral_constant<unsigned, salt>;

/// Where low16(t · 0x9F61) < threshold; `threshold.word(i)` is all ones where its bit i is one.
template <class Word, class Threshold>
RUNNER_SAND_INLINE Word sand_draw_below(const SandDrawPlanes<Word>& t, const Threshold& threshold) {
    // five = 5 · t, its low 11 bits, by adding t and 4 · t.
    Word five[11];
    five[0] = t.bit[0];
    five[1] = t.bit[1];
    five[2] = t.bit[2] ^ t.bit[0];
    Word carry = t.bit[2] & t.bit[0];
    RUNNER_SAND_UNROLL
    for (int i = 3; i < 11; ++i) {
        five[i] = xor3(t.bit[i], t.bit[i - 2], carry);
        carry = majority(t.bit[i], t.bit[i - 2], carry);
    }
    // The comparison goes up with the bits of k: t − five · 2⁵ + five · 2¹³.
    Word below = ~t.bit[0] & threshold.word(0);
    RUNNER_SAND_UNROLL
    for (int i = 1; i < 5; ++i) {
        below = majority(~t.bit[i], threshold.word(i), below);
    }
    Word borrow = ~t.bit[5] & five[0];
    below = majority(~(t.bit[5] ^ five[0]), threshold.word(5), below);
    RUNNER_SAND_UNROLL
    for (int i = 6; i < 13; ++i) {
        const Word k = xor3(t.bit[i], five[i - 5], borrow);
        borrow = majority(~t.bit[i], five[i - 5], borrow);
        below = majority(~k, threshold.word(i), below);
    }
    Word again = five[0];
    RUNNER_SAND_UNROLL
    for (int i = 13; i < 16; ++i) {
        const Word difference = xor3(t.bit[i], five[i - 5], borrow);
        Word k;
        if (i == 13) {
            k = difference ^ five[0];
            again = difference & five[0];
        } else {
            k = xor3(difference, five[i - 13], again);
            again = majority(difference, five[i - 13], again);
        }
        borrow = majority(~t.bit[i], five[i - 5], borrow);
        below = majority(~k, threshold.word(i), below);
    }
    return below;
}

/// The t of the only k that is not below 65535: k = t · 0x9F61 = 0xFFFF.
inline constexpr std::uint32_t sand_draw_of_65535 = 0xBB5F;

/// Where t is not sand_draw_of_65535, so k < 65535.
template <class Word> RUNNER_SAND_INLINE Word sand_draw_below_65535(const SandDrawPlanes<Word>& t) {
    // Bits 5, 7, 10 and 14 of it are zeros.
    Word hit = t.bit[0] & ~t.bit[5];
    hit = hit & t.bit[1] & ~t.bit[7];
    hit = hit & t.bit[2] & ~t.bit[10];
    hit = hit & t.bit[3] & ~t.bit[14];
    hit = hit & t.bit[4] & t.bit[6];
    hit = hit & t.bit[8] & t.bit[9];
    hit = hit & t.bit[11] & t.bit[12];
    hit = hit & t.bit[13] & t.bit[15];
    return ~hit;
}

/// Where the draw of `salt` is below the threshold, `threshold.value`. `start` is t without the
/// salt's part.
template <unsigned salt, class Word, class Threshold>
RUNNER_SAND_INLINE Word sand_chance(const SandDrawPlanes<Word>& start, const Threshold& threshold) {
    if (threshold.value > 65535) {
        return start.bit[0] | ~start.bit[0];
    }
    constexpr std::uint32_t part = sand_salt_part(salt);
    SandDrawPlanes<Word> t;
    RUNNER_SAND_UNROLL
    for (int i = 0; i < 16; ++i) {
        t.bit[i] = ((part >> i) & 1U) != 0 ? ~start.bit[i] : start.bit[i];
    }
    return threshold.value == 65535 ? sand_draw_below_65535(t) : sand_draw_below(t, threshold);
}

template <class Word> RUNNER_SAND_INLINE void exchange(Word& a, Word& b, const Word& where) {
    const Word change = (a ^ b) & where;
    a = a ^ change;
    b = b ^ change;
}

/// Sand of the blocks where `valid`: a grain above two light cells slides, falls or rolls off.
template <class Word, class Chance>
RUNNER_SAND_INLINE void move_sand(SandBlocks<Word>& b, const Word& valid, Chance&& chance) {
    // Codes: empty 00, water 01, sand 10, wall 11. Lighter than sand: high is 0.
    const Word lower_light = ~(b.bl_high | b.br_high) & valid;
    const Word left_sand = b.tl_high & ~b.tl_low;
    const Word right_sand = b.tr_high & ~b.tr_low;
    const Word may_slide = ((left_sand & ~b.tr_high) | (right_sand & ~b.tl_high)) & lower_light;
    const Word slides = may_slide & chance(SandSalt<0>{}, may_slide);

    // Where no grain slides; one whose column is free falls by chance, else rolls off if it can.
    const Word stays = valid & ~slides;
    const Word left_grain = left_sand & stays;
    const Word right_grain = right_sand & stays;
    exchange(b.tl_high, b.tr_high, slides);
    exchange(b.tl_low, b.tr_low, slides);
    const Word may_fall = (left_grain & ~b.bl_high) | (right_grain & ~b.br_high);
    const Word falls = chance(SandSalt<1>{}, may_fall);
    const Word left_falls = left_grain & ~b.bl_high & falls;
    const Word left_rolls = left_grain & b.bl_high & ~(b.tr_high | b.br_high);
    exchange(b.tl_high, b.bl_high, left_falls);
    exchange(b.tl_low, b.bl_low, left_falls);
    exchange(b.tl_high, b.br_high, left_rolls);
    exchange(b.tl_low, b.br_low, left_rolls);
    const Word right_falls = right_grain & ~b.br_high & falls;
    const Word right_rolls = right_grain & b.br_high & ~(b.tl_high | b.bl_high);
    exchange(b.tr_high, b.br_high, right_falls);
    exchange(b.tr_low, b.br_low, right_falls);
    exchange(b.tr_high, b.bl_high, right_rolls);
    exchange(b.tr_low, b.bl_low, right_rolls);
}

/// Where the water of a block's upper cells may spread sideways.
template <class Word> struct UpperWater {
    Word free; ///< one of the two cells is water, the other empty
    Word went; ///< it has left for a lower cell
};

/// Water of the upper cells drops, or crosses to the other lower cell.
template <class Word, class Chance>
RUNNER_SAND_INLINE UpperWater<Word> drop_water(SandBlocks<Word>& b, const Word& valid,
                                               Chance&& chance) {
    // Water changes places with empty cells only: the low bits of both change.
    const Word left_water = ~b.tl_high & b.tl_low & valid;
    const Word right_water = ~b.tr_high & b.tr_low & valid;
    const Word left_empty = ~(b.tl_high | b.tl_low);
    const Word right_empty = ~(b.tr_high | b.tr_low);
    const Word left_open = left_water & ~(b.bl_high | b.bl_low);
    const Word right_open = right_water & ~(b.br_high | b.br_low);
    const Word drops = chance(SandSalt<2>{}, left_open | right_open);
    const Word left_drops = left_open & drops;
    const Word right_drops = right_open & drops;
    // Where both would move, neither goes diagonally: that needs the other upper cell empty, which
    // it is from the start or never, as what drops leaves its own lower cell full.
    const Word left_aside = left_water & right_empty & ~(b.br_high | b.br_low) & ~left_drops;
    const Word right_aside = right_water & left_empty & ~(b.bl_high | b.bl_low) & ~right_drops;
    const Word aside = chance(SandSalt<3>{}, left_aside | right_aside);
    const Word left_crosses = left_aside & aside;
    const Word right_crosses = right_aside & aside;
    b.tl_low = b.tl_low ^ (left_drops | left_crosses);
    b.tr_low = b.tr_low ^ (right_drops | right_crosses);
    b.bl_low = b.bl_low ^ (left_drops | right_crosses);
    b.br_low = b.br_low ^ (right_drops | left_crosses);
    return {(left_water & right_empty) | (right_water & left_empty),
            left_drops | right_drops | left_crosses | right_crosses};
}

/// Water spreads to the empty cell beside it where what is below holds it.
template <class Word, class Chance>
RUNNER_SAND_INLINE void spread_water(SandBlocks<Word>& b, const UpperWater<Word>& water,
                                     const Word& floor, const Word& valid, Chance&& chance) {
    const Word upper = water.free & ~water.went;
    const Word lower_left = b.bl_high | b.bl_low;
    const Word lower_right = b.br_high | b.br_low;
    const Word held = lower_left & lower_right;
    const Word upper_spreads = upper & (held | chance(SandSalt<4>{}, upper & ~held));
    b.tl_low = b.tl_low ^ upper_spreads;
    b.tr_low = b.tr_low ^ upper_spreads;

    const Word lower =
        ((~b.bl_high & b.bl_low & ~lower_right) | (~b.br_high & b.br_low & ~lower_left)) & valid;
    const Word lower_spreads = lower & (floor | chance(SandSalt<5>{}, lower & ~floor));
    b.bl_low = b.bl_low ^ lower_spreads;
    b.br_low = b.br_low ^ lower_spreads;
}

/// One generation of the blocks where `valid`. `floor` is where both floor cells are water or
/// heavier. `chance(salt, need)` gives where the chance of that salt (an integral constant) holds;
/// only where `need` matters.
template <class Word, class Chance>
RUNNER_SAND_INLINE void sand_step(SandBlocks<Word>& b, const Word& floor, const Word& valid,
                                  Chance&& chance) {
    move_sand(b, valid, chance);
    const UpperWater<Word> water = drop_water(b, valid, chance);
    spread_water(b, water, floor, valid, chance);
}

} // namespace RUNNER_SAND_LANES
} // namespace runner
#ifndef __CUDACC__
HWY_AFTER_NAMESPACE();
#endif

#endif
