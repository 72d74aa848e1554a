// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/match/match_call.hpp"

#include "kernels/match/match_device.cuh"
#include "kernels/queue/launch_parts.cuh"

#include <stdexcept>

namespace runner {
namespace {

using match_cuda::Key;

constexpr int threads = 256;

/// The sum of every candidate of the window, no_match for those that are not there or too far.
__device__ void fill_candidates(const MatchCall& call, const std::int64_t (&at)[3],
                                const float* volume, Key* candidates) {
    const auto wide = static_cast<int>(call.window(2));
    const auto high = static_cast<int>(call.window(1));
    const auto count = static_cast<int>(call.candidates());
    const float* own = volume + call.index(at[0] - call.in_first, at[1], at[2]);
    for (int i = static_cast<int>(threadIdx.x); i < count; i += threads) {
        const std::int64_t dx = i % wide - call.half[2];
        const std::int64_t dy = i / wide % high - call.half[1];
        const std::int64_t dz = i / wide / high - call.half[0];
        candidates[i] = no_match;
        if (at[0] + dz >= 0 && at[0] + dz <= call.corner[0] && at[1] + dy >= 0 &&
            at[1] + dy <= call.corner[1] && at[2] + dx >= 0 && at[2] + dx <= call.corner[2]) {
            const float sum = match_cuda::sum_of_squares(call, own, own + call.index(dz, dy, dx));
            if (sum <= call.most) {
                candidates[i] = match_cuda::key_of(sum, static_cast<std::uint32_t>(i));
            }
        }
    }
    __syncthreads();
}

__device__ void choose_serially(const MatchCall& call, const Key* candidates, Key* list) {
    if (threadIdx.x != 0) {
        return;
    }
    for (int i = 0; i < call.count; ++i) {
        list[i] = no_match;
    }
    for (int i = 0; i < static_cast<int>(call.candidates()); ++i) {
        const Key key = candidates[i];
        if (key >= list[call.count - 1]) {
            continue;
        }
        int to = call.count - 1;
        for (; to > 0 && list[to - 1] > key; --to) {
            list[to] = list[to - 1];
        }
        list[to] = key;
    }
}

/// The least of `length` candidates comes first; no candidate is lost.
__device__ void bring_least_first(Key* candidates, int length) {
    while (length > 1) {
        const int half = (length + 1) / 2;
        for (int i = static_cast<int>(threadIdx.x); i < length - half; i += threads) {
            const Key low = candidates[i];
            const Key high = candidates[i + half];
            if (high < low) {
                candidates[i] = high;
                candidates[i + half] = low;
            }
        }
        __syncthreads();
        length = half;
    }
}

template <MatchSelection selection>
__global__ void __launch_bounds__(threads) published_kernel(MatchCall call, std::int64_t first_row,
                                                            const float* volume, MatchLists lists) {
    extern __shared__ Key candidates[];
    __shared__ Key list[Match::max_count];
    const std::int64_t row = first_row + blockIdx.x;
    const std::int64_t at[3] = {call.reference(0, row / call.grid[2] / call.grid[1]),
                                call.reference(1, row / call.grid[2] % call.grid[1]),
                                call.reference(2, row % call.grid[2])};
    fill_candidates(call, at, volume, candidates);
    if (selection == MatchSelection::serial) {
        choose_serially(call, candidates, list);
    } else {
        const auto count = static_cast<int>(call.candidates());
        for (int i = 0; i < call.count && i < count; ++i) {
            bring_least_first(candidates + i, count - i);
        }
        if (threadIdx.x < call.count) {
            list[threadIdx.x] = threadIdx.x < count ? candidates[threadIdx.x] : no_match;
        }
    }
    __syncthreads();
    int found = 0;
    for (int i = 0; i < call.count; ++i) {
        found += list[i] != no_match ? 1 : 0;
    }
    if (threadIdx.x < call.count) {
        const auto i = static_cast<int>(threadIdx.x);
        match_cuda::put_match(call, list[i], i, found, row, at, lists);
    }
    if (threadIdx.x == 0) {
        lists.count[row] = found;
    }
}

} // namespace

void match_published(CudaQueue& queue, MatchSelection selection, const MatchCall& call,
                     const float* volume, const MatchLists& lists) {
    if (call.candidates() > Match::most_published_candidates) {
        throw std::invalid_argument("the window has more candidates than shared memory");
    }
    const auto kernel = selection == MatchSelection::serial
                            ? published_kernel<MatchSelection::serial>
                            : published_kernel<MatchSelection::min_and_swap>;
    const double operations = static_cast<double>(call.rows()) * call.operations(selection);
    const LaunchParts parts{call.rows(), 1, operations};
    launch_parts(queue, parts, [&](std::int64_t first, std::int64_t count) {
        launch(queue,
               {dim3(static_cast<unsigned>(count)), dim3(threads),
                static_cast<std::size_t>(call.candidates() * 8)},
               kernel, call, first, volume, lists);
    });
}

} // namespace runner
