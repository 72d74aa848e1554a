// SPDX-License-Identifier: BSD-3-Clause
// The split kernel: a run of the input comes to shared memory as it is; aligned vectors of a
// component are gathered there, an element at a time.
#include "kernels/transpose/split/transpose_split_plan.hpp"

#include "kernels/queue/block_memory.cuh"
#include "kernels/queue/launch.cuh"
#include "kernels/transpose/transpose_shift.cuh"

namespace runner {
namespace {

using namespace transpose_cuda;

constexpr int threads = 256;

struct SplitCall {
    SplitPlan plan;
    const std::byte* in;
    std::byte* out;
    Readable readable;
    Divisor tiles; ///< of a run
    Divisor parts; ///< of a tile's part of an output row, each of a vector a thread
};

/// What one block of threads moves. Lengths along an output row are counted in elements from the
/// tile's begin.
struct SplitTile {
    const std::byte* in; ///< the first of its points
    std::byte* out;      ///< in the first component
    int lead;            ///< points before the tile's begin
    int count;           ///< of points
    int length;          ///< to the end of the output's rows, or enough
    bool begins;         ///< whether it is the rows' first
};

__device__ SplitTile split_tile(const SplitCall& call) {
    const SplitPlan& plan = call.plan;
    const int per = 16 / plan.element_bytes;
    const Divided place = divide(blockIdx.x, call.tiles);
    const std::int64_t begin = static_cast<std::int64_t>(place.rest) * plan.step;
    constexpr std::int64_t enough = 1 << 20;
    SplitTile tile;
    tile.begins = begin == 0;
    tile.lead = tile.begins ? 0 : per - 1;
    tile.length = static_cast<int>(min(plan.along - begin, enough));
    tile.count = min(tile.length, plan.step + per) + tile.lead;
    tile.in = call.in + place.quotient * plan.in_other + (begin - tile.lead) * plan.point_bytes();
    tile.out = call.out + place.quotient * plan.out_other + begin * plan.element_bytes;
    return tile;
}

/// Where a byte of the tile is in shared memory.
template <bool skewed> __device__ int place_of(int byte) {
    return skewed ? byte + (byte >> 7 << 4) : byte;
}

template <bool skewed>
__device__ void read_points(const SplitCall& call, const SplitTile& tile, std::byte* shared) {
    const int before = static_cast<int>(beyond(tile.in, split_align));
    const std::byte* from = tile.in - before;
    const int bytes = before + tile.count * call.plan.point_bytes();
    const int thread = static_cast<int>(threadIdx.x);
    if (from >= call.readable.begin && from + (bytes + 15) / 16 * 16 <= call.readable.end) {
#pragma unroll 4
        for (int at = 16 * thread; at < bytes; at += 16 * threads) {
            copy_async<16>(shared + place_of<skewed>(at), from + at);
        }
    } else {
        for (int at = before + thread; at < bytes; at += threads) {
            shared[place_of<skewed>(at)] = from[at];
        }
    }
}

/// The word whose first element is `byte` bytes into the tile.
template <int element, bool skewed>
__device__ std::uint32_t gather_word(const std::byte* shared, int byte, int point) {
    const auto value = [&](int i) -> std::uint32_t {
        return *reinterpret_cast<const Word<element>*>(shared + place_of<skewed>(byte + i * point));
    };
    if constexpr (element == 1) {
        return __byte_perm(__byte_perm(value(0), value(1), 0x0040),
                           __byte_perm(value(2), value(3), 0x0040), 0x5410);
    } else if constexpr (element == 2) {
        return __byte_perm(value(0), value(1), 0x5410);
    } else {
        return value(0);
    }
}

/// The words with word (i + by) mod 4 in place of word i.
__device__ void turn_words(std::uint32_t (&words)[4], int by) {
#pragma unroll
    for (int bit = 1; bit < 4; bit *= 2) {
        const std::uint32_t from[4] = {words[0], words[1], words[2], words[3]};
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            words[i] = (by & bit) != 0 ? from[(i + bit) % 4] : from[i];
        }
    }
}

/// A vector whose first element is `byte` bytes into the tile. Every eight threads of a warp gather
/// its words in another order, by which odd numbers of components meet in no bank.
template <int element, bool skewed>
__device__ uint4 gather_vector(const std::byte* shared, int byte, int point) {
    const int turn = static_cast<int>(threadIdx.x) % 32 / 8;
    std::uint32_t words[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int word = (i + turn) & 3;
        words[i] = gather_word<element, skewed>(shared, byte + word * (4 / element) * point, point);
    }
    turn_words(words, -turn & 3);
    return make_uint4(words[0], words[1], words[2], words[3]);
}

/// The elements before an output row's first vector, where the tile is the row's first, and after
/// its last, where it is the last. The tile's part begins `begin` elements after the tile.
template <int element, bool skewed>
__device__ void write_ends(const SplitCall& call, const SplitTile& tile, int begin, int first_byte,
                           std::byte* to, const std::byte* shared) {
    constexpr int per = 16 / element;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const auto write = [&](int at) {
        using W = Word<element>;
        *reinterpret_cast<W*>(to + at * element) = *reinterpret_cast<const W*>(
            shared + place_of<skewed>(first_byte + at * call.plan.point_bytes()));
    };
    const int head = tile.begins ? (begin < 0 ? begin + per : begin) : begin;
    if (tile.begins && lane < min(head, tile.length)) {
        write(lane);
    }
    const int tail = begin + (tile.length - begin) / per * per + lane;
    if (tile.length > begin && tile.length <= call.plan.step + begin && tail >= head &&
        tail < tile.length) {
        write(tail);
    }
}

template <int element, bool skewed>
__global__ void __launch_bounds__(threads) split_kernel(SplitCall call) {
    constexpr int per = 16 / element;
    constexpr int period = split_align / element;
    auto* shared = reinterpret_cast<std::byte*>(dynamic_shared());
    const SplitTile tile = split_tile(call);
    read_points<skewed>(call, tile, shared);
    commit_copies();
    wait_for_copies<0>();
    __syncthreads();
    const int point = call.plan.point_bytes();
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int parts = call.plan.components * static_cast<int>(call.parts.value);
    for (int part = static_cast<int>(threadIdx.x) / 32; part < parts; part += threads / 32) {
        const Divided place = divide(static_cast<std::uint32_t>(part), call.parts);
        const auto component = static_cast<int>(place.quotient);
        std::byte* to = tile.out + component * call.plan.out_component;
        // The nearest multiple, from −(per − 1) to per elements from the tile's begin.
        const int before = static_cast<int>(beyond(to, split_align)) / element;
        const int begin = before < per ? -before : period - before;
        const int start = begin + (static_cast<int>(place.rest) * 32 + lane) * per;
        const int first_byte = static_cast<int>(beyond(tile.in, split_align)) + tile.lead * point +
                               component * element;
        if ((start >= 0 || !tile.begins) && start + per <= tile.length) {
            *reinterpret_cast<uint4*>(to + start * element) =
                gather_vector<element, skewed>(shared, first_byte + start * point, point);
        }
        if (place.rest == 0) {
            write_ends<element, skewed>(call, tile, begin, first_byte, to, shared);
        }
    }
}

using SplitKernel = void (*)(SplitCall);

template <bool skewed> SplitKernel kernel_for(int element_bytes) {
    switch (element_bytes) {
    case 1: return split_kernel<1, skewed>;
    case 2: return split_kernel<2, skewed>;
    default: return split_kernel<4, skewed>;
    }
}

} // namespace

void transpose_split(CudaQueue& queue, const SplitPlan& plan, const std::byte* in, std::byte* out) {
    const int per = 16 / plan.element_bytes;
    // A row's part may begin up to a vector before the tile.
    const std::int64_t tiles = (plan.along + per - 1 + plan.step - 1) / plan.step;
    const std::int64_t bytes = plan.along * plan.point_bytes();
    SplitCall call{};
    call.plan = plan;
    call.in = in;
    call.out = out;
    call.readable = {in, in + (plan.others - 1) * plan.in_other + bytes};
    call.tiles = make_divisor(static_cast<std::uint32_t>(tiles));
    call.parts = make_divisor(static_cast<std::uint32_t>(plan.step / (32 * per)));
    const KernelWork work{2.0 * static_cast<double>(bytes * plan.others)};
    launch(queue,
           {dim3(static_cast<unsigned>(tiles * plan.others)), dim3(threads),
            static_cast<std::size_t>(plan.shared_bytes), work},
           plan.skewed ? kernel_for<true>(plan.element_bytes)
                       : kernel_for<false>(plan.element_bytes),
           call);
}

} // namespace runner
