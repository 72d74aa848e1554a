// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/denoise/window_march/window_weight.cuh"
#include "kernels/denoise/window_means_call.hpp"
#include "kernels/denoise/window_means_shape.cuh"

#include <cstdint>

namespace runner::window_cuda {

/// WindowWeight::of() times `count`, 1 or 0; `any`: steps too.
template <bool any>
__device__ float weigh(const WindowWeight& weight, float distance, float count) {
    if (any && weight.is_step) {
        return distance <= weight.limit ? weight.one * count : 0.0F;
    }
    const float value = raised_weight(weight, distance, weight.start);
    return __fmaf_rn(value, count, -weight.least * count);
}

__device__ inline int clamped(int at, int first, int end) { return min(max(at, first), end - 1); }

/// A thread of a block. Patches of pz × py × px; py = 0: of any extents along y and x.
template <int pz, int py, int px, Source source> class Thread {
    static constexpr bool any = py == 0;
    static constexpr int each = rows_each(pz, py); ///< rows of a thread
    static constexpr int threads = threads_of(pz, py);
    static constexpr int layers = layers_of(pz);
    static constexpr int references = layers + pz - 1; ///< along z
    static constexpr int span = layers + 2 * (pz - 1); ///< voxels along z
    static constexpr int pitch = (rows + spare_rows(py)) * lanes;
    static constexpr int copied_layer = copied_rows(pz) * copied_lanes(pz);

  public:
    __device__ Thread(const WindowCall& call, const Corner& corner, const float* volume,
                      float* shared)
        : call_(call), volume_(volume), layer_(call.volume[1] * call.volume[2]), z_(corner.z),
          y_(corner.y + static_cast<int>(threadIdx.x) / lanes * each),
          x_(corner.x + static_cast<int>(threadIdx.x) % lanes),
          squares_(shared + threadIdx.x / lanes * each * lanes + threadIdx.x % lanes) {
        inside_ = is_inside(corner);
        starts_row_ = corner.x == 0;
        clear_spare_rows(shared + references * pitch);
        if constexpr (source == Source::copy) {
            copy(corner, shared + (references + layers) * pitch);
        }
        for (int j = 0; j < each; ++j) {
            counts_[j] = 1;
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
        float change[each][layers]; // of the means' voxels to those at the offset
        float square[each][references];
#pragma unroll
        for (int j = 0; j < each; ++j) {
            difference(j, oz, oy, ox, change[j], square[j]);
#pragma unroll
            for (int i = 0; i < references; ++i) {
                squares_[i * pitch + j * lanes] = square[j][i];
            }
        }
        if (!inside_) {
            count_rows(oy, ox);
        }
        __syncthreads();
        float weight[each][references];
#pragma unroll
        for (int i = 0; i < references; ++i) {
            distances(i, square, weight);
        }
        if (!inside_ && !(is_pair(z_, oz, call_.corner[0]) &&
                          is_pair(z_ + references - 1, oz, call_.corner[0]))) {
            clear_layers(oz, weight);
        }
        cover(weight, change);
    }

    __device__ void put(float* out) const {
        const auto lane = static_cast<int>(threadIdx.x) % lanes;
        const auto row = static_cast<int>(threadIdx.x) / lanes * each;
        for (int j = 0; j < each; ++j) {
            if (!is_whole(x_, lane, lanes, patch_x(), call_.volume[2]) ||
                !is_whole(y_ + j, row + j, rows, patch_y(), call_.volume[1])) {
                continue;
            }
            for (int i = 0; i < layers; ++i) {
                const int z = z_ + pz - 1 + i;
                if (z < call_.held.first + call_.held.layers) {
                    // −0 becomes 0, whichever zeros were added.
                    out[(z - call_.held.first) * layer_ + (y_ + j) * call_.volume[2] + x_] =
                        own_[j][pz - 1 + i] + __fdiv_rn(values_[j][i], sums_[j][i]) + 0.0F;
                }
            }
        }
    }

  private:
    __device__ int patch_y() const { return any ? call_.patch[1] : py; }
    __device__ int patch_x() const { return any ? call_.patch[2] : px; }

    /// Whether the block has all references that cover a place of an axis. The volume's first and
    /// last places have fewer.
    static __device__ bool is_whole(int at, int in_block, int block, int patch,
                                    std::int64_t volume) {
        return at < volume && (in_block >= patch - 1 || at == in_block) &&
               (in_block <= block - patch || at - in_block + block >= volume);
    }

    /// Whether every reference of the block has a candidate at every offset, and no row or column
    /// of the volume begins or ends in it.
    __device__ bool is_inside(const Corner& corner) const {
        const int low[3] = {corner.z, corner.y, corner.x};
        const int many[3] = {references, rows - patch_y() + 1, lanes - patch_x() + 1};
        bool inside = corner.y > 0 && corner.x > 0 && corner.y + rows < call_.volume[1] &&
                      corner.x + lanes < call_.volume[2];
        for (int i = 0; i < 3; ++i) {
            inside = inside && low[i] >= call_.half[i] &&
                     low[i] + many[i] - 1 + call_.half[i] <= call_.corner[i];
        }
        return inside;
    }

    /// Rows before the block's first have no references: their sums of weights are 0.
    static __device__ void clear_spare_rows(float* covered) {
        constexpr int floats = spare_rows(py) * lanes;
        for (int i = static_cast<int>(threadIdx.x); i < layers * floats; i += threads) {
            covered[i / floats * pitch + i % floats] = 0;
        }
    }

    __device__ void copy(const Corner& corner, float* to) {
        const auto half_z = static_cast<int>(call_.half[0]);
        const auto half_y = static_cast<int>(call_.half[1]);
        const auto half_x = static_cast<int>(call_.half[2]);
        const int floats = (span + 2 * half_z) * copied_layer;
        for (int i = static_cast<int>(threadIdx.x); i < floats; i += threads) {
            const int y = corner.y - half_y + i % copied_layer / copied_lanes(pz);
            const int x = corner.x - half_x + i % copied_lanes(pz);
            to[i] = column(y, x)[layer_at(corner.z - half_z + i / copied_layer)];
        }
        copy_ = to + half_z * copied_layer + (half_y + y_ - corner.y) * copied_lanes(pz) + half_x +
                x_ - corner.x;
        __syncthreads();
    }

    /// Whether all the block's layers at an offset are held.
    __device__ bool are_held(int oz) const {
        return z_ + oz >= call_.in.first && z_ + oz + span <= call_.in.first + call_.in.layers;
    }

    /// Where the sums of weights along z lie, behind the squares.
    __device__ float* covered() const {
        return squares_ + references * pitch + spare_rows(py) * lanes;
    }

    /// Places outside the volume become its nearest: their weights are 0.
    __device__ const float* column(int y, int x) const {
        return volume_ + clamped(y, 0, static_cast<int>(call_.volume[1])) * call_.volume[2] +
               clamped(x, 0, static_cast<int>(call_.volume[2]));
    }
    __device__ std::int64_t layer_at(int z) const {
        const auto first = static_cast<int>(call_.in.first);
        const auto end = static_cast<int>(call_.in.first + call_.in.layers);
        return (clamped(z, first, end) - first) * layer_;
    }

    /// Differences and sums of squares of row `j` at an offset.
    __device__ void difference(int j, int oz, int oy, int ox, float (&change)[layers],
                               float (&square)[references]) const {
        if constexpr (source == Source::copy) {
            const float* from = copy_ + oz * copied_layer + (oy + j) * copied_lanes(pz) + ox;
            differ(
                j, [&](int i) { return from[i * copied_layer]; }, change, square);
        } else {
            const float* from = column(y_ + j + oy, x_ + ox);
            if (are_held(oz)) {
                from += layer_at(z_ + oz);
                differ(
                    j, [&](int i) { return from[i * layer_]; }, change, square);
            } else {
                differ(
                    j, [&](int i) { return from[layer_at(z_ + i + oz)]; }, change, square);
            }
        }
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
    __device__ void distances(int i, const float (&square)[each][references],
                              float (&weight)[each][references]) const {
        float column[each + (any ? 0 : py - 1)];
        if (!any) {
#pragma unroll
            for (int r = 0; r < each + py - 1; ++r) {
                column[r] = r < each ? square[r][i] : squares_[i * pitch + r * lanes];
            }
        }
#pragma unroll
        for (int j = 0; j < each; ++j) {
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
            weight[j][i] = weigh<any>(call_.weight, distance, counts_[j]);
        }
    }

    static __device__ bool is_pair(int at, int offset, std::int64_t corner) {
        return min(at, at + offset) >= 0 && max(at, at + offset) <= corner;
    }

    /// References that are none, or have no candidate there, count nothing: those of a row,
    __device__ void count_rows(int oy, int ox) {
        const bool in_x = is_pair(x_, ox, call_.corner[2]);
#pragma unroll
        for (int j = 0; j < each; ++j) {
            counts_[j] = in_x && is_pair(y_ + j, oy, call_.corner[1]) ? 1.0F : 0.0F;
        }
    }
    /// and those of a layer.
    __device__ void clear_layers(int oz, float (&weight)[each][references]) const {
#pragma unroll
        for (int i = 0; i < references; ++i) {
            const bool in_z = is_pair(z_ + i, oz, call_.corner[0]);
#pragma unroll
            for (int j = 0; j < each; ++j) {
                weight[j][i] = in_z ? weight[j][i] : 0.0F;
            }
        }
    }

    /// Sums the weights over patches, and adds.
    __device__ void cover(const float (&weight)[each][references],
                          const float (&change)[each][layers]) {
        float along_z[each][layers];
#pragma unroll
        for (int j = 0; j < each; ++j) {
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
        if (starts_row_) {
            cover_layers<true>(along_z, change);
        } else {
            cover_layers<false>(along_z, change);
        }
    }

    template <bool starts_row>
    __device__ void cover_layers(const float (&along_z)[each][layers],
                                 const float (&change)[each][layers]) {
#pragma unroll
        for (int i = 0; i < layers; ++i) {
            cover_layer<starts_row>(i, along_z, change);
        }
    }

    /// The value of the lane that is `k` lower; 0 before the volume's first.
    template <bool starts_row> static __device__ float lower(float sum, int k) {
        const float value = __shfl_up_sync(0xFFFFFFFFU, sum, k);
        return starts_row && static_cast<int>(threadIdx.x) % lanes < k ? 0.0F : value;
    }

    template <bool starts_row>
    __device__ void cover_layer(int i, const float (&along_z)[each][layers],
                                const float (&change)[each][layers]) {
        constexpr int before = any ? 0 : py - 1;
        float column[before + each];
        if (!any) {
#pragma unroll
            for (int r = 0; r < before + each; ++r) {
                column[r] = r < before ? covered()[i * pitch + (r - before) * lanes]
                                       : along_z[r - before][i];
            }
        }
#pragma unroll
        for (int j = 0; j < each; ++j) {
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
            float total = lower<starts_row>(sum, patch_x() - 1);
#pragma unroll
            for (int k = patch_x() - 2; k >= 0; --k) {
                total += k > 0 ? lower<starts_row>(sum, k) : sum;
            }
            // The difference may be infinite where nothing weighs.
            const bool adds = !any || !call_.is_huge || total > 0;
            sums_[j][i] += total;
            values_[j][i] = __fmaf_rn(adds ? change[j][i] : 0.0F, total, values_[j][i]);
        }
    }

    const WindowCall& call_;
    const float* volume_;
    std::int64_t layer_;
    int z_;
    int y_;
    int x_;
    float* squares_;
    const float* copy_ = nullptr; ///< of the first voxel
    bool inside_;
    bool starts_row_;
    float counts_[each]; ///< 1, or 0 for rows of references that are no pair at the offset
    float own_[each][span];
    float values_[each][layers];
    float sums_[each][layers];
};

} // namespace runner::window_cuda
