// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/sand/sand_chances.cuh"
#include "kernels/sand/sand_pieces.cuh"

namespace runner::sand_cuda {

/// Threads of a block, and its blocks on a multiprocessor: they leave each thread 80 registers.
constexpr int most_threads = 256;
constexpr int blocks_at_once = 3;

constexpr int most_generations = 8; ///< of one launch

/// The left half of one word and the right half of another.
__device__ __forceinline__ std::uint32_t join(std::uint32_t left, std::uint32_t right) {
    return (left & 0xFFFF0000U) | (right & 0x0000FFFFU);
}
__device__ __forceinline__ uint4 join(const uint4& left, const uint4& right) {
    return make_uint4(join(left.x, right.x), join(left.y, right.y), join(left.z, right.z),
                      join(left.w, right.w));
}

/// Shared memory of a tile that keeps `words` groups and works on `pairs` pairs of rows.
struct SandTileMemory {
    /// Bytes of the pieces taken in each generation of a launch, and of SandPieces.
    static constexpr int counters_bytes = 4 * most_generations;
    static constexpr int head_bytes =
        (counters_bytes + static_cast<int>(sizeof(SandPieces)) + 15) / 16 * 16;

    static constexpr std::int64_t planes_bytes(std::int64_t words) { return 2 * (words + 1) * 64; }
    static constexpr std::int64_t valid_bytes(std::int64_t words) {
        return (2 * (words + 1) * 4 + 15) / 16 * 16;
    }
    static constexpr std::int64_t bytes(std::int64_t words, std::int64_t pairs) {
        return head_bytes + planes_bytes(words) + valid_bytes(words) +
               2 * (words + 1) * 2 * (pairs + 1) * 16;
    }
};

/// A tile's rows in one buffer of shared memory. Rows of one parity lie together for each group, so
/// that 32 lanes with a pair of rows each read 32 neighbours: group w, row 2j + p is at
/// (2w + p) · pitch + j. One more of each is there to be read and thrown away.
///
/// Beside the groups it keeps a tile needs up to 32 columns on each side. Both share one more
/// group: its high bits are the columns at the left of the tile, its low bits those at the right,
/// so that the groups close to a ring. What happens where the two meet never gets out of it.
template <int thirties, Chances chances> struct SandTile {
    static constexpr int pairs = 32 * thirties;
    static constexpr int pitch = pairs + 1;
    static constexpr int group_pitch = 2 * pitch;

    const SandLaunch& launch;
    std::int64_t first_row;   ///< of the tile's rows, even, may lie above the grid
    std::int64_t first_group; ///< that is kept
    int grid_low;             ///< the tile's rows that are in the grid
    int grid_high;
    uint4* x_planes;      ///< four of each word for column offset 0, then for 1
    std::uint32_t* valid; ///< the blocks of a word that exist and matter, likewise

    __device__ __forceinline__ SandTile(const SandLaunch& given, std::int64_t tile, uint4* memory)
        : launch(given),
          first_row((given.held_first & ~std::int64_t{1}) +
                    tile / given.strips * (2 * pairs - 2 * given.margin) - given.margin),
          first_group(tile % given.strips << given.log_words), grid_low(within(-first_row)),
          grid_high(within(given.rows - first_row)), x_planes(memory),
          valid(reinterpret_cast<std::uint32_t*>(memory +
                                                 SandTileMemory::planes_bytes(kept()) / 16)) {}

    /// Groups kept; the group of that number is the one that both sides share.
    __device__ __forceinline__ int kept() const { return 1 << launch.log_words; }

    /// Memory of the rows, of two buffers.
    __device__ __forceinline__ uint4* rows() const {
        return reinterpret_cast<uint4*>(valid) + SandTileMemory::valid_bytes(kept()) / 16;
    }

    static __device__ __forceinline__ int place(int word, int row) {
        return (2 * word + (row & 1)) * pitch + (row >> 1);
    }

    /// `value` held within what one can index the tile's rows with.
    static __device__ __forceinline__ int within(std::int64_t value) {
        return static_cast<int>(min(max(value, std::int64_t{0}), std::int64_t{2 * pairs}));
    }

    /// Bits of the blocks of a group that are whole within the grid's columns.
    __device__ __forceinline__ std::uint32_t blocks_within(std::int64_t group,
                                                           int column_offset) const {
        const std::int64_t left = (launch.columns - column_offset) / 2 - 32 * group;
        return group < 0 || left <= 0 ? 0U : left >= 32 ? 0xFFFFFFFFU : (1U << left) - 1U;
    }

    /// The x part of a group's draws; beyond the grid there are no blocks and any will do.
    __device__ __forceinline__ uint4 x_plane(std::int64_t group, int column_offset, int i) const {
        const std::int64_t inside = min(max(group, std::int64_t{0}), launch.groups - 1);
        return launch.tables[(column_offset * launch.groups + inside) * 4 + i];
    }

    /// The first column of the grid, of a word's group; of the shared word, that of the group at
    /// the right.
    __device__ __forceinline__ std::uint32_t first_column(int word) const {
        return static_cast<std::uint32_t>(64 * (first_group + word));
    }

    /// Fills what the blocks of a word have in common in all rows.
    __device__ __forceinline__ void load_words() const {
        const int words = kept() + 1;
        for (int i = static_cast<int>(threadIdx.x); i < 2 * words * 4;
             i += static_cast<int>(blockDim.x)) {
            const int column_offset = i >= words * 4 ? 1 : 0;
            const int word = i / 4 - column_offset * words;
            const bool shared = word == kept();
            const std::int64_t right = first_group + word;
            const std::int64_t left = shared ? first_group - 1 : right;
            x_planes[i] =
                join(x_plane(left, column_offset, i % 4), x_plane(right, column_offset, i % 4));
            if (i % 4 == 0) {
                // Within the shared word only this matters: what is within `margin` columns
                // matters.
                const std::uint32_t near = shared ? ~(0xFFFFFFFFU >> (launch.margin / 2)) |
                                                        ((1U << (launch.margin / 2)) - 1U)
                                                  : 0xFFFFFFFFU;
                valid[i / 4] = near & join(blocks_within(left, column_offset),
                                           blocks_within(right, column_offset));
            }
        }
    }

    /// Loads the tile, and what its pieces consist of.
    __device__ __forceinline__ void load(uint4* buffer, SandPieces& pieces) const {
        // Beyond the grid stand walls.
        const int held_low = within(launch.held_first - first_row);
        const int held_high = within(launch.held_first + launch.held_rows - first_row);
        const bool has_left = first_group > 0;
        const bool has_right = first_group + kept() < launch.groups;
        const uint4* from =
            launch.from + (first_row - launch.held_first) * launch.groups + first_group;
        const auto outside = [&](int row) {
            const std::uint32_t bits = row < grid_low || row >= grid_high ? ~0U : 0U;
            return make_uint4(bits, bits, bits, bits);
        };
        const int word = static_cast<int>(threadIdx.x) & (kept() - 1);
        const bool has_word = first_group + word < launch.groups;
        const int rows_at_once = static_cast<int>(blockDim.x) >> launch.log_words;
        for (int height = 0; height < thirties; ++height) {
            SandBits bits;
#pragma unroll 4
            for (int row = 64 * height + (static_cast<int>(threadIdx.x) >> launch.log_words);
                 row < 64 * (height + 1); row += rows_at_once) {
                uint4 value = outside(row);
                if (row >= held_low && row < held_high && has_word) {
                    value = from[row * launch.groups + word];
                    bits.add(value);
                }
                buffer[place(word, row)] = value;
            }
            atomicOr(&pieces.seen[word * thirties + height], bits.seen());
        }
        for (int row = static_cast<int>(threadIdx.x); row < 2 * pairs;
             row += static_cast<int>(blockDim.x)) {
            SandBits bits;
            uint4 left = outside(row);
            uint4 right = left;
            if (row >= held_low && row < held_high) {
                if (has_left) {
                    left = from[row * launch.groups - 1];
                    bits.add(left);
                }
                if (has_right) {
                    right = from[row * launch.groups + kept()];
                    bits.add(right);
                }
            }
            buffer[place(kept(), row)] = join(left, right);
            atomicOr(&pieces.seen[kept() * thirties + row / 64], bits.seen());
        }
    }

    /// Lists the pieces that can change, and copies the others from `in` to `out`. A piece writes
    /// the first row below itself in half of the generations; that row too stays where the piece
    /// does.
    __device__ __forceinline__ void choose_pieces(SandPieces& pieces, const uint4* in,
                                                  uint4* out) const {
        const int count = (kept() + 1) * thirties;
        const int lane = static_cast<int>(threadIdx.x & 31U);
        const int warps = static_cast<int>(blockDim.x >> 5U);
        for (int piece = static_cast<int>(threadIdx.x >> 5U); piece < count; piece += warps) {
            if (!pieces.template stays<thirties>(piece, kept() + 1)) {
                if (lane == 0) {
                    pieces.moving[atomicAdd(&pieces.count, 1)] = piece;
                }
                continue;
            }
            const int word = piece / thirties;
            const int height = piece - word * thirties;
            const int at = place(word, 64 * height) + lane;
            out[at] = in[at];
            out[at + pitch] = in[at + pitch];
            if (lane == 0 && height + 1 < thirties &&
                !pieces.template stays<thirties>(piece + 1, kept() + 1)) {
                out[at + 32] = in[at + 32];
            }
        }
    }

    /// From a place in a word to the same place in the word at its left.
    __device__ __forceinline__ int to_left(int word) const {
        return word == 0 ? kept() * group_pitch : -group_pitch;
    }
    __device__ __forceinline__ int to_right(int word) const {
        return word == kept() ? -kept() * group_pitch : group_pitch;
    }

    /// A buffer holds the even columns of a word, or, after a generation whose blocks start in odd
    /// columns, the even columns at the right of its odd ones. This makes the first from the
    /// second.
    __device__ __forceinline__ uint2 even_from_moved(const uint4* at, int word, uint4 own) const {
        const uint2 before = *reinterpret_cast<const uint2*>(at + to_left(word));
        return make_uint2(__funnelshift_l(before.x, own.x, 1), __funnelshift_l(before.y, own.y, 1));
    }
    /// And this the second from the first.
    __device__ __forceinline__ uint2 even_to_moved(const uint4* at, int word, uint4 own) const {
        const uint2 after = *reinterpret_cast<const uint2*>(at + to_right(word));
        return make_uint2(__funnelshift_r(own.x, after.x, 1), __funnelshift_r(own.y, after.y, 1));
    }

    /// The even columns beside the odd ones in the blocks of a generation.
    template <int column_offset>
    __device__ __forceinline__ uint2 even_columns(const uint4* at, int word, bool moved,
                                                  uint4 own) const {
        if constexpr (column_offset == 1) {
            return even_to_moved(at, word, own);
        } else {
            return moved ? even_from_moved(at, word, own) : make_uint2(own.x, own.y);
        }
    }

    /// One generation of 32 pairs of rows of one word, a pair a lane.
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
        using Blocks = SandBlocks<std::uint32_t>;
        Blocks blocks = column_offset == 0 ? Blocks{upper_even.x, upper_even.y, upper.z, upper.w,
                                                    lower_even.x, lower_even.y, lower.z, lower.w}
                                           : Blocks{upper.z, upper.w, upper_even.x, upper_even.y,
                                                    lower.z, lower.w, lower_even.x, lower_even.y};
        const int row = 2 * pair + row_offset;
        const int word_of_offset = column_offset * (kept() + 1) + word;
        const std::uint32_t exist =
            row >= grid_low && row + 1 < grid_high ? valid[word_of_offset] : 0U;
        if (__any_sync(0xFFFFFFFFU, (sand_unequal(blocks) & exist) != 0)) {
            sand_step(blocks, floor, exist,
                      SandWarpChances<chances>(launch, x_planes + 4 * word_of_offset,
                                               first_column(word) + column_offset,
                                               word == kept() ? 64 * (kept() + 1) : 0,
                                               static_cast<std::uint32_t>(first_row + row),
                                               static_cast<std::uint32_t>(generation)));
        }
        if constexpr (column_offset == 0) {
            out[top] = make_uint4(blocks.tl_high, blocks.tl_low, blocks.tr_high, blocks.tr_low);
            out[bottom] = make_uint4(blocks.bl_high, blocks.bl_low, blocks.br_high, blocks.br_low);
        } else {
            out[top] = make_uint4(blocks.tr_high, blocks.tr_low, blocks.tl_high, blocks.tl_low);
            out[bottom] = make_uint4(blocks.br_high, blocks.br_low, blocks.bl_high, blocks.bl_low);
        }
    }

