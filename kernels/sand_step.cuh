// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/sand_words.cuh"

#include <cstdint>

namespace runner::sand_cuda {

/// A threshold as words of ones and zeros.
struct SandThreshold {
    std::uint32_t value;
    std::uint32_t words[16];

    __device__ __forceinline__ std::uint32_t word(int i) const { return words[i]; }
};

/// A threshold that the compiler knows, so that comparing takes half the work.
template <std::uint32_t known> struct KnownThreshold {
    static constexpr std::uint32_t value = known;

    __device__ __forceinline__ std::uint32_t word(int i) const {
        return ((known >> i) & 1U) != 0 ? ~0U : 0U;
    }
};

/// Which thresholds a kernel is made for: any, or those of the published chances.
enum class Chances { any, published };

/// A launch: some generations of all tiles. A tile keeps words − 2 groups and 64 · thirties − 2 ·
/// margin rows of what it works on.
struct SandLaunch {
    const uint4* from; ///< rows of the band, `groups` a row: even high, even low, odd high, odd low
    uint4* to;
    const uint4* tables; ///< sand_cuda_table_bytes() describes them
    std::int64_t groups;
    std::int64_t rows; ///< of the whole grid
    std::int64_t columns;
    std::int64_t held_first; ///< the band's rows
    std::int64_t held_rows;
    std::int64_t strips; ///< tiles side by side
    std::int64_t first_tile;
    std::uint64_t generation;
    int generations; ///< ≤ margin
    int margin;      ///< rows above and below those kept, even
    int words;       ///< groups of a tile
    std::uint32_t seed;
    SandThreshold threshold[5];
};

/// Threads of a block: two blocks a multiprocessor leave each thread 80 registers.
constexpr int most_threads = 384;

/// Counters of work taken, one a generation of a launch, and flags; at the start of shared memory.
constexpr int counters_bytes = 128;

/// All ones where bit `bit` of `value` is one.
__device__ __forceinline__ std::uint32_t spread_bit(std::uint32_t value, int bit) {
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(value << (31 - bit)) >> 31);
}

/// The threshold of the chance with that number, in SandThresholds' order.
template <Chances chances, unsigned number>
__device__ __forceinline__ auto threshold_of(const SandLaunch& launch) {
    if constexpr (chances == Chances::any) {
        return launch.threshold[number];
    } else {
        constexpr SandThresholds published;
        constexpr std::uint32_t values[5] = {published.sand_slide, published.sand_fall,
                                             published.water_fall, published.water_diagonal,
                                             published.water_spread};
        return KnownThreshold<values[number]>{};
    }
}

/// Draws of one warp's blocks, prepared when the first lane needs one.
template <Chances chances> struct SandWarpChances {
    const SandLaunch& launch;
    const uint4* x_planes; ///< of the warp's group
    std::uint32_t y;
    std::uint32_t generation;
    bool started = false;
    SandDrawPlanes<std::uint32_t> start;

    __device__ __forceinline__ SandWarpChances(const SandLaunch& given, const uint4* planes,
                                               std::uint32_t row, std::uint32_t now)
        : launch(given), x_planes(planes), y(row), generation(now) {}

    __device__ __forceinline__ void begin() {
        const std::uint32_t row = sand_row_part(y, generation, launch.seed);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const uint4 x = __ldg(x_planes + i);
            start.bit[4 * i] = x.x ^ spread_bit(row, 4 * i);
            start.bit[4 * i + 1] = x.y ^ spread_bit(row, 4 * i + 1);
            start.bit[4 * i + 2] = x.z ^ spread_bit(row, 4 * i + 2);
            start.bit[4 * i + 3] = x.w ^ spread_bit(row, 4 * i + 3);
        }
        started = true;
    }

    template <unsigned salt>
    __device__ __forceinline__ std::uint32_t operator()(SandSalt<salt> /*salt*/,
                                                        std::uint32_t need) {
        if (!__any_sync(0xFFFFFFFFU, need != 0)) {
            return 0;
        }
        if (!started) {
            begin();
        }
        return sand_chance<salt>(start, threshold_of<chances, (salt < 5 ? salt : 4)>(launch));
    }
};

