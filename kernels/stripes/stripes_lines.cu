// SPDX-License-Identifier: BSD-3-Clause
#include "base/rounding.hpp"
#include "kernels/queue/block_memory.cuh"
#include "kernels/queue/launch.cuh"
#include "kernels/stripes/stripes_lines.hpp"

#include <algorithm>

namespace runner {
namespace {

constexpr int sort_threads = 512;
constexpr int swap_threads = 256;
constexpr std::size_t shared_limit = 48 * 1024; ///< bytes that every device gives a block

/// Entries that a block sorts in its shared memory.
template <class Entry>
inline constexpr std::int64_t run_entries = std::int64_t{32 * 1024} / sizeof(Entry);

/// Two places of a line, of which the first gets the lesser entry.
struct Places {
    std::int64_t low;
    std::int64_t high;
};

/// Pair `i` of the step that begins to merge runs of `length` / 2: their ends meet, so that both
/// may be ascending. The last run may then have any length: what it lacks would be greatest.
__device__ inline Places meeting(std::int64_t i, std::int64_t length) {
    const std::int64_t half = length / 2;
    const std::int64_t low = i / half * length + i % half;
    return {low, low ^ (length - 1)};
}

/// Pair `i` of the steps after it.
__device__ inline Places apart(std::int64_t i, std::int64_t distance) {
    const std::int64_t low = i / distance * 2 * distance + i % distance;
    return {low, low + distance};
}

template <class Entry>
__device__ void put_in_order(Entry* line, std::int64_t rows, const Places& places) {
    if (places.high < rows) {
        const Entry low = line[places.low];
        const Entry high = line[places.high];
        if (high < low) {
            line[places.low] = high;
            line[places.high] = low;
        }
    }
}

/// The steps of a merge in shared memory from this distance on.
template <class Entry>
__device__ void merge_run(Entry* run, std::int64_t count, std::int64_t pairs,
                          std::int64_t distance) {
    for (; distance > 0; distance /= 2) {
        for (std::int64_t i = threadIdx.x; i < pairs; i += blockDim.x) {
            put_in_order(run, count, apart(i, distance));
        }
        __syncthreads();
    }
}

/// What is done with a line's runs of run_entries.
enum class Runs {
    sort,  ///< single entries are brought into order
    merge, ///< the steps of a merge that are left for shared memory are done
};

/// Block (line, run).
template <class T, Runs runs>
__global__ void __launch_bounds__(sort_threads) runs_kernel(StripeLines<T> lines) {
    using Entry = typename StripeLines<T>::Entry;
    constexpr std::int64_t most = run_entries<Entry>;
    Entry* const run = reinterpret_cast<Entry*>(dynamic_shared());
    const std::int64_t first = std::int64_t{blockIdx.y} * most;
    const std::int64_t begin = blockIdx.x * lines.rows + first;
    Entry* const line = lines.entries + begin;
    const std::int64_t count = lines.rows - first < most ? lines.rows - first : most;
    for (std::int64_t i = threadIdx.x; i < count; i += blockDim.x) {
        if constexpr (runs == Runs::merge) {
            run[i] = line[i];
        } else {
            run[i] = StripeEntry<T>::make(lines.lines[begin + i], first + i);
        }
    }
    __syncthreads();
    if constexpr (runs == Runs::merge) {
        merge_run(run, count, most / 2, most / 2);
    } else {
        for (std::int64_t length = 2; length < 2 * count; length *= 2) {
            const std::int64_t pairs = (count + length - 1) / length * (length / 2);
            for (std::int64_t i = threadIdx.x; i < pairs; i += blockDim.x) {
                put_in_order(run, count, meeting(i, length));
            }
            __syncthreads();
            merge_run(run, count, pairs, length / 4);
        }
    }
    for (std::int64_t i = threadIdx.x; i < count; i += blockDim.x) {
        line[i] = run[i];
    }
}

/// A step of a merge whose pairs are too far apart for shared memory. `distance` 0: its first one,
/// of runs of length / 2. Block (line, pairs).
template <class Entry>
__global__ void __launch_bounds__(swap_threads)
    swap_kernel(Entry* entries, std::int64_t rows, std::int64_t length, std::int64_t distance) {
    const std::int64_t i = std::int64_t{blockIdx.y} * swap_threads + threadIdx.x;
    put_in_order(entries + blockIdx.x * rows, rows,
                 distance == 0 ? meeting(i, length) : apart(i, distance));
}

/// A thread slides a window over the columns of a strip at one rank; see smooth() of
/// stripes_lines.cpp. Block (strip, ranks, frame).
template <class T> __global__ void smooth_kernel(StripeLines<T> view, std::int64_t strip_columns) {
    using Of = StripeEntry<T>;
    using Key = typename Of::Key;
    Key* const window = reinterpret_cast<Key*>(dynamic_shared()) + threadIdx.x;
    const int lanes = static_cast<int>(blockDim.x);
    const int size = static_cast<int>(view.size);
    const std::int64_t rank = std::int64_t{blockIdx.y} * lanes + threadIdx.x;
    const std::int64_t frame = blockIdx.z;
    if (rank >= view.rows) {
        return;
    }
    const auto key = [&](std::int64_t x) {
        return Of::key(view.entries[view.line(frame, x) * view.rows + rank]);
    };
    for (int i = 0; i < size; ++i) {
        window[i * lanes] = std::numeric_limits<Key>::max();
    }
    const std::int64_t first = std::int64_t{blockIdx.x} * strip_columns;
    const std::int64_t last =
        first + strip_columns < view.columns ? first + strip_columns : view.columns;
    for (std::int64_t x = first; x < last; ++x) {
        const std::int64_t begin = view.window(x);
        const Key leaving = x > first ? key(begin - 1) : std::numeric_limits<Key>::max();
        for (std::int64_t entering = x > first ? size - 1 : 0; entering < size; ++entering) {
            Key carried = key(begin + entering);
            Key at = window[0];
            for (int i = 0; i + 1 < size; ++i) {
                const Key next = window[(i + 1) * lanes];
                const Key left = at < leaving ? at : next;
                window[i * lanes] = left < carried ? left : carried;
                carried = left < carried ? carried : left;
                at = next;
            }
            window[(size - 1) * lanes] = carried;
        }
        const std::int64_t line = view.line(frame, x) * view.rows;
        view.smooth[line + Of::row(view.entries[line + rank])] =
            Of::element(window[size / 2 * lanes]);
    }
}

unsigned extent(std::int64_t count) { return static_cast<unsigned>(count); }

} // namespace

template <class T> void sort_lines(CudaQueue& queue, const StripeLines<T>& lines) {
    using Entry = typename StripeLines<T>::Entry;
    constexpr std::int64_t most = run_entries<Entry>;
    const std::int64_t rows = lines.rows;
    const std::int64_t held = std::min(most, rows);
    std::int64_t threads = 32;
    while (threads < sort_threads && 2 * threads < held) {
        threads *= 2;
    }
    const LaunchShape runs{dim3(extent(lines.count()), extent(ceil_divide(rows, most))),
                           dim3(extent(threads)), static_cast<std::size_t>(held) * sizeof(Entry)};
    launch(queue, runs, runs_kernel<T, Runs::sort>, lines);
    for (std::int64_t length = 2 * most; length < 2 * rows; length *= 2) {
        const std::int64_t pairs = ceil_divide(rows, length) * (length / 2);
        const LaunchShape swaps{
            dim3(extent(lines.count()), extent(ceil_divide(pairs, swap_threads))),
            dim3(swap_threads)};
        launch(queue, swaps, swap_kernel<Entry>, lines.entries, rows, length, std::int64_t{0});
        for (std::int64_t distance = length / 4; distance >= most; distance /= 2) {
            launch(queue, swaps, swap_kernel<Entry>, lines.entries, rows, length, distance);
        }
        launch(queue, runs, runs_kernel<T, Runs::merge>, lines);
    }
}

template <class T> void smooth_lines(CudaQueue& queue, const StripeLines<T>& lines) {
    const std::size_t bytes =
        static_cast<std::size_t>(lines.size) * sizeof(typename StripeEntry<T>::Key);
    std::int64_t threads = 128;
    while (static_cast<std::size_t>(threads) * bytes > shared_limit) {
        threads /= 2;
    }
    const std::int64_t columns = strip_columns(lines.size, 128);
    launch(queue,
           {dim3(extent(ceil_divide(lines.columns, columns)),
                 extent(ceil_divide(lines.rows, threads)), extent(lines.frames)),
            dim3(extent(threads)), static_cast<std::size_t>(threads) * bytes},
           smooth_kernel<T>, lines, columns);
}

template void sort_lines(CudaQueue&, const StripeLines<std::int8_t>&);
template void sort_lines(CudaQueue&, const StripeLines<std::uint8_t>&);
template void sort_lines(CudaQueue&, const StripeLines<std::int16_t>&);
template void sort_lines(CudaQueue&, const StripeLines<std::uint16_t>&);
template void sort_lines(CudaQueue&, const StripeLines<std::int32_t>&);
template void sort_lines(CudaQueue&, const StripeLines<std::uint32_t>&);
template void sort_lines(CudaQueue&, const StripeLines<std::int64_t>&);
template void sort_lines(CudaQueue&, const StripeLines<std::uint64_t>&);
template void sort_lines(CudaQueue&, const StripeLines<float>&);
template void sort_lines(CudaQueue&, const StripeLines<double>&);
template void smooth_lines(CudaQueue&, const StripeLines<std::int8_t>&);
template void smooth_lines(CudaQueue&, const StripeLines<std::uint8_t>&);
template void smooth_lines(CudaQueue&, const StripeLines<std::int16_t>&);
template void smooth_lines(CudaQueue&, const StripeLines<std::uint16_t>&);
template void smooth_lines(CudaQueue&, const StripeLines<std::int32_t>&);
template void smooth_lines(CudaQueue&, const StripeLines<std::uint32_t>&);
template void smooth_lines(CudaQueue&, const StripeLines<std::int64_t>&);
template void smooth_lines(CudaQueue&, const StripeLines<std::uint64_t>&);
template void smooth_lines(CudaQueue&, const StripeLines<float>&);
template void smooth_lines(CudaQueue&, const StripeLines<double>&);

} // namespace runner
