// SPDX-License-Identifier: BSD-3-Clause
// Sorts lines on the GPU. A block sorts a run of a line in its shared memory, by the digits of the
// keys from the lowest on; the runs of long lines are then merged in bitonic steps.
#include "base/rounding.hpp"
#include "kernels/queue/block_memory.cuh"
#include "kernels/queue/launch.cuh"
#include "kernels/stripes/stripes_lines.hpp"

#include <algorithm>

namespace runner {
namespace {

constexpr int warp_size = 32;
constexpr int merge_threads = 512;
constexpr int swap_threads = 256;
constexpr int items = 8; ///< entries of a thread that sorts
constexpr int digits = 256;

/// Entries that a block sorts in its shared memory.
template <class Entry>
inline constexpr std::int64_t run_entries = std::int64_t{32 * 1024} / sizeof(Entry);

/// Digit `place` of an entry's key, from the lowest on: sizeof(T) of them.
template <class T>
__device__ unsigned digit_of(const typename StripeLines<T>::Entry& entry, int place) {
    using Bits = std::make_unsigned_t<typename StripeEntry<T>::Key>;
    constexpr auto sign = static_cast<Bits>(Bits{1} << (8 * sizeof(T) - 1));
    const auto bits = static_cast<Bits>(StripeEntry<T>::key(entry)) ^ sign;
    return static_cast<unsigned>(bits >> (8 * place)) % digits;
}

/// The lanes with an entry that have the same digit as this one.
__device__ inline unsigned same_digit(bool is_entry, unsigned digit) {
    unsigned lanes = __ballot_sync(~0U, is_entry);
#pragma unroll
    for (unsigned bit = 0; bit < 8; ++bit) {
        const bool is_set = (digit >> bit & 1U) != 0;
        const unsigned set = __ballot_sync(~0U, is_set);
        lanes &= is_set ? set : ~set;
    }
    return lanes;
}

/// What a block that sorts has in its shared memory. Of 32-bit counts fewer blocks have room.
template <class Entry> struct SortMemory {
    Entry* run;            ///< the entries
    std::uint16_t* counts; ///< of the digits of each warp
    std::uint16_t* starts; ///< of each digit in the run

    __device__ SortMemory(std::int64_t held, int warps)
        : run(reinterpret_cast<Entry*>(dynamic_shared())),
          counts(reinterpret_cast<std::uint16_t*>(run + held)), starts(counts + warps * digits) {}
    static std::size_t bytes(std::int64_t held, std::int64_t warps) {
        return static_cast<std::size_t>(held) * sizeof(Entry) +
               static_cast<std::size_t>(warps + 1) * digits * sizeof(std::uint16_t);
    }
};

/// Makes each warp's counts those of the warps before it, and the digits' starts.
template <class Entry> __device__ void add_counts(const SortMemory<Entry>& memory, int warps) {
    for (int digit = static_cast<int>(threadIdx.x); digit < digits;
         digit += static_cast<int>(blockDim.x)) {
        int sum = 0;
        for (int warp = 0; warp < warps; ++warp) {
            std::uint16_t& count = memory.counts[warp * digits + digit];
            const int before = sum;
            sum += count;
            count = static_cast<std::uint16_t>(before);
        }
        memory.starts[digit] = static_cast<std::uint16_t>(sum);
    }
    __syncthreads();
    if (threadIdx.x < warp_size) {
        constexpr int own = digits / warp_size;
        std::uint16_t* const starts = memory.starts + threadIdx.x * own;
        int sum = 0;
        for (int i = 0; i < own; ++i) {
            sum += starts[i];
        }
        int before = sum;
        for (unsigned distance = 1; distance < warp_size; distance *= 2) {
            const int other = __shfl_up_sync(~0U, before, distance);
            before += threadIdx.x >= distance ? other : 0;
        }
        before -= sum;
        for (int i = 0; i < own; ++i) {
            const int count = starts[i];
            starts[i] = static_cast<std::uint16_t>(before);
            before += count;
        }
    }
    __syncthreads();
}

/// Sorts the runs of lines. Block (line, run), of as many threads as have the entries of a run.
template <class T>
__global__ void __launch_bounds__(run_entries<typename StripeLines<T>::Entry> / items)
    sort_kernel(StripeLines<T> lines) {
    using Entry = typename StripeLines<T>::Entry;
    constexpr std::int64_t most = run_entries<Entry>;
    const int warps = static_cast<int>(blockDim.x) / warp_size;
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const std::int64_t first = std::int64_t{blockIdx.y} * most;
    const std::int64_t begin = blockIdx.x * lines.rows + first;
    const auto count = static_cast<int>(min(lines.rows - first, most));
    const SortMemory<Entry> memory(min(lines.rows, most), warps);
    std::uint16_t* const counts = memory.counts + warp * digits;
    // Item i of a lane, so that a warp's items are side by side.
    const auto place = [&](int i) { return (warp * items + i) * warp_size + lane; };
    Entry entries[items] = {};
#pragma unroll
    for (int i = 0; i < items; ++i) {
        if (place(i) < count) {
            entries[i] = StripeEntry<T>::make(lines.lines[begin + place(i)], first + place(i));
        }
    }
    for (int at = 0; at < static_cast<int>(sizeof(T)); ++at) {
        for (int i = lane; i < digits; i += warp_size) {
            counts[i] = 0;
        }
        __syncwarp();
        int ranks[items]; // among the warp's entries of the same digit
#pragma unroll
        for (int i = 0; i < items; ++i) {
            const bool is_entry = place(i) < count;
            const unsigned digit = digit_of<T>(entries[i], at);
            const unsigned same = same_digit(is_entry, digit);
            const int before = __popc(same & ((1U << lane) - 1));
            ranks[i] = is_entry ? counts[digit] + before : 0;
            __syncwarp();
            if (is_entry && before == 0) {
                counts[digit] = static_cast<std::uint16_t>(ranks[i] + __popc(same));
            }
            __syncwarp();
        }
        __syncthreads();
        add_counts(memory, warps);
#pragma unroll
        for (int i = 0; i < items; ++i) {
            if (place(i) < count) {
                const unsigned digit = digit_of<T>(entries[i], at);
                memory.run[memory.starts[digit] + counts[digit] + ranks[i]] = entries[i];
            }
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < items; ++i) {
            if (place(i) < count) {
                entries[i] = memory.run[place(i)];
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < items; ++i) {
        if (place(i) < count) {
            lines.entries[begin + place(i)] = entries[i];
        }
    }
}

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

/// The steps of a merge that are left for shared memory. Block (line, run).
template <class Entry>
__global__ void __launch_bounds__(merge_threads) merge_kernel(Entry* entries, std::int64_t rows) {
    constexpr std::int64_t most = run_entries<Entry>;
    Entry* const run = reinterpret_cast<Entry*>(dynamic_shared());
    const std::int64_t first = std::int64_t{blockIdx.y} * most;
    Entry* const line = entries + blockIdx.x * rows + first;
    const std::int64_t count = min(rows - first, most);
    for (std::int64_t i = threadIdx.x; i < count; i += blockDim.x) {
        run[i] = line[i];
    }
    __syncthreads();
    for (std::int64_t distance = most / 2; distance > 0; distance /= 2) {
        for (std::int64_t i = threadIdx.x; i < most / 2; i += blockDim.x) {
            put_in_order(run, count, apart(i, distance));
        }
        __syncthreads();
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

unsigned extent(std::int64_t count) { return static_cast<unsigned>(count); }

/// Merges the sorted runs of lines.
template <class Entry>
void merge_runs(CudaQueue& queue, Entry* entries, std::int64_t count, std::int64_t rows) {
    constexpr std::int64_t most = run_entries<Entry>;
    for (std::int64_t length = 2 * most; length < 2 * rows; length *= 2) {
        const std::int64_t pairs = ceil_divide(rows, length) * (length / 2);
        const LaunchShape swaps{dim3(extent(count), extent(ceil_divide(pairs, swap_threads))),
                                dim3(swap_threads)};
        launch(queue, swaps, swap_kernel<Entry>, entries, rows, length, std::int64_t{0});
        for (std::int64_t distance = length / 4; distance >= most; distance /= 2) {
            launch(queue, swaps, swap_kernel<Entry>, entries, rows, length, distance);
        }
        launch(queue,
               {dim3(extent(count), extent(ceil_divide(rows, most))), dim3(merge_threads),
                static_cast<std::size_t>(most) * sizeof(Entry)},
               merge_kernel<Entry>, entries, rows);
    }
}

} // namespace

template <class T> void sort_lines(CudaQueue& queue, const StripeLines<T>& lines) {
    using Entry = typename StripeLines<T>::Entry;
    constexpr std::int64_t most = run_entries<Entry>;
    const std::int64_t held = std::min(most, lines.rows);
    const std::int64_t warps = ceil_divide(held, items * warp_size);
    launch(queue,
           {dim3(extent(lines.count()), extent(ceil_divide(lines.rows, most))),
            dim3(extent(warps * warp_size)), SortMemory<Entry>::bytes(held, warps)},
           sort_kernel<T>, lines);
    merge_runs(queue, lines.entries, lines.count(), lines.rows);
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

} // namespace runner