/// A tile's rows in one buffer of shared memory. Rows of one parity lie together for each group, so
/// that 32 lanes with a pair of rows each read 32 neighbours: group w, row 2j + p is at
/// (2w + p) · pitch + j. One more of each is there to be read and thrown away.
template <int thirties, Chances chances> struct SandTile {
    static constexpr int pairs = 32 * thirties;
    static constexpr int pitch = pairs + 1;
    static constexpr int group_pitch = 2 * pitch;

    const SandLaunch& launch;
    std::int64_t first_row;   ///< of the tile's first row, even, may lie above the grid
    std::int64_t first_group; ///< may be −1

    __device__ __forceinline__ SandTile(const SandLaunch& given, std::int64_t tile)
        : launch(given),
          first_row((given.held_first & ~std::int64_t{1}) +
                    tile / given.strips * (2 * pairs - 2 * given.margin) - given.margin),
          first_group(tile % given.strips * (given.words - 2) - 1) {}

    /// Bits of the blocks of a group that are whole within the grid's columns.
    __device__ __forceinline__ std::uint32_t valid_blocks(std::int64_t group,
                                                          int column_offset) const {
        const std::int64_t left = (launch.columns - column_offset) / 2 - 32 * group;
        return group < 0 || left <= 0 ? 0U : left >= 32 ? 0xFFFFFFFFU : (1U << left) - 1U;
    }

    /// Loads the tile; returns whether all its cells are one material, so that nothing can move.
    __device__ __forceinline__ bool load(uint4* buffer, int* flags) const {
        std::uint32_t any_high = 0;
        std::uint32_t any_low = 0;
        std::uint32_t all_high = ~0U;
        std::uint32_t all_low = ~0U;
        const int count = launch.words * 2 * pairs;
        for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) {
            const int row = i / launch.words;
            const int word = i - row * launch.words;
            const std::int64_t y = first_row + row;
            const std::int64_t group = first_group + word;
            uint4 value = make_uint4(0, 0, 0, 0);
            if (y < 0 || y >= launch.rows) {
                value = make_uint4(~0U, ~0U, ~0U, ~0U); // beyond the grid stand walls
            } else if (group >= 0 && group < launch.groups) {
                const std::int64_t held = y - launch.held_first;
                if (held >= 0 && held < launch.held_rows) {
                    value = launch.from[held * launch.groups + group];
                }
                any_high |= value.x | value.z;
                any_low |= value.y | value.w;
                all_high &= value.x & value.z;
                all_low &= value.y & value.w;
            }
            buffer[(2 * word + (row & 1)) * pitch + (row >> 1)] = value;
        }
        const int mixed = (any_high != 0 ? 1 : 0) | (all_high != ~0U ? 2 : 0) |
                          (any_low != 0 ? 4 : 0) | (all_low != ~0U ? 8 : 0);
        if (mixed != 0) {
            atomicOr(flags, mixed);
        }
        __syncthreads();
        const int seen = *flags;
        return (seen & 3) != 3 && (seen & 12) != 12;
    }

    /// The even columns of a group where the buffer holds them moved by one column pair, or not.
    __device__ __forceinline__ uint2 even_from_moved(const uint4* at, bool has_group_before,
                                                     uint4 own) const {
        uint2 before = make_uint2(0, 0);
        if (has_group_before) {
            before = *reinterpret_cast<const uint2*>(at - group_pitch);
        }
        return make_uint2(__funnelshift_l(before.x, own.x, 1), __funnelshift_l(before.y, own.y, 1));
    }

    /// The even columns at the right of the odd ones.
    __device__ __forceinline__ uint2 even_to_moved(const uint4* at, bool has_group_after,
                                                   uint4 own) const {
        uint2 after = make_uint2(0, 0);
        if (has_group_after) {
            after = *reinterpret_cast<const uint2*>(at + group_pitch);
        }
        return make_uint2(__funnelshift_r(own.x, after.x, 1), __funnelshift_r(own.y, after.y, 1));
    }

    template <int column_offset>
    __device__ __forceinline__ uint2 even_columns(const uint4* at, int word, bool moved,
                                                  uint4 own) const {
        if constexpr (column_offset == 1) {
            return even_to_moved(at, word + 1 < launch.words, own);
        } else {
            return moved ? even_from_moved(at, word > 0, own) : make_uint2(own.x, own.y);
        }
    }

    /// One generation of 32 pairs of rows of one group, a pair a lane.
    template <int column_offset>
    __device__ __forceinline__ void step(const uint4* in, uint4* out, int word, int pair,
                                         std::uint64_t generation, int row_offset,
                                         bool moved) const {
        const int top = (2 * word + row_offset) * pitch + pair;
        const int bottom = (2 * word + 1 - row_offset) * pitch + pair + row_offset;
        const uint4 upper = in[top];
        const uint4 lower = in[bottom];
        const uint4 below = in[top + 1];
        const uint2 upper_even = even_columns<column_offset>(in + top, word, moved, upper);
        const uint2 lower_even = even_columns<column_offset>(in + bottom, word, moved, lower);
        const uint2 below_even = even_columns<column_offset>(in + top + 1, word, moved, below);
        const std::uint32_t floor = (below_even.x | below_even.y) & (below.z | below.w);
        SandBlocks<std::uint32_t> blocks =
            column_offset == 0
                ? SandBlocks<std::uint32_t>{upper_even.x, upper_even.y, upper.z, upper.w,
                                            lower_even.x, lower_even.y, lower.z, lower.w}
                : SandBlocks<std::uint32_t>{upper.z, upper.w, upper_even.x, upper_even.y,
                                            lower.z, lower.w, lower_even.x, lower_even.y};
        const std::int64_t y = first_row + 2 * pair + row_offset;
        const std::int64_t group = first_group + word;
        const bool rows_exist = y >= 0 && y + 1 < launch.rows;
        const std::uint32_t valid = rows_exist ? valid_blocks(group, column_offset) : 0U;
        if (__any_sync(0xFFFFFFFFU, (sand_unequal(blocks) & valid) != 0)) {
            sand_step(blocks, floor, valid,
                      SandWarpChances<chances>(
                          launch, launch.tables + (column_offset * launch.groups + group) * 4,
                          static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(generation)));
        }
        if constexpr (column_offset == 0) {
            out[top] = make_uint4(blocks.tl_high, blocks.tl_low, blocks.tr_high, blocks.tr_low);
            out[bottom] = make_uint4(blocks.bl_high, blocks.bl_low, blocks.br_high, blocks.br_low);
        } else {
            out[top] = make_uint4(blocks.tr_high, blocks.tr_low, blocks.tl_high, blocks.tl_low);
            out[bottom] = make_uint4(blocks.br_high, blocks.br_low, blocks.bl_high, blocks.bl_low);
        }
    }

    /// One generation of the whole tile; warps take pieces of it as they come free.
    template <int column_offset>
    __device__ __forceinline__ void step_all(const uint4* in, uint4* out, std::uint64_t generation,
                                             bool moved, int* counter) const {
        const int lane = static_cast<int>(threadIdx.x & 31U);
        const int warps = static_cast<int>(blockDim.x >> 5U);
        const int row_offset = sand_row_offset(generation);
        int item = static_cast<int>(threadIdx.x >> 5U);
        while (item < launch.words * thirties) {
            const int word = item / thirties;
            const int pair = (item - word * thirties) * 32 + lane;
            step<column_offset>(in, out, word, pair, generation, row_offset, moved);
            int next = 0;
            if (lane == 0) {
                next = warps + atomicAdd(counter, 1);
            }
            item = __shfl_sync(0xFFFFFFFFU, next, 0);
        }
    }

    /// Writes the rows and groups that the tile keeps.
    __device__ __forceinline__ void store(const uint4* buffer, bool moved) const {
        const int words = launch.words - 2;
        const int rows = 2 * pairs - 2 * launch.margin;
        for (int i = static_cast<int>(threadIdx.x); i < words * rows;
             i += static_cast<int>(blockDim.x)) {
            const int kept_row = i / words;
            const int word = i - kept_row * words + 1;
            const int row = kept_row + launch.margin;
            const std::int64_t held = first_row + row - launch.held_first;
            const std::int64_t group = first_group + word;
            if (held < 0 || held >= launch.held_rows || group >= launch.groups) {
                continue;
            }
            const uint4* at = buffer + (2 * word + (row & 1)) * pitch + (row >> 1);
            uint4 value = *at;
            if (moved) {
                const uint2 even = even_from_moved(at, true, value);
                value.x = even.x;
                value.y = even.y;
            }
            launch.to[held * launch.groups + group] = value;
        }
    }
};

