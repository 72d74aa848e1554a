// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/match/match_sparse_block.cuh"
#include "kernels/queue/block_memory.cuh"

#include <cstdint>
#include <cuda_fp16.h>

namespace runner::match_cuda {

/// A block has 2 × 2 × 2 references, one for each warp. Places in it count from half a window
/// before the first.
struct TensorShape {
    static constexpr int patch = 4;
    static constexpr int most_window = 11;
    static constexpr int most_step = 3;
    static constexpr int most_places = most_window + most_step; ///< corners along y and x
    static constexpr int row = most_places + patch - 1;         ///< voxels along y and x
    /// Two layers begin 16 banks apart.
    static constexpr int layer = 304;
    /// A row has pairs of the words of places x and x + 8, for x up to 9. Four pairs of each of
    /// four rows are in different banks.
    static constexpr int words_row = 24;
    static constexpr int words_layer = row * words_row;
    static constexpr int norms_row = 16;
    static constexpr int norms_layer = row * norms_row;
    static constexpr int columns = 128; ///< at least most_window²
    static constexpr int most_near = 256;
    static_assert(layer >= row * row && layer % 32 == 16);
};

/// Where the word, or the norm, of place x ≤ 15 lies in its row: x and x + 8 are neighbours.
__device__ inline int paired(int x) { return x % 8 * 2 + x / 8; }

/// The columns of a reference: the least approximate distance of each column of candidates along z,
/// later the candidates that are worth an exact sum.
union TensorColumns {
    float least[TensorShape::columns];
    std::uint16_t near[TensorShape::most_near]; ///< places of their corners among the voxels
};

/// The shared memory of a block.
struct TensorRoom {
    static constexpr int references = 8;
    static constexpr int warps = references;
    static constexpr int threads = 32 * warps;
    static constexpr int layers = TensorShape::row;
    float voxels[layers * TensorShape::layer];
    /// Halves of a voxel and the next along x, less the mean and scaled. Reads reach a layer
    /// beyond.
    std::uint32_t words[layers * TensorShape::words_layer];
    float norms[layers * TensorShape::norms_layer]; ///< of the patches of halves, squared
    TensorColumns columns[references];
    float bound[references];
    int near[references];
    float low[warps];
    float high[warps];
};

/// The candidates of a block's references.
struct TensorReach {
    int window[3];
    int places[3]; ///< corners along each axis
    int low[3];    ///< the first corner that is in the volume, and past the last
    int high[3];
};

__device__ inline TensorReach tensor_reach(const MatchCall& call, const SparseBlock& block,
                                           const int (&references)[3]) {
    TensorReach reach;
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        reach.window[i] = static_cast<int>(call.window(i));
        reach.places[i] = reach.window[i] + min((references[i] - 1) * block.step, block.reach[i]);
        const std::int64_t from = block.at[i] - call.half[i];
        reach.low[i] = static_cast<int>(max(-from, std::int64_t{0}));
        reach.high[i] = static_cast<int>(
            min(call.corner[i] + 1 - from, static_cast<std::int64_t>(reach.places[i])));
    }
    return reach;
}

__device__ inline float warp_least(float value) {
#pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) {
        value = fminf(value, __shfl_xor_sync(whole_warp, value, apart));
    }
    return value;
}

__device__ inline float warp_greatest(float value) { return -warp_least(-value); }

/// Where the voxels of a block come from. Places outside of the buffer belong to no candidate; they
/// get the nearest voxel that is inside.
struct TensorSource {
    const float* corner; ///< the first voxel
    std::int64_t stride[3];
    int low[3]; ///< the first place that is inside, and the last
    int high[3];
    bool whole; ///< all are inside, and offsets are small

    template <bool inside> __device__ float read(int z, int y, int x) const {
        if constexpr (inside) {
            return __ldg(corner + static_cast<std::int64_t>(z) * static_cast<int>(stride[0]) +
                         y * static_cast<int>(stride[1]) + x);
        } else {
            return __ldg(corner + min(max(z, low[0]), high[0]) * stride[0] +
                         min(max(y, low[1]), high[1]) * stride[1] + min(max(x, low[2]), high[2]));
        }
    }
};