    /// One generation of the pieces that can change; warps take them as they come free.
    template <int column_offset>
    __device__ __forceinline__ void step_all(const uint4* in, uint4* out, std::uint64_t generation,
                                             bool moved, const SandPieces& pieces,
                                             int* taken) const {
        const int lane = static_cast<int>(threadIdx.x & 31U);
        const int warp = static_cast<int>(threadIdx.x >> 5U);
        const int warps = static_cast<int>(blockDim.x >> 5U);
        const int row_offset = sand_row_offset(generation);
        const auto piece_of = [&](int i) { return i < pieces.count ? pieces.moving[i] : -1; };
        // Known to be the same in all lanes.
        int piece = __shfl_sync(0xFFFFFFFFU, piece_of(warp), 0);
        while (piece >= 0) {
            const int word = piece / thirties;
            const int pair = (piece - word * thirties) * 32 + lane;
            int next = 0;
            if (lane == 0) {
                next = piece_of(warps + atomicAdd(taken, 1)); // known when this piece is done
            }
            step<column_offset>(in, out, word, pair, generation, row_offset, moved);
            piece = __shfl_sync(0xFFFFFFFFU, next, 0);
        }
    }

    /// Writes the rows and groups that the tile keeps.
    __device__ __forceinline__ void store(const uint4* buffer, bool moved) const {
        const int low = max(within(launch.held_first - first_row), launch.margin);
        const int high = min(within(launch.held_first + launch.held_rows - first_row),
                             2 * pairs - launch.margin);
        const int words =
            static_cast<int>(min(launch.groups - first_group, static_cast<std::int64_t>(kept())));
        uint4* to = launch.to + (first_row - launch.held_first) * launch.groups + first_group;
        for (int i = static_cast<int>(threadIdx.x) + (low << launch.log_words);
             i < high << launch.log_words; i += static_cast<int>(blockDim.x)) {
            const int row = i >> launch.log_words;
            const int word = i & (kept() - 1);
            if (word >= words) {
                continue;
            }
            const uint4* at = buffer + place(word, row);
            uint4 value = *at;
            if (moved) {
                const uint2 even = even_from_moved(at, word, value);
                value.x = even.x;
                value.y = even.y;
            }
            to[row * launch.groups + word] = value;
        }
    }
};