template <int thirties, Chances chances>
__global__ void __launch_bounds__(most_threads, 2)
    sand_kernel(const __grid_constant__ SandLaunch launch) {
    extern __shared__ uint4 sand_memory[];
    int* counters = reinterpret_cast<int*>(sand_memory);
    constexpr int counter_count = counters_bytes / 4;
    uint4* in = sand_memory + counters_bytes / 16;
    uint4* out = in + launch.words * SandTile<thirties, chances>::group_pitch;
    if (threadIdx.x < counter_count) {
        counters[threadIdx.x] = 0;
    }
    __syncthreads();
    const SandTile<thirties, chances> tile(launch, launch.first_tile + blockIdx.x);
    int generations = launch.generations;
    if (tile.load(in, counters + counter_count - 1)) {
        generations = 0;
    }
    bool moved = false;
    for (int g = 0; g < generations; ++g) {
        const std::uint64_t generation = launch.generation + static_cast<std::uint64_t>(g);
        if (sand_column_offset(generation) == 0) {
            tile.template step_all<0>(in, out, generation, moved, counters + g);
            moved = false;
        } else {
            tile.template step_all<1>(in, out, generation, moved, counters + g);
            moved = true;
        }
        __syncthreads();
        uint4* const other = in;
        in = out;
        out = other;
    }
    tile.store(in, moved);
}

} // namespace runner::sand_cuda
