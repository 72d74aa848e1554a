// SPDX-License-Identifier: BSD-3-Clause
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/match/match_sparse.cpp"
#include <hwy/foreach_target.h>

#include "kernels/match/match_list-inl.hpp"
#include "kernels/match/match_tile.hpp"
#include "kernels/queue/fused-inl.hpp"

#include <algorithm>
#include <bit>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace runner {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// One reference after the other.
class SparseRun {
  public:
    SparseRun(const MatchCall& call, const float* volume)
        : call_(call), volume_(volume), voxels_(call.in_layers * call.volume[1] * call.volume[2]) {}

    void match(std::int64_t row, const MatchLists& lists) {
        std::int64_t at[3];
        at[0] = call_.reference(0, row / call_.grid[2] / call_.grid[1]);
        at[1] = call_.reference(1, row / call_.grid[2] % call_.grid[1]);
        at[2] = call_.reference(2, row % call_.grid[2]);
        start(at);
        Range range[3];
        for (int i = 0; i < 3; ++i) {
            range[i] = {std::max<std::int64_t>(0, at[i] - call_.half[i]),
                        std::min(call_.corner[i], at[i] + call_.half[i]) + 1};
        }
        for (std::int64_t i = 0; i < call_.window(0); ++i) {
            const std::int64_t z = at[0] + from_centre(i);
            for (std::int64_t j = 0; j < call_.window(1); ++j) {
                const std::int64_t y = at[1] + from_centre(j);
                if (z >= range[0].first && z < range[0].end && y >= range[1].first &&
                    y < range[1].end) {
                    match_line(at, z, y, range[2]);
                }
            }
        }
        put_match_row(call_, list_ + 1, row, at[0], at[1], at[2], lists);
    }

  private:
    /// The patch in the order of the sums.
    void start(const std::int64_t (&at)[3]) {
        clear(list_ + 1, call_.count);
        worst_ = call_.most;
        std::size_t i = 0;
        for (std::int64_t x = 0; x < call_.patch[2]; ++x) {
            for (std::int64_t y = 0; y < call_.patch[1]; ++y) {
                for (std::int64_t z = 0; z < call_.patch[0]; ++z) {
                    patch_[i++] =
                        volume_[call_.index(at[0] + z - call_.in_first, at[1] + y, at[2] + x)];
                }
            }
        }
    }

    HWY_INLINE hn::Vec<Floats> load(std::int64_t at) const {
        const Floats d;
        if (HWY_UNLIKELY(at + float_lanes() > voxels_)) {
            const std::int64_t left = std::max<std::int64_t>(0, voxels_ - at);
            alignas(64) float part[hn::MaxLanes(Floats())] = {};
            std::copy_n(volume_ + (left > 0 ? at : 0), left, part);
            return hn::Load(d, part);
        }
        return hn::LoadU(d, volume_ + at);
    }

    /// Sums of as many candidates as a vector has lanes, from the place of the first in the buffer.
    HWY_INLINE hn::Vec<Floats> distances(std::int64_t from) const {
        const Floats d;
        const std::int64_t row = call_.volume[2];
        const std::int64_t layer = call_.volume[1] * row;
        const float* patch = patch_;
        auto sum = hn::Zero(d);
        for (std::int64_t x = 0; x < call_.patch[2]; ++x) {
            auto line = hn::Zero(d);
            for (std::int64_t y = 0; y < call_.patch[1]; ++y) {
                std::int64_t at = from + x + y * row;
                auto e = hn::Sub(hn::Set(d, *patch++), load(at));
                auto square = hn::Mul(e, e);
                for (std::int64_t z = 1; z < call_.patch[0]; ++z) {
                    at += layer;
                    e = hn::Sub(hn::Set(d, *patch++), load(at));
                    square = fused(d, e, e, square);
                }
                line = y == 0 ? square : hn::Add(line, square);
            }
            sum = x == 0 ? line : hn::Add(sum, line);
        }
        return sum;
    }

    void match_line(const std::int64_t (&at)[3], std::int64_t z, std::int64_t y,
                    const Range& line) {
        const Floats d;
        const std::int64_t number =
            ((z - at[0] + call_.half[0]) * call_.window(1) + y - at[1] + call_.half[1]) *
                call_.window(2) -
            at[2] + call_.half[2];
        for (std::int64_t x = line.first; x < line.end; x += float_lanes()) {
            const auto sum = distances(call_.index(z - call_.in_first, y, x));
            auto near = hn::Le(sum, hn::Set(d, worst_));
            near = hn::And(near, hn::FirstN(d, static_cast<std::size_t>(line.end - x)));
            if (hn::AllFalse(d, near)) {
                continue;
            }
            Found(sum, near).each([&](int lane, float distance) {
                const std::int64_t key =
                    match_key(distance, static_cast<std::uint32_t>(number + x + lane));
                std::int64_t& last = list_[call_.count];
                if (key < last) {
                    insert(list_ + 1, call_.count, key);
                }
            });
            if (const std::int64_t last = list_[call_.count]; last != no_match) {
                worst_ = std::bit_cast<float>(static_cast<std::uint32_t>(last >> 32));
            }
        }
    }

    const MatchCall& call_;
    const float* volume_;
    std::int64_t voxels_;
    float worst_ = 0;
    float patch_[Match::max_patch * Match::max_patch * Match::max_patch] = {};
    std::int64_t list_[match_list_keys(Match::max_count)] = {};
};

void sparse_run(const MatchCall& call, std::int64_t first, std::int64_t end, const float* volume,
                const MatchLists& lists) {
    SparseRun sparse(call, volume);
    for (std::int64_t row = first; row < end; ++row) {
        sparse.match(row, lists);
    }
}

} // namespace HWY_NAMESPACE
} // namespace runner
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace runner {

HWY_EXPORT(sparse_run);

void match_sparse_run(const MatchCall& call, std::int64_t first, std::int64_t end,
                      const float* volume, const MatchLists& lists) {
    HWY_DYNAMIC_DISPATCH(sparse_run)(call, first, end, volume, lists);
}

} // namespace runner
#endif
