// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/match/tensor/match_tensor_tile.cuh"

namespace runner::match_cuda {

/// 16 corners side by side along x, one layer of their patches: lane 4 · g + t has, of corners g
/// and g + 8, row t of the layer. Pairs are along x; 0 and 1 are the first pair, 2 and 3 the last.
struct TensorLayer {
    std::uint32_t pairs[4];
};

/// The same layer of 8 references' patches, each halved pair times −2: a reference is g.
struct TensorReferenceLayer {
    std::uint32_t pairs[2];
};

/// sums += products of a layer; of corners g and g + 8 with references 2t and 2t + 1.
__device__ inline void add_products(const TensorLayer& a, const TensorReferenceLayer& b,
                                    float (&sums)[4]) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a.pairs[0]), "r"(a.pairs[1]), "r"(a.pairs[2]), "r"(a.pairs[3]), "r"(b.pairs[0]),
          "r"(b.pairs[1]));
#else
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
            "{%0,%1,%2,%3};"
            : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
            : "r"(a.pairs[2 * i]), "r"(a.pairs[2 * i + 1]), "r"(b.pairs[i]));
    }
#endif
}

/// The 8 references of a block: along z two, in the columns of even and odd number.
struct TensorGroup {
    int ahead_z[2]; ///< from the block's first reference
    int ahead_y[2];
    int ahead_x[2];
    int steps; ///< along z, of both windows
    TensorReferenceLayer patches[TensorShape::patch];
};

__device__ inline TensorGroup tensor_group(const MatchCall& call, const SparseBlock& block,
                                           const TensorRoom& room) {
    const auto lane = static_cast<int>(threadIdx.x % 32);
    const int g = lane / 4;
    TensorGroup group;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        group.ahead_z[i] = min(i * block.step, block.reach[0]);
        group.ahead_y[i] = min(i * block.step, block.reach[1]);
        group.ahead_x[i] = min(i * block.step, block.reach[2]);
    }
    group.steps = group.ahead_z[1] - group.ahead_z[0] + static_cast<int>(call.window(0));
    const int z =
        static_cast<int>(call.half[0]) + (g % 2 == 0 ? group.ahead_z[0] : group.ahead_z[1]);
    const int x =
        static_cast<int>(call.half[2]) + (g / 2 % 2 == 0 ? group.ahead_x[0] : group.ahead_x[1]);
    const int y =
        static_cast<int>(call.half[1]) + (g < 4 ? group.ahead_y[0] : group.ahead_y[1]) + lane % 4;
    const std::uint32_t* words =
        room.words + z * TensorShape::words_layer + y * TensorShape::words_row;
    const int at[2] = {paired(x), paired(x + 2)};
    const __half2 factor = __floats2half2_rn(-2, -2);
#pragma unroll
    for (int i = 0; i < TensorShape::patch; ++i) {
#pragma unroll
        for (int k = 0; k < 2; ++k) {
            const __half2 pair = __hmul2(
                *reinterpret_cast<const __half2*>(words + i * TensorShape::words_layer + at[k]),
                factor);
            group.patches[i].pairs[k] = *reinterpret_cast<const std::uint32_t*>(&pair);
        }
    }
    return group;
}

/// Sums of corners g and g + 8 with references 2t and 2t + 1: |b|² − 2ab.
struct Sums {
    float of[4];
};

/// Calls `take(step, sums)` for each step along z of the 16 corners that begin at row `y`; up to 3
/// steps too many. `usual` windows and steps are the greatest.
template <bool usual, class Take>
__device__ inline void march(const TensorGroup& group, int y, const TensorRoom& room,
                             const Take& take) {
    constexpr int layer = TensorShape::words_layer;
    const auto lane = static_cast<int>(threadIdx.x % 32);
    const int g = lane / 4;
    const std::uint32_t* words =
        room.words + group.ahead_z[0] * layer + (y + lane % 4) * TensorShape::words_row + 2 * g;
    const float* norms = room.norms + group.ahead_z[0] * TensorShape::norms_layer +
                         y * TensorShape::norms_row + 2 * g;
    const auto read = [&](int z) {
        const auto first = *reinterpret_cast<const uint2*>(words + z * layer);
        const auto last = *reinterpret_cast<const uint2*>(words + z * layer + 4);
        return TensorLayer{{first.x, first.y, last.x, last.y}};
    };
    TensorLayer a[4] = {read(0), read(1), read(2), {}};
    // Layer z of the patches lies in a[z % 4].
    const auto step = [&](int i) {
        a[(i + 3) % 4] = read(i + 3);
        const auto norm = *reinterpret_cast<const float2*>(norms + i * TensorShape::norms_layer);
        float sums[4] = {norm.x, norm.x, norm.y, norm.y};
#pragma unroll
        for (int z = 0; z < TensorShape::patch; ++z) {
            add_products(a[(i + z) % 4], group.patches[z], sums);
        }
        return Sums{{sums[0], sums[1], sums[2], sums[3]}};
    };
    if constexpr (usual) {
#pragma unroll
        for (int k = 0; k < TensorShape::most_places; ++k) {
            take(k, step(k));
        }
    } else {
#pragma unroll 1
        for (int k = 0; k < group.steps; k += 4) {
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                take(k + i, step(i));
            }
            words += 4 * layer;
            norms += 4 * TensorShape::norms_layer;
        }
    }
}

