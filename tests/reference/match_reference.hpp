// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/match/match.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace runner::match_reference {

/// Matches of all references of a whole volume, rows as MatchLists has them.
struct Lists {
    std::vector<std::uint64_t> index;
    std::vector<float> distance;
    std::vector<std::int32_t> count;
};

using Corner = std::array<std::int64_t, 3>;

inline std::size_t place(const Match& match, const Corner& at) {
    return static_cast<std::size_t>((at[0] * match.volume[1] + at[1]) * match.volume[2] + at[2]);
}

/// 0, step, 2·step, … and the last corner.
inline std::vector<std::int64_t> references(const Match& match, std::size_t axis) {
    const std::int64_t last = match.volume[axis] - match.patch[axis];
    std::vector<std::int64_t> list;
    for (std::int64_t at = 0; at <= last; at += match.step) {
        list.push_back(at);
    }
    if (list.back() != last) {
        list.push_back(last);
    }
    return list;
}

/// D of two patches.
inline float sum_of_squares(const Match& match, const std::vector<float>& volume, const Corner& a,
                            const Corner& b) {
    float sum = 0;
    for (std::int64_t x = 0; x < match.patch[2]; ++x) {
        float along_y = 0;
        for (std::int64_t y = 0; y < match.patch[1]; ++y) {
            float q = 0;
            for (std::int64_t z = 0; z < match.patch[0]; ++z) {
                const float e = volume[place(match, {a[0] + z, a[1] + y, a[2] + x})] -
                                volume[place(match, {b[0] + z, b[1] + y, b[2] + x})];
                q = z == 0 ? e * e : std::fma(e, e, q);
            }
            along_y = y == 0 ? q : along_y + q;
        }
        sum = x == 0 ? along_y : sum + along_y;
    }
    return sum;
}

/// Whether all voxels of a patch are values: one with NaN is no reference and no candidate.
inline bool is_valid(const Match& match, const std::vector<float>& volume, const Corner& at) {
    for (std::int64_t i = 0; i < match.patch_voxels(); ++i) {
        const Corner voxel = {at[0] + i / match.patch[2] / match.patch[1],
                              at[1] + i / match.patch[2] % match.patch[1],
                              at[2] + i % match.patch[2]};
        if (std::isnan(volume[place(match, voxel)])) {
            return false;
        }
    }
    return true;
}

/// One row: every corner of the volume is asked whether it is a candidate.
inline void append_row(const Match& match, const std::vector<float>& volume, const Corner& at,
                       Lists& lists) {
    const auto voxels = static_cast<float>(match.patch_voxels());
    std::vector<std::pair<float, std::uint64_t>> found;
    Corner to{};
    const auto near = [&](std::size_t axis) {
        return std::abs(to[axis] - at[axis]) <= (match.window[axis] - 1) / 2;
    };
    for (to[0] = 0; to[0] + match.patch[0] <= match.volume[0]; ++to[0]) {
        for (to[1] = 0; near(0) && to[1] + match.patch[1] <= match.volume[1]; ++to[1]) {
            for (to[2] = 0; near(1) && to[2] + match.patch[2] <= match.volume[2]; ++to[2]) {
                if (near(2) && is_valid(match, volume, at) && is_valid(match, volume, to)) {
                    const float sum = sum_of_squares(match, volume, at, to);
                    if (!(sum / voxels > match.threshold)) {
                        found.emplace_back(sum, place(match, to));
                    }
                }
            }
        }
    }
    std::sort(found.begin(), found.end());
    const auto count = static_cast<std::size_t>(match.count);
    found.resize(std::min(found.size(), count));
    if (match.order == MatchOrder::nearest_last) {
        std::reverse(found.begin(), found.end());
    }
    for (std::size_t i = 0; i < count; ++i) {
        const bool there = i < found.size();
        lists.index.push_back(there ? found[i].second : ~std::uint64_t{0});
        lists.distance.push_back(there ? found[i].first / voxels
                                       : std::numeric_limits<float>::infinity());
    }
    lists.count.push_back(static_cast<std::int32_t>(found.size()));
}

/// All references whose corners lie in layers [first, first + layers).
inline Lists match(const Match& match, const std::vector<float>& volume, std::int64_t first,
                   std::int64_t layers) {
    Lists lists;
    for (const std::int64_t z : references(match, 0)) {
        if (z < first || z >= first + layers) {
            continue;
        }
        for (const std::int64_t y : references(match, 1)) {
            for (const std::int64_t x : references(match, 2)) {
                append_row(match, volume, {z, y, x}, lists);
            }
        }
    }
    return lists;
}

inline Lists match(const Match& whole, const std::vector<float>& volume) {
    return match(whole, volume, 0, whole.volume[0]);
}

} // namespace runner::match_reference
