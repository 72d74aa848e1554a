// SPDX-License-Identifier: BSD-3-Clause
// Included once for every vector set, as Highway wants it; hence no #pragma once.
#if defined(RUNNER_KERNELS_MATCH_LIST_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef RUNNER_KERNELS_MATCH_LIST_INL_HPP
#undef RUNNER_KERNELS_MATCH_LIST_INL_HPP
#else
#define RUNNER_KERNELS_MATCH_LIST_INL_HPP
#endif

#include "kernels/match/match_tile.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace runner {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Keys = hn::ScalableTag<std::int64_t>;

HWY_INLINE std::int64_t float_lanes() { return static_cast<std::int64_t>(hn::Lanes(Floats())); }

/// Distances of a vector, of which some are worth a look.
struct Found {
    alignas(64) float distance[hn::MaxLanes(Floats())];
    std::uint64_t lanes; ///< a bit each

    HWY_INLINE Found(hn::Vec<Floats> values, hn::Mask<Floats> mask) : lanes(0) {
        const Floats d;
        hn::Store(values, d, distance);
        std::uint8_t bits[8] = {};
        hn::StoreMaskBits(d, mask, bits);
        std::memcpy(&lanes, bits, sizeof bits);
    }

    template <class Take> HWY_INLINE void each(const Take& take) const {
        for (std::uint64_t left = lanes; left != 0; left &= left - 1) {
            const int lane = std::countr_zero(left);
            take(lane, distance[lane]);
        }
    }
};

/// Puts `key` into the sorted list; its last key goes, or `key` if that is more. Before the list
/// stands a key that is less than all.
HWY_INLINE void insert(std::int64_t* list, int count, std::int64_t key) {
    const Keys d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const auto value = hn::Set(d, key);
    for (std::int64_t i = (count + lanes - 1) / lanes * lanes - lanes; i >= 0; i -= lanes) {
        const auto before = hn::LoadU(d, list + i - 1);
        hn::StoreU(hn::Min(hn::LoadU(d, list + i), hn::Max(before, value)), d, list + i);
    }
}

HWY_INLINE void clear(std::int64_t* list, int count) {
    const std::int64_t keys = match_list_keys(count);
    list[-1] = -1;
    std::fill_n(list, keys - 1, no_match);
}

/// 0, −1, 1, −2, 2 …: near candidates are likely to be good ones, and good ones early save work.
HWY_INLINE std::int64_t from_centre(std::int64_t i) { return i % 2 == 0 ? i / 2 : -(i + 1) / 2; }

/// A rectangle of one layer of references at one offset.
struct Range {
    std::int64_t first;
    std::int64_t end;
};

/// The range within [first, end) for which there is a corner at `offset`.
HWY_INLINE Range inside(std::int64_t first, std::int64_t end, std::int64_t offset,
                        std::int64_t last_corner) {
    return {std::max(first, -offset), std::min(end, last_corner + 1 - offset)};
}

} // namespace HWY_NAMESPACE
} // namespace runner
HWY_AFTER_NAMESPACE();

#endif
