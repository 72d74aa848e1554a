// SPDX-License-Identifier: BSD-3-Clause
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/kernels/baselines/sand_byte_vectors.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "bench/kernels/baselines/sand_block.hpp"
#include "bench/kernels/baselines/sand_bytes.hpp"
#include "kernels/sand/sand_hash.hpp"

HWY_BEFORE_NAMESPACE();
namespace runner {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Bytes = hn::CappedTag<std::uint8_t, 64>;
using Halves = hn::Repartition<std::uint16_t, Bytes>;
using Words = hn::Repartition<std::uint32_t, Bytes>;
using Cells = hn::Vec<Bytes>;

/// Where the draws of one row of blocks are made, for as many blocks as a vector has bytes.
struct RowDraws {
    hn::Vec<Words> x; ///< of the first blocks
    std::uint32_t row;
    const sand_baseline::Thresholds& thresholds;

    /// All ones where the draw of the salt is below its threshold.
    template <unsigned salt> HWY_INLINE Cells happens() const {
        const Bytes d;
        const Words words;
        const std::size_t quarter = hn::Lanes(words);
        const auto bits = hn::Set(words, row ^ (salt * 387413U));
        const auto limit = hn::Set(hn::RebindToSigned<Words>(),
                                   static_cast<std::int32_t>(thresholds.by_salt[salt]));
        HWY_ALIGN std::uint8_t result[64];
        for (std::size_t part = 0; part < 4; ++part) {
            const auto column =
                hn::Add(x, hn::Set(words, static_cast<std::uint32_t>(2 * quarter * part)));
            auto n = hn::Xor(hn::Mul(column, hn::Set(words, 374761393U)), bits);
            n = hn::Mul(hn::Xor(n, hn::ShiftRight<13>(n)), hn::Set(words, 1274126177U));
            const auto k =
                hn::BitCast(hn::RebindToSigned<Words>(), hn::And(n, hn::Set(words, 0xFFFFU)));
            const auto mask = hn::VecFromMask(hn::RebindToSigned<Words>(), hn::Lt(k, limit));
            const hn::Rebind<std::uint8_t, Words> few;
            hn::Store(hn::TruncateTo(few, hn::BitCast(words, mask)), few, result + quarter * part);
        }
        return hn::Load(d, result);
    }
};

HWY_INLINE void exchange_if(Cells where, Cells& a, Cells& b) {
    const Cells change = hn::And(hn::Xor(a, b), where);
    a = hn::Xor(a, change);
    b = hn::Xor(b, change);
}

HWY_INLINE Cells is(Cells a, std::uint8_t material) {
    const Bytes d;
    return hn::VecFromMask(d, hn::Eq(a, hn::Set(d, material)));
}
HWY_INLINE Cells lighter(Cells a, std::uint8_t material) {
    const Bytes d;
    return hn::VecFromMask(d, hn::Lt(a, hn::Set(d, material)));
}
HWY_INLINE Cells both(Cells a, Cells b) { return hn::And(a, b); }
HWY_INLINE Cells either(Cells a, Cells b) { return hn::Or(a, b); }
/// a where not b.
HWY_INLINE Cells without(Cells a, Cells b) { return hn::AndNot(b, a); }

HWY_INLINE void step_vectors(Cells& tl, Cells& tr, Cells& bl, Cells& br, Cells full_floor,
                             const RowDraws& draws) {
    const Cells grain = either(both(is(tl, 2), lighter(tr, 2)), both(is(tr, 2), lighter(tl, 2)));
    const Cells slides =
        both(both(grain, both(lighter(bl, 2), lighter(br, 2))), draws.happens<0>());
    exchange_if(slides, tl, tr);
    const Cells fall = draws.happens<1>();
    const Cells left_grain = without(is(tl, 2), slides);
    const Cells left_free = lighter(bl, 2);
    const Cells left_rolls =
        both(without(left_grain, left_free), both(lighter(tr, 2), lighter(br, 2)));
    exchange_if(both(both(left_grain, left_free), fall), tl, bl);
    exchange_if(left_rolls, tl, br);
    const Cells right_grain = without(is(tr, 2), slides);
    const Cells right_free = lighter(br, 2);
    const Cells right_rolls =
        both(without(right_grain, right_free), both(lighter(tl, 2), lighter(bl, 2)));
    exchange_if(both(both(right_grain, right_free), fall), tr, br);
    exchange_if(right_rolls, tr, bl);

    const Cells drop = draws.happens<2>();
    const Cells diagonal = draws.happens<3>();
    const Cells left_drops = both(both(is(tl, 1), lighter(bl, 1)), drop);
    const Cells left_crosses =
        both(without(is(tl, 1), left_drops), both(both(lighter(tr, 1), lighter(br, 1)), diagonal));
    exchange_if(left_drops, tl, bl);
    exchange_if(left_crosses, tl, br);
    const Cells right_drops = both(both(is(tr, 1), lighter(br, 1)), drop);
    const Cells right_crosses =
        both(without(is(tr, 1), right_drops), both(both(lighter(tl, 1), lighter(bl, 1)), diagonal));
    exchange_if(right_drops, tr, br);
    exchange_if(right_crosses, tr, bl);

    const Cells dropped =
        either(either(left_drops, left_crosses), either(right_drops, right_crosses));
    const Cells upper = either(both(is(tl, 1), lighter(tr, 1)), both(is(tr, 1), lighter(tl, 1)));
    const Cells open = either(lighter(bl, 1), lighter(br, 1));
    exchange_if(without(without(upper, dropped), without(open, draws.happens<4>())), tl, tr);
    const Cells lower = either(both(is(bl, 1), lighter(br, 1)), both(is(br, 1), lighter(bl, 1)));
    exchange_if(both(lower, either(full_floor, draws.happens<5>())), bl, br);
}

void advance(const Sand& sand, std::uint64_t generation, std::int64_t generations,
             std::uint8_t* cells) {
    const Bytes d;
    const Words words;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const sand_baseline::Thresholds thresholds = sand_baseline::thresholds_of(sand);
    for (std::int64_t g = 0; g < generations; ++g, ++generation) {
        for (std::int64_t y = sand_row_offset(generation); y + 1 < sand.rows; y += 2) {
            std::uint8_t* upper = cells + y * sand.columns;
            std::uint8_t* lower = upper + sand.columns;
            const std::uint8_t* floor = y + 2 < sand.rows ? lower + sand.columns : nullptr;
            const auto now = static_cast<std::uint32_t>(generation);
            const std::uint32_t row = (static_cast<std::uint32_t>(y) * 668265263U) ^
                                      (now * 1274126177U) ^ (sand.seed * 2654435769U);
            std::int64_t x = sand_column_offset(generation);
            for (; x + 2 * lanes <= sand.columns; x += 2 * lanes) {
                Cells tl;
                Cells tr;
                Cells bl;
                Cells br;
                hn::LoadInterleaved2(d, upper + x, tl, tr);
                hn::LoadInterleaved2(d, lower + x, bl, br);
                Cells full_floor = hn::Set(d, 0xFF);
                if (floor != nullptr) {
                    Cells left;
                    Cells right;
                    hn::LoadInterleaved2(d, floor + x, left, right);
                    full_floor = hn::Not(either(lighter(left, 1), lighter(right, 1)));
                }
                const auto steps = hn::Iota(words, 0);
                const auto first =
                    hn::Add(hn::Add(steps, steps), hn::Set(words, static_cast<std::uint32_t>(x)));
                step_vectors(tl, tr, bl, br, full_floor, RowDraws{first, row, thresholds});
                hn::StoreInterleaved2(tl, tr, d, upper + x);
                hn::StoreInterleaved2(bl, br, d, lower + x);
            }
            for (; x + 1 < sand.columns; x += 2) {
                sand_baseline::Block block{upper[x], upper[x + 1], lower[x], lower[x + 1],
                                           floor == nullptr ||
                                               (floor[x] >= 1 && floor[x + 1] >= 1)};
                sand_baseline::step_without_branches(
                    block,
                    {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), now, sand.seed},
                    thresholds);
                upper[x] = static_cast<std::uint8_t>(block.tl);
                upper[x + 1] = static_cast<std::uint8_t>(block.tr);
                lower[x] = static_cast<std::uint8_t>(block.bl);
                lower[x + 1] = static_cast<std::uint8_t>(block.br);
            }
        }
    }
}

} // namespace HWY_NAMESPACE
} // namespace runner
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace runner {

HWY_EXPORT(advance);

void advance_sand_byte_vectors(const Sand& sand, std::uint64_t generation, std::int64_t generations,
                               std::uint8_t* cells) {
    HWY_DYNAMIC_DISPATCH(advance)(sand, generation, generations, cells);
}

} // namespace runner
#endif