template <int thirties, Chances chances>
__global__ void __launch_bounds__(most_threads, blocks_at_once)
    sand_kernel(const __grid_constant__ SandLaunch launch) {
    extern __shared__ uint4 sand_memory[];
    int* taken = reinterpret_cast<int*>(sand_memory);
    SandPieces& pieces = *reinterpret_cast<SandPieces*>(taken + SandTileMemory::counters_bytes / 4);
    for (int i = static_cast<int>(threadIdx.x); i < SandTileMemory::head_bytes / 4;
         i += static_cast<int>(blockDim.x)) {
        taken[i] = 0;
    }
    __syncthreads();
    const SandTile<thirties, chances> tile(launch, launch.first_tile + blockIdx.x,
                                           sand_memory + SandTileMemory::head_bytes / 16);
    uint4* in = tile.rows();
    uint4* out = in + (tile.kept() + 1) * SandTile<thirties, chances>::group_pitch;
    tile.load_words();
    tile.load(in, pieces);
    __syncthreads();
    tile.choose_pieces(pieces, in, out);
    __syncthreads();
    const int generations = pieces.count == 0 ? 0 : launch.generations;
    bool moved = false;
    for (int g = 0; g < generations; ++g) {
        const std::uint64_t generation = launch.generation + static_cast<std::uint64_t>(g);
        if (sand_column_offset(generation) == 0) {
            tile.template step_all<0>(in, out, generation, moved, pieces, taken + g);
            moved = false;
        } else {
            tile.template step_all<1>(in, out, generation, moved, pieces, taken + g);
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
