// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/match_device.cuh"

namespace runner::match_cuda {

inline constexpr int sparse_threads = 128;
inline constexpr int sparse_buffer = 16; ///< candidates a thread gathers before it sorts them in

/// A thread a reference; every candidate's sum by itself. Candidates that beat the last match are
/// gathered, and the whole warp sorts its own in when one thread's room is full: one by one, some
/// thread of a warp has nearly always something to sort in, and the others wait for it.
template <int slots>
__global__ void __launch_bounds__(sparse_threads)
    sparse_kernel(MatchWork work, std::int64_t first_block, const float* volume, MatchLists lists) {
    __shared__ Key gathered[sparse_buffer][sparse_threads];
    const auto thread = static_cast<int>(threadIdx.x);
    const std::int64_t row = (first_block + blockIdx.x) * sparse_threads + thread;
    const bool mine = row < work.rows();
    const std::int64_t number = mine ? row : work.rows() - 1;
    const std::int64_t at[3] = {work.reference(0, number / work.grid[2] / work.grid[1]),
                                work.reference(1, number / work.grid[2] % work.grid[1]),
                                work.reference(2, number % work.grid[2])};
    const std::int64_t layer = work.volume[1] * work.volume[2];
    const std::int64_t place = (at[0] - work.in_first) * layer + at[1] * work.volume[2] + at[2];
    const auto tall = static_cast<int>(work.window(0));
    const auto high = static_cast<int>(work.window(1));
    const auto wide = static_cast<int>(work.window(2));
    List<slots> list;
    list.clear(work.count);
    Key last = key_of(work.most, 0xFFFFFFFFU);
    int held = 0;
    const auto sort_in = [&] {
        for (int j = 0; __any_sync(whole_warp, j < held); ++j) {
            list.insert(j < held ? gathered[j][thread] : no_match);
        }
        held = 0;
        last = list.last() < last ? list.last() : last;
    };
    for (int i = 0; i < tall; ++i) {
        const int dz = from_centre(i);
        const bool z_there = mine && at[0] + dz >= 0 && at[0] + dz <= work.corner[0];
        for (int j = 0; j < high; ++j) {
            const int dy = from_centre(j);
            const bool y_there = z_there && at[1] + dy >= 0 && at[1] + dy <= work.corner[1];
            const std::int64_t line = place + dz * layer + dy * work.volume[2];
            const auto before = static_cast<std::uint32_t>(
                ((dz + work.half[0]) * high + dy + work.half[1]) * wide + work.half[2]);
            for (int k = 0; k < wide; ++k) {
                const int dx = from_centre(k);
                if (y_there && at[2] + dx >= 0 && at[2] + dx <= work.corner[2]) {
                    const float sum = sum_of_squares(work, volume + place, volume + line + dx);
                    const Key key = key_of(sum, before + static_cast<std::uint32_t>(dx));
                    if (key < last) {
                        gathered[held][thread] = key;
                        ++held;
                    }
                }
                if (__any_sync(whole_warp, held == sparse_buffer)) {
                    sort_in();
                }
            }
        }
    }
    sort_in();
    if (mine) {
        put_list(work, list, row, at, lists);
    }
}

} // namespace runner::match_cuda
