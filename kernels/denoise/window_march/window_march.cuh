// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/denoise/window_march/window_march_volume.cuh"
#include "kernels/denoise/window_march/window_weight.cuh"

#include <cmath>
#include <cstdint>

namespace runner::window_march {

/// A thread of a block. It goes through the layers of its quad, a chunk at a step, and from the
/// last of an offset to the first of the next. At each step it has, of one chunk after the other:
///
///  * of this step's chunk the voxels' differences and their squares' sums along z; these go to the
///    quad below, which sums rows from its own up;
///  * of the chunk before the distances;
///  * of the chunk before that one the weights and their sums along z, which go to the quad above;
///  * of the chunk before that one the sums of weights over patches, which the means add.
///
/// So what is handed on is ready a step later, one barrier a step is enough, and there are always
/// exponentials to compute while shuffles and shared memory answer. A sum of weights goes where the
/// squares were that it came from: no other thread reads these. `inside`: is_inside().
///
/// The order of statements and loops is that of the fastest machine code found: the compiler's
/// schedule of another, with the same instructions, took a tenth longer.
template <bool inside> class March {
  public:
    __device__ March(const WindowCall& call, const Corner& corner, const float* volume,
                     float* shared)
        : call_(call), volume_(call, volume), z_(corner.z) {
        const auto lane = static_cast<int>(threadIdx.x) % lanes;
        const int above = lane / wide * warps + static_cast<int>(threadIdx.x) / lanes;
        row_ = 2 * above;
        place_ = lane % wide * 2;
        y_ = corner.y + row_;
        x_ = corner.x + place_;
        starts_row_ = corner.x == 0 && place_ == 0;
        for (int i = static_cast<int>(threadIdx.x); i < handed_floats; i += threads) {
            shared[i] = 0;
        }
        handed_ = reinterpret_cast<float4*>(shared) + above * wide + lane % wide;
        copy(corner, shared + handed_floats);
        begin();
    }

    /// Begins with an offset, and ends the one before. All threads of the block call it.
    __device__ __forceinline__ void visit(int oz, int oy, int ox) {
        const int place = ox + static_cast<int>(call_.half[2]); // in the copy, from the quad's
        const int from = oz * copied_layer + oy * pitch;
        const int at[2] = {from + copied_place(place), from + copied_place(place + 1)};
        step<0>(at);
        step<1>(at);
        if (!inside) {
            choose(oz, oy, ox);
        }
        steps<2>(at);
    }

    /// Ends the last offset.
    __device__ __forceinline__ void end() {
        const int any[2] = {0, 0};
        step<0>(any);
        step<1>(any);
        step<2>(any);
    }

    __device__ void put(float* out) const {
        for (int k = 0; k < quad; ++k) {
            const int y = y_ + k / 2;
            const int x = x_ + k % 2;
            if (!is_whole(x, place_ + k % 2, lanes, call_.volume[2]) ||
                !is_whole(y, row_ + k / 2, rows, call_.volume[1])) {
                continue;
            }
            for (int i = 0; i < layers; ++i) {
                const int z = z_ + patch - 1 + i;
                if (z < call_.held.first + call_.held.layers) {
                    // −0 becomes 0, whichever zeros were added.
                    out[(z - call_.held.first) * volume_.layer() + y * call_.volume[2] + x] =
                        own_[k][patch - 1 + i] + __fdiv_rn(values_[k][i], sums_[k][i]) + 0.0F;
                }
            }
        }
    }

  private:
    /// Where a place of a row lies in the copy, ≥ 0.
    static __device__ int copied_place(int place) {
        return (place & 1) * copied_plane + (place >> 1);
    }

    /// Before the first offset there is one of endless distances, whose weights are 0.
    __device__ void begin() {
        for (int k = 0; k < quad; ++k) {
            for (int i = 0; i < layers; ++i) {
                values_[k][i] = 0;
                sums_[k][i] = 0;
            }
            const float* from = volume_.column(y_ + k / 2, x_ + k % 2);
            for (int i = 0; i < span; ++i) {
                own_[k][i] = from[volume_.layer_at(z_ + i)];
            }
            for (int l = 0; l < chunk; ++l) {
                squares_[l][k] = INFINITY;
                distances_[l][k] = INFINITY;
                later_[l][k] = changes_[l][k] = along_z_[l][k] = 0;
            }
            for (int l = 0; l < chunk + patch - 1; ++l) {
                differences_[l][k] = 0;
            }
            weights_[0][k] = weights_[1][k] = 0;
            starts_[k] = call_.weight.start;
        }
    }

    __device__ void copy(const Corner& corner, float* to) {
        constexpr int copied = 2 * pitch;
        const auto half_z = static_cast<int>(call_.half[0]);
        const auto half_y = static_cast<int>(call_.half[1]);
        const auto half_x = static_cast<int>(call_.half[2]);
        const int floats = (span + 2 * half_z) * copied_layer;
        for (int i = static_cast<int>(threadIdx.x); i < floats; i += threads) {
            const int row = i % copied_layer / copied;
            const int place = i % copied;
            to[i / copied_layer * copied_layer + row * pitch + copied_place(place)] =
                volume_.column(corner.y - half_y + row,
                               corner.x - half_x +
                                   place)[volume_.layer_at(corner.z - half_z + i / copied_layer)];
        }
        copy_ = to + half_z * copied_layer + (half_y + row_) * pitch + place_ / 2;
        __syncthreads();
    }

    /// A reference that is none, or has no candidate at the offset, begins its weight so low that
    /// it is 0; those of whole layers are in a mask.
    __device__ __forceinline__ void choose(int oz, int oy, int ox) {
        const auto is_pair = [](int at, int offset, std::int64_t corner) {
            return static_cast<unsigned>(at) <= static_cast<unsigned>(corner) &&
                   static_cast<unsigned>(at + offset) <= static_cast<unsigned>(corner);
        };
#pragma unroll
        for (int k = 0; k < quad; ++k) {
            starts_[k] =
                is_pair(y_ + k / 2, oy, call_.corner[1]) && is_pair(x_ + k % 2, ox, call_.corner[2])
                    ? call_.weight.start
                    : -INFINITY;
        }
        const int low = min(max(0, -min(z_, z_ + oz)), references);
        const int end =
            max(min(references, static_cast<int>(call_.corner[0]) + 1 - max(z_, z_ + oz)), 0);
        pairs_ = ((1U << end) - 1) & ~((1U << low) - 1);
    }

    template <int c> __device__ __forceinline__ void steps(const int (&at)[2]) {
        if constexpr (c < chunks) {
            step<c>(at);
            steps<c + 1>(at);
        }
    }

    template <int c> __device__ __forceinline__ void step(const int (&at)[2]) {
        constexpr int before = (c + chunks - 1) % chunks;
        constexpr int before_that = (c + chunks - 2) % chunks;
        float4* const now = handed_ + c * handed_chunk;
        cover<c>(now); // of the offset before
        differ<c>(at);
        weigh<before_that>(handed_ + before_that * handed_chunk);
        measure(handed_ + before * handed_chunk);
        square(now);
        __syncthreads();
    }

    /// The differences of the voxels that chunk `c` needs and the one before did not.
    template <int c> __device__ __forceinline__ void differ(const int (&at)[2]) {
#pragma unroll
        for (int l = 0; l < chunk; ++l) {
#pragma unroll
            for (int k = 0; k < quad; ++k) {
                changes_[l][k] = later_[l][k];
                later_[l][k] = differences_[l][k];
            }
        }
#pragma unroll
        for (int l = 0; l < chunk + patch - 1; ++l) {
            const int i = c * chunk + l;
#pragma unroll
            for (int k = 0; k < quad; ++k) {
                differences_[l][k] =
                    c > 0 && l < patch - 1
                        ? differences_[chunk + l][k]
                        : copy_[at[k % 2] + i * copied_layer + k / 2 * pitch] - own_[k][i];
            }
        }
    }

    __device__ __forceinline__ void square(float4* now) {
#pragma unroll
        for (int l = 0; l < chunk; ++l) {
#pragma unroll
            for (int k = 0; k < quad; ++k) {
                squares_[l][k] = differences_[l][k] * differences_[l][k];
#pragma unroll
                for (int i = 1; i < patch; ++i) {
                    squares_[l][k] =
                        __fmaf_rn(differences_[l + i][k], differences_[l + i][k], squares_[l][k]);
                }
            }
        }
        if (row_ > 0) { // the sums of weights below the first quad stay 0
#pragma unroll
            for (int l = 0; l < chunk; ++l) {
                hand(squares_[l], now + l * handed_layer);
            }
        }
    }

    static __device__ __forceinline__ void hand(const float (&from)[quad], float4* to) {
        *to = make_float4(from[0], from[1], from[2], from[3]);
    }

    /// Weights of chunk `c`, and their sums along z where the march has all layers of a patch.
    template <int c> __device__ __forceinline__ void weigh(float4* handed) {
        float weights[patch - 1 + chunk][quad]; // first those of the layers before
#pragma unroll
        for (int l = 0; l < patch - 1 + chunk; ++l) {
#pragma unroll
            for (int k = 0; k < quad; ++k) {
                weights[l][k] = l < patch - 1 ? weights_[l][k] : 0;
            }
            if (l >= patch - 1) {
                constexpr int first = c * chunk - (patch - 1);
                weigh_layer(l - (patch - 1), first + l, weights[l]);
            }
        }
#pragma unroll
        for (int l = 0; l < chunk; ++l) {
            if (c * chunk + l >= patch - 1) {
#pragma unroll
                for (int k = 0; k < quad; ++k) {
                    along_z_[l][k] = weights[l][k] + weights[l + 1][k] + weights[l + 2][k];
                }
                hand(along_z_[l], handed + l * handed_layer + wide);
            }
        }
#pragma unroll
        for (int l = 0; l < patch - 1; ++l) {
#pragma unroll
            for (int k = 0; k < quad; ++k) {
                weights_[l][k] = weights[chunk + l][k];
            }
        }
    }

    /// Sums of squares over patches.
    __device__ __forceinline__ void measure(const float4* before) {
#pragma unroll
        for (int l = 0; l < chunk; ++l) {
            const float4 above = before[l * handed_layer + wide];
            const float columns[4][2] = {{squares_[l][0], squares_[l][1]},
                                         {squares_[l][2], squares_[l][3]},
                                         {above.x, above.y},
                                         {above.z, above.w}};
#pragma unroll
            for (int j = 0; j < 2; ++j) {
                const float first = columns[j][0] + columns[j + 1][0] + columns[j + 2][0];
                const float second = columns[j][1] + columns[j + 1][1] + columns[j + 2][1];
                const float third = __shfl_down_sync(0xFFFFFFFFU, first, 1);
                const float fourth = __shfl_down_sync(0xFFFFFFFFU, second, 1);
                distances_[l][2 * j] = first + second + third;
                distances_[l][2 * j + 1] = second + third + fourth;
            }
        }
    }

    /// Weighs the voxels of layer `l` of a chunk, which is layer `i` of references.
    __device__ __forceinline__ void weigh_layer(int l, int i, float (&weights)[quad]) const {
#pragma unroll
        for (int k = 0; k < quad; ++k) {
            weights[k] = weight(k, distances_[l][k]);
        }
        if (!inside && (pairs_ >> i & 1U) == 0) {
            asm volatile(""); // a branch that is seldom taken, in place of four selections
#pragma unroll
            for (int k = 0; k < quad; ++k) {
                weights[k] = 0;
            }
        }
    }

    __device__ __forceinline__ float weight(int k, float distance) const {
        const float start = inside ? call_.weight.start : starts_[k];
        return window_cuda::raised_weight(call_.weight, distance, start) - call_.weight.least;
    }

    /// Sums over patches of the weights of chunk `c`, and adds: the first layers of references
    /// complete no mean's.
    template <int c> __device__ __forceinline__ void cover(const float4* now) {
#pragma unroll
        for (int l = 0; l < chunk; ++l) {
            if (c * chunk + l >= patch - 1) {
                cover_layer(l, c * chunk + l - (patch - 1), now[l * handed_layer]);
            }
        }
    }

    __device__ __forceinline__ void cover_layer(int l, int i, const float4& below) {
        const float columns[4][2] = {{below.x, below.y},
                                     {below.z, below.w},
                                     {along_z_[l][0], along_z_[l][1]},
                                     {along_z_[l][2], along_z_[l][3]}};
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            const float third = columns[j][0] + columns[j + 1][0] + columns[j + 2][0];
            const float fourth = columns[j][1] + columns[j + 1][1] + columns[j + 2][1];
            float first = __shfl_up_sync(0xFFFFFFFFU, third, 1);
            float second = __shfl_up_sync(0xFFFFFFFFU, fourth, 1);
            if (!inside) {
                first = starts_row_ ? 0.0F : first;
                second = starts_row_ ? 0.0F : second;
            }
            add(i, 2 * j, changes_[l][2 * j], first + second + third);
            add(i, 2 * j + 1, changes_[l][2 * j + 1], second + third + fourth);
        }
    }

    __device__ __forceinline__ void add(int i, int k, float change, float total) {
        sums_[k][i] += total;
        values_[k][i] = __fmaf_rn(change, total, values_[k][i]);
    }

    const WindowCall& call_;
    const MarchVolume volume_;
    int z_;
    int y_;
    int x_;
    int row_;   ///< of the block
    int place_; ///< of the block, along x
    bool starts_row_;
    const float* copy_;    ///< of the quad's first voxel, but for half a window along x
    float4* handed_;       ///< the quad's
    unsigned pairs_ = ~0U; ///< bits of the layers of references that have candidates
    float starts_[quad];   ///< of weights
    float own_[quad][span];
    float differences_[chunk + patch - 1][quad];
    float later_[chunk][quad];   ///< changes_ of the chunk behind theirs
    float changes_[chunk][quad]; ///< of the means' voxels to those at the offset
    float distances_[chunk][quad];
    float squares_[chunk][quad];
    float weights_[patch - 1][quad]; ///< of the last layers
    float along_z_[chunk][quad];
    float values_[quad][layers];
    float sums_[quad][layers];
};

} // namespace runner::window_march
