// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/denoise/window_means_work.hpp"

#include <cstdint>

namespace runner::window_cuda {

/// A block has a thread for `rows_each` rows of each column of 32 × 32 voxels, of several layers.
/// It makes the means of those in the middle: sums over patches take the others away, a patch but
/// one on either side.
inline constexpr int lanes = 32;
inline constexpr int warps = 16;
inline constexpr int rows_each = 2;
inline constexpr int rows = warps * rows_each;
inline constexpr int threads = lanes * warps;

/// Layers of means of a block, which a thread keeps in registers.
constexpr int layers_of(int pz) { return pz == 1 ? 1 : (pz == 3 ? 7 : (pz == 2 ? 8 : 4)); }
/// Rows that a block reads beside those that it writes, with garbage where they are none.
constexpr int spare_rows(int py) { return py == 0 ? Match::max_patch - 1 : py - 1; }

/// Floats of shared memory; py = 0: any.
constexpr int shared_floats(int pz, int py) {
    return (2 * layers_of(pz) + pz - 1) * (rows + spare_rows(py)) * lanes;
}

/// Where a block's first voxel lies: that of its first thread and of its first reference.
struct Corner {
    int z;
    int y;
    int x;
};

/// As WindowWeight::of(); `any`: steps too.
template <bool any> __device__ float weigh(const WindowWeight& weight, float distance) {
    if (any && weight.is_step) {
        return distance <= weight.limit ? weight.one : 0.0F;
    }
    const float s = __saturatef(__fmaf_rn(distance, weight.slope, weight.start));
    const float rounded = __fmaf_rn(s, WindowWeight::range, weight.rounder);
    const float f = __fmaf_rn(s, WindowWeight::range, weight.rounder - rounded);
    float power = exp2_term(5);
    power = __fmaf_rn(power, f, exp2_term(4));
    power = __fmaf_rn(power, f, exp2_term(3));
    power = __fmaf_rn(power, f, exp2_term(2));
    power = __fmaf_rn(power, f, exp2_term(1));
    power = __fmaf_rn(power, f, exp2_term(0));
    return __uint_as_float(__float_as_uint(power) + (__float_as_uint(rounded) << 23)) -
           weight.least;
}

__device__ inline int clamped(int at, int first, int end) { return min(max(at, first), end - 1); }

/// A thread of a block. Patches of pz × py × px; py = 0: of any extents along y and x.
template <int pz, int py, int px> class Thread {
    static constexpr bool any = py == 0;
    static constexpr int layers = layers_of(pz);
    static constexpr int references = layers + pz - 1; ///< along z
    static constexpr int span = layers + 2 * (pz - 1); ///< voxels along z
    static constexpr int pitch = (rows + spare_rows(py)) * lanes;

  public:
    __device__ Thread(const WindowWork& work, const Corner& corner, const float* volume,
                      float* shared)
        : work_(work), volume_(volume), layer_(work.volume[1] * work.volume[2]), z_(corner.z),
          y_(corner.y + static_cast<int>(threadIdx.x) / lanes * rows_each),
          x_(corner.x + static_cast<int>(threadIdx.x) % lanes),
          squares_(shared + threadIdx.x / lanes * rows_each * lanes + threadIdx.x % lanes) {
        inside_ = is_inside(corner);
        for (int j = 0; j < rows_each; ++j) {
            for (int i = 0; i < layers; ++i) {
                values_[j][i] = 0;
                sums_[j][i] = 0;
            }
            const float* from = column(y_ + j, x_);
            for (int i = 0; i < span; ++i) {
                own_[j][i] = from[layer_at(z_ + i)];
            }
        }
    }

    /// Adds what one offset gives. All threads of the block call it.
    __device__ void visit(int oz, int oy, int ox) {
        float change[rows_each][layers]; // of the means' voxels to those at the offset
        float square[rows_each][references];
#pragma unroll
        for (int j = 0; j < rows_each; ++j) {
            const float* from = column(y_ + j + oy, x_ + ox);
            if (are_held(oz)) {
                from += layer_at(z_ + oz);
                differ(
                    j, [&](int i) { return from[i * layer_]; }, change[j], square[j]);
            } else {
                differ(
                    j, [&](int i) { return from[layer_at(z_ + i + oz)]; }, change[j], square[j]);
            }
#pragma unroll
            for (int i = 0; i < references; ++i) {
                squares_[i * pitch + j * lanes] = square[j][i];
            }
        }
        __syncthreads();
        float weight[rows_each][references];
#pragma unroll
        for (int i = 0; i < references; ++i) {
            distances(i, square, weight);
        }
        if (!inside_) {
            mask(oz, oy, ox, weight);
        }
        cover(weight, change);
    }

    __device__ void put(float* out) const {
        const int lane = threadIdx.x % lanes;
        const int row = threadIdx.x / lanes * rows_each;
        for (int j = 0; j < rows_each; ++j) {
            if (lane < patch_x() - 1 || lane > lanes - patch_x() || row + j < patch_y() - 1 ||
                row + j > rows - patch_y() || x_ >= work_.volume[2] || y_ + j >= work_.volume[1]) {
                continue;
            }
            for (int i = 0; i < layers; ++i) {
                const int z = z_ + pz - 1 + i;
                if (z < work_.held.first + work_.held.layers) {
                    // −0 becomes 0, whichever zeros were added.
                    out[(z - work_.held.first) * layer_ + (y_ + j) * work_.volume[2] + x_] =
                        own_[j][pz - 1 + i] + __fdiv_rn(values_[j][i], sums_[j][i]) + 0.0F;
                }
            }
        }
    }

  private:
    __device__ int patch_y() const { return any ? work_.patch[1] : py; }
    __device__ int patch_x() const { return any ? work_.patch[2] : px; }

    /// Whether every reference of the block has a candidate at every offset.
    __device__ bool is_inside(const Corner& corner) const {
        const int low[3] = {corner.z, corner.y, corner.x};
        const int many[3] = {references, rows - patch_y() + 1, lanes - patch_x() + 1};
        bool inside = true;
        for (int i = 0; i < 3; ++i) {
            inside = inside && low[i] >= work_.half[i] &&
                     low[i] + many[i] - 1 + work_.half[i] <= work_.corner[i];
        }
        return inside;
    }

    /// Whether all the block's layers at an offset are held.
    __device__ bool are_held(int oz) const {
        return z_ + oz >= work_.in.first && z_ + oz + span <= work_.in.first + work_.in.layers;
    }

    /// Where the sums of weights along z lie, behind the squares.
    __device__ float* covered() const {
        return squares_ + references * pitch + spare_rows(py) * lanes;
    }

    /// Places outside the volume become its nearest: their weights are 0.
    __device__ const float* column(int y, int x) const {
        return volume_ + clamped(y, 0, static_cast<int>(work_.volume[1])) * work_.volume[2] +
               clamped(x, 0, static_cast<int>(work_.volume[2]));
    }
    __device__ std::int64_t layer_at(int z) const {
        const auto first = static_cast<int>(work_.in.first);
        const auto end = static_cast<int>(work_.in.first + work_.in.layers);
        return (clamped(z, first, end) - first) * layer_;
    }

    /// Sums of squares along z.
    template <class Load>
    __device__ void differ(int j, const Load& load, float (&change)[layers],
                           float (&square)[references]) const {
        float e[span];
#pragma unroll
        for (int i = 0; i < span; ++i) {
            e[i] = load(i) - own_[j][i];
            if (i >= pz - 1 && i < pz - 1 + layers) {
                change[i - (pz - 1)] = e[i];
            }
        }
#pragma unroll
        for (int i = 0; i < references; ++i) {
            square[i] = e[i] * e[i];
#pragma unroll
            for (int k = 1; k < pz; ++k) {
                square[i] = __fmaf_rn(e[i + k], e[i + k], square[i]);
            }
        }
    }

    /// Weights of the references of one layer, from the sums of squares of rows above.
    __device__ void distances(int i, const float (&square)[rows_each][references],
                              float (&weight)[rows_each][references]) const {
        float column[rows_each + (any ? 0 : py - 1)];
        if (!any) {
#pragma unroll
            for (int r = 0; r < rows_each + py - 1; ++r) {
                column[r] = r < rows_each ? square[r][i] : squares_[i * pitch + r * lanes];
            }
        }
#pragma unroll
        for (int j = 0; j < rows_each; ++j) {
            float sum = square[j][i];
            if (any) {
                for (int k = 1; k < patch_y(); ++k) {
                    sum += squares_[i * pitch + (j + k) * lanes];
                }
            } else {
#pragma unroll
                for (int k = 1; k < py; ++k) {
                    sum += column[j + k];
                }
            }
            float distance = sum;
#pragma unroll
            for (int k = 1; k < patch_x(); ++k) {
                distance += __shfl_down_sync(0xFFFFFFFFU, sum, k);
            }
            weight[j][i] = weigh<any>(work_.weight, distance);
        }
    }

    /// References that are none, or have no candidate there, weigh nothing.
    __device__ void mask(int oz, int oy, int ox, float (&weight)[rows_each][references]) const {
        const auto is_pair = [](int at, int offset, std::int64_t corner) {
            return min(at, at + offset) >= 0 && max(at, at + offset) <= corner;
        };
        const bool in_x = is_pair(x_, ox, work_.corner[2]);
#pragma unroll
        for (int j = 0; j < rows_each; ++j) {
            const bool in_row = in_x && is_pair(y_ + j, oy, work_.corner[1]);
#pragma unroll
            for (int i = 0; i < references; ++i) {
                weight[j][i] = in_row && is_pair(z_ + i, oz, work_.corner[0]) ? weight[j][i] : 0.0F;
            }
        }
    }

    /// Sums the weights over patches, and adds.
    __device__ void cover(const float (&weight)[rows_each][references],
                          const float (&change)[rows_each][layers]) {
        float along_z[rows_each][layers];
#pragma unroll
        for (int j = 0; j < rows_each; ++j) {
#pragma unroll
            for (int i = 0; i < layers; ++i) {
                along_z[j][i] = weight[j][i];
#pragma unroll
                for (int k = 1; k < pz; ++k) {
                    along_z[j][i] += weight[j][i + k];
                }
                covered()[i * pitch + j * lanes] = along_z[j][i];
            }
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < layers; ++i) {
            cover_layer(i, along_z, change);
        }
    }

    __device__ void cover_layer(int i, const float (&along_z)[rows_each][layers],
                                const float (&change)[rows_each][layers]) {
        constexpr int before = any ? 0 : py - 1;
        float column[before + rows_each];
        if (!any) {
#pragma unroll
            for (int r = 0; r < before + rows_each; ++r) {
                column[r] = r < before ? covered()[i * pitch + (r - before) * lanes]
                                       : along_z[r - before][i];
            }
        }
#pragma unroll
        for (int j = 0; j < rows_each; ++j) {
            float sum = 0;
            if (any) {
                sum = covered()[i * pitch + (j - (patch_y() - 1)) * lanes];
                for (int k = patch_y() - 2; k >= 0; --k) {
                    sum += covered()[i * pitch + (j - k) * lanes];
                }
            } else {
                sum = column[j];
#pragma unroll
                for (int k = 1; k < py; ++k) {
                    sum += column[j + k];
                }
            }
            float total = __shfl_up_sync(0xFFFFFFFFU, sum, patch_x() - 1);
#pragma unroll
            for (int k = patch_x() - 2; k >= 0; --k) {
                total += __shfl_up_sync(0xFFFFFFFFU, sum, k);
            }
            // The difference may be infinite where nothing weighs.
            const bool adds = !any || !work_.is_huge || total > 0;
            sums_[j][i] += total;
            values_[j][i] = __fmaf_rn(adds ? change[j][i] : 0.0F, total, values_[j][i]);
        }
    }

    const WindowWork& work_;
    const float* volume_;
    std::int64_t layer_;
    int z_;
    int y_;
    int x_;
    float* squares_;
    bool inside_;
    float own_[rows_each][span];
    float values_[rows_each][layers];
    float sums_[rows_each][layers];
};

} // namespace runner::window_cuda