/// What a lane knows of its corners and references in a row of corners.
struct TensorLane {
    int reference;  ///< the number in the block of reference 2t; 2t + 1 is 4 later
    int dy;         ///< from the beginning of their windows
    int dx;         ///< of corner g
    bool inside[2]; ///< corner g and g + 8 belong to the windows
};

__device__ inline TensorLane tensor_lane(const TensorReach& reach, const TensorGroup& group,
                                         int y) {
    const auto lane = static_cast<int>(threadIdx.x % 32);
    const int t = lane % 4;
    TensorLane mine;
    mine.reference = t;
    mine.dy = y - (t / 2 == 0 ? group.ahead_y[0] : group.ahead_y[1]);
    mine.dx = lane / 4 - (t % 2 == 0 ? group.ahead_x[0] : group.ahead_x[1]);
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        mine.inside[i] =
            static_cast<unsigned>(mine.dx + 8 * i) < static_cast<unsigned>(reach.window[2]) &&
            static_cast<unsigned>(mine.dy) < static_cast<unsigned>(reach.window[1]);
    }
    return mine;
}

/// The least of each column of candidates.
template <bool usual>
__device__ inline void find_least(const TensorReach& reach, const TensorGroup& group,
                                  TensorRoom& room) {
    const int later = usual ? TensorShape::most_step : group.ahead_z[1] - group.ahead_z[0];
    const auto window = static_cast<unsigned>(usual ? TensorShape::most_window : reach.window[0]);
    for (int y = static_cast<int>(threadIdx.x / 32); y < reach.places[1]; y += 8) {
        const float infinity = __uint_as_float(0x7F800000U);
        float least[4] = {infinity, infinity, infinity, infinity};
        march<usual>(group, y, room, [&](int k, const Sums& sums) {
            if (static_cast<unsigned>(k) < window) {
                least[0] = fminf(least[0], sums.of[0]);
                least[2] = fminf(least[2], sums.of[2]);
            }
            if (static_cast<unsigned>(k - later) < window) {
                least[1] = fminf(least[1], sums.of[1]);
                least[3] = fminf(least[3], sums.of[3]);
            }
        });
        const TensorLane lane = tensor_lane(reach, group, y);
        const int column = lane.dy * reach.window[2] + lane.dx;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            if (lane.inside[i / 2]) {
                room.columns[lane.reference + i % 2 * 4].least[column + i / 2 * 8] = least[i];
            }
        }
    }
}

/// The candidates that are no farther than their reference's bound.
template <bool usual>
__device__ inline void find_near(const TensorReach& reach, const TensorGroup& group,
                                 TensorRoom& room) {
    const auto t = static_cast<int>(threadIdx.x % 4);
    const float bound[2] = {room.bound[t], room.bound[t + 4]};
    const std::uint32_t window = (1U << reach.window[0]) - 1U;
    for (int y = static_cast<int>(threadIdx.x / 32); y < reach.places[1]; y += 8) {
        std::uint32_t near[4] = {0, 0, 0, 0};
        march<usual>(group, y, room, [&](int k, const Sums& sums) {
            const std::uint32_t bit = 1U << k;
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                near[i] |= sums.of[i] <= bound[i % 2] ? bit : 0;
            }
        });
        const TensorLane lane = tensor_lane(reach, group, y);
        const int place = group.ahead_z[0] * TensorShape::layer + y * TensorShape::row +
                          static_cast<int>(threadIdx.x % 32 / 4);
        // 16 bits each: of a corner with both references.
        const std::uint32_t both = window | window << (16 + group.ahead_z[1] - group.ahead_z[0]);
        std::uint32_t low = lane.inside[0] ? (near[0] | near[1] << 16) & both : 0;
        std::uint32_t high = lane.inside[1] ? (near[2] | near[3] << 16) & both : 0;
        while ((low | high) != 0) {
            const bool from_low = low != 0;
            const std::uint32_t left = from_low ? low : high;
            const int bit = __ffs(static_cast<int>(left)) - 1;
            high = from_low ? high : left & (left - 1);
            low = from_low ? left & (left - 1) : 0;
            const int reference = lane.reference + (bit < 16 ? 0 : 4);
            const int to = atomicAdd(&room.near[reference], 1);
            if (to < TensorShape::most_near) {
                room.columns[reference].near[to] = static_cast<std::uint16_t>(
                    place + bit % 16 * TensorShape::layer + (from_low ? 0 : 8));
            }
        }
    }
}

} // namespace runner::match_cuda