__device__ inline TensorSource tensor_source(const MatchCall& call, const SparseBlock& block,
                                             const float* volume) {
    constexpr std::int64_t last[3] = {TensorRoom::layers - 1, TensorShape::row - 1,
                                      TensorShape::row - 1};
    const std::int64_t extent[3] = {call.in_layers, call.volume[1], call.volume[2]};
    TensorSource source;
    source.stride[0] = call.volume[1] * call.volume[2];
    source.stride[1] = call.volume[2];
    source.stride[2] = 1;
    source.corner = volume;
    source.whole = source.stride[0] < 1 << 24;
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        const std::int64_t from = block.at[i] - call.half[i] - (i == 0 ? call.in_first : 0);
        source.corner += from * source.stride[i];
        source.low[i] = static_cast<int>(max(-from, std::int64_t{0}));
        source.high[i] = static_cast<int>(min(extent[i] - 1 - from, last[i]));
        source.whole = source.whole && source.low[i] == 0 && source.high[i] == last[i];
    }
    return source;
}

/// Reads all voxels of the room and finds their range: columns along z of 16 × 16, and then what is
/// left of every layer, an edge of 33.
template <bool inside>
__device__ inline void read_voxels_of(const TensorSource& source, TensorRoom& room) {
    constexpr int side = TensorShape::row - 1;
    const auto thread = static_cast<int>(threadIdx.x);
    const int lane = thread % 32;
    float least = __uint_as_float(0x7F800000U);
    float greatest = -least;
    const auto take = [&](int z, int y, int x) {
        const float value = source.template read<inside>(z, y, x);
        room.voxels[z * TensorShape::layer + y * TensorShape::row + x] = value;
        least = fminf(least, value);
        greatest = fmaxf(greatest, value);
    };
#pragma unroll
    for (int z = 0; z < TensorRoom::layers; ++z) {
        take(z, thread / side, thread % side);
    }
#pragma unroll
    for (int z = 0; z < TensorRoom::layers; z += TensorRoom::warps) {
        if (z + thread / 32 < TensorRoom::layers) {
            take(z + thread / 32, lane < side ? side : lane - side, lane < side ? lane : side);
        }
    }
    if (thread < TensorRoom::layers) {
        take(thread, side, side);
    }
    least = warp_least(least);
    greatest = warp_greatest(greatest);
    if (lane == 0) {
        room.low[thread / 32] = least;
        room.high[thread / 32] = greatest;
    }
}

__device__ inline void read_tensor_tile(const MatchCall& call, const SparseBlock& block,
                                        const float* volume, TensorRoom& room) {
    const TensorSource source = tensor_source(call, block, volume);
    if (source.whole) {
        read_voxels_of<true>(source, room);
    } else {
        read_voxels_of<false>(source, room);
    }
}

/// How voxels become halves: fma(voxel, scale, −mean · scale).
struct TensorScale {
    float scale;
    float shift;
    bool usable; ///< otherwise every candidate gets an exact sum
};

__device__ inline TensorScale tensor_scale(const MatchCall& call, const TensorRoom& room) {
    const auto lane = static_cast<int>(threadIdx.x % 32);
    const float least = warp_least(room.low[lane % TensorRoom::warps]);
    const float greatest = warp_greatest(room.high[lane % TensorRoom::warps]);
    // About the mean of the references: their norms are small then, and so are the errors.
    const int at = (static_cast<int>(call.half[0]) + lane / 8 * 2) * TensorShape::layer +
                   (static_cast<int>(call.half[1]) + lane / 2 % 4 * 2) * TensorShape::row +
                   static_cast<int>(call.half[2]) + lane % 2 * 3;
    float mean = room.voxels[at] * (1.0F / 32);
#pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) {
        mean += __shfl_xor_sync(whole_warp, mean, apart);
    }
    mean = fminf(fmaxf(mean, least), greatest);
    const float most = fmaxf(greatest - mean, mean - least);
    TensorScale scale;
    scale.usable = most >= 0x1p-40F && most <= 0x1p50F;
    // The greatest becomes 1024 … 2048.
    const auto exponent = static_cast<int>(__float_as_uint(most) >> 23 & 255U) - 127;
    scale.scale = scale.usable
                      ? __uint_as_float(static_cast<std::uint32_t>(10 - exponent + 127) << 23)
                      : 1.0F;
    // Whole numbers stay whole, so halves hold them exactly.
    scale.shift = -rintf(mean * scale.scale);
    return scale;
}

/// Makes the halves of a line along z, and of its and the next three lines along x the squares,
/// summed along z too.
template <int count>
__device__ inline void make_halves_of(const TensorScale& scale, int first, int y, int x,
                                      TensorRoom& room) {
    const float* from = room.voxels + first * TensorShape::layer + y * TensorShape::row + x;
    std::uint32_t* words =
        room.words + first * TensorShape::words_layer + y * TensorShape::words_row;
    const bool twice = x == 8 || x == 9; // the first of the last two pairs too
    float* norms =
        room.norms + first * TensorShape::norms_layer + y * TensorShape::norms_row + paired(x);
    float four[count];
#pragma unroll
    for (int z = 0; z < count; ++z) {
        const float* at = from + z * TensorShape::layer;
        const __half2 halves = __floats2half2_rn(__fmaf_rn(at[0], scale.scale, scale.shift),
                                                 __fmaf_rn(at[1], scale.scale, scale.shift));
        const auto word = *reinterpret_cast<const std::uint32_t*>(&halves);
        words[z * TensorShape::words_layer + paired(x)] = word;
        if (twice) {
            words[z * TensorShape::words_layer + 2 * x] = word;
        }
        const float2 rounded = __half22float2(halves);
        const float two = __fmaf_rn(rounded.x, rounded.x, rounded.y * rounded.y);
        four[z] = two + __shfl_down_sync(whole_warp, two, 2, 16);
    }
#pragma unroll
    for (int z = 0; z + 3 < count; ++z) {
        norms[z * TensorShape::norms_layer] = (four[z] + four[z + 1]) + (four[z + 2] + four[z + 3]);
    }
}

/// Makes the halves, and for each line of voxels the squares summed over z and x.
__device__ inline void make_halves(const TensorScale& scale, TensorRoom& room) {
    constexpr int layers = TensorRoom::layers;
    const auto thread = static_cast<int>(threadIdx.x);
    const int x = thread % 16;
    // The last row, by halves of the layers: sums of four layers each.
    constexpr int half = (layers - 3) / 2;
    static_assert(2 * half + 3 == layers);
    make_halves_of<layers>(scale, 0, thread / 16, x, room);
    if (thread / 32 == TensorRoom::warps - 1) {
        make_halves_of<half + 3>(scale, thread / 16 % 2 * half, 16, x, room);
    }
}

/// Sums those along y, in place. Corners that are not in the volume get infinity.
__device__ inline void finish_norms(const TensorReach& reach, TensorRoom& room) {
    constexpr int layers = TensorRoom::layers - 3;
    const auto i = static_cast<int>(threadIdx.x);
    const int z = i / TensorShape::norms_row;
    const int x = i % TensorShape::norms_row;
    if (z >= layers) {
        return;
    }
    const bool in_line =
        z >= reach.low[0] && z < reach.high[0] && x >= reach.low[2] && x < reach.high[2];
    const int low = in_line ? reach.low[1] : TensorShape::row;
    float* norms = room.norms + z * TensorShape::norms_layer + paired(x);
    float four[TensorShape::row];
#pragma unroll
    for (int y = 0; y < TensorShape::row; ++y) {
        four[y] = norms[y * TensorShape::norms_row];
    }
#pragma unroll
    for (int y = 0; y < TensorShape::most_places; ++y) {
        const float sum = (four[y] + four[y + 1]) + (four[y + 2] + four[y + 3]);
        norms[y * TensorShape::norms_row] =
            y >= low && y < reach.high[1] ? sum : __uint_as_float(0x7F800000U);
    }
}

} // namespace runner::match_cuda
