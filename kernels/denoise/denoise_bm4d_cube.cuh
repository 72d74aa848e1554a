// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/denoise/denoise_bm4d_call.hpp"
#include "kernels/match/match_device.cuh"

#include <cstdint>

namespace runner::bm4d_cuda {

enum class Pass { hard, wiener };

__device__ inline void add_units(std::int64_t* sum, std::int64_t units) {
    atomicAdd(reinterpret_cast<unsigned long long*>(sum), static_cast<unsigned long long>(units));
}

/// What groups are read from and added to.
struct Groups {
    Bm4dVolumes volumes;
    MatchLists lists;
    Bm4dSums sums;
};

/// Groups of so many patches of 4 × 4 × 4, a warp each. Along the group and along z a lane has the
/// values of one y and x (the lower 16 lanes have the first half of the group, the others the
/// second); along y and x it has layers of patches. Between the two the values go through shared
/// memory.
template <int group> struct Cube {
    static constexpr int warps = 4;
    static constexpr int half = group / 2; ///< patches of a lane
    static constexpr int own = group / 8;  ///< layers of patches of a lane
    static constexpr int pitch = 20;       ///< floats of a layer of a patch: no bank conflicts
    static constexpr int floats = 4 * group * pitch;
    static constexpr int levels = group == 8 ? 3 : (group == 16 ? 4 : 5);

    /// Where coefficient `i` of a lane's half stands along the group.
    __device__ static int place(int i, int upper) {
        if (i == 0) {
            return upper;
        }
        int length = 1;
        while (2 * length <= i) {
            length *= 2;
        }
        return (2 + upper) * length + i - length;
    }

    /// One level of Haar's transform of the first 2·length values, which become as many means and
    /// then as many half differences; and all levels below.
    template <int length> __device__ static void split(float (&x)[half][4]) {
        if constexpr (length > 0) {
            float halves[length][4];
#pragma unroll
            for (int i = 0; i < length; ++i) {
#pragma unroll
                for (int z = 0; z < 4; ++z) {
                    const float a = x[2 * i][z];
                    const float b = x[2 * i + 1][z];
                    x[i][z] = (a + b) * 0.5F;
                    halves[i][z] = (a - b) * 0.5F;
                }
            }
#pragma unroll
            for (int i = 0; i < length; ++i) {
#pragma unroll
                for (int z = 0; z < 4; ++z) {
                    x[length + i][z] = halves[i][z];
                }
            }
            split<length / 2>(x);
        }
    }

    /// The inverse of it.
    template <int length> __device__ static void join(float (&x)[half][4]) {
        if constexpr (length < half) {
            float pairs[2 * length][4];
#pragma unroll
            for (int i = 0; i < length; ++i) {
#pragma unroll
                for (int z = 0; z < 4; ++z) {
                    pairs[2 * i][z] = x[i][z] + x[length + i][z];
                    pairs[2 * i + 1][z] = x[i][z] - x[length + i][z];
                }
            }
#pragma unroll
            for (int i = 0; i < 2 * length; ++i) {
#pragma unroll
                for (int z = 0; z < 4; ++z) {
                    x[i][z] = pairs[i][z];
                }
            }
            join<2 * length>(x);
        }
    }

    __device__ static void split_group(int upper, float (&x)[half][4]) {
        split<half / 2>(x);
#pragma unroll
        for (int z = 0; z < 4; ++z) {
            const float other = __shfl_xor_sync(match_cuda::whole_warp, x[0][z], 16);
            x[0][z] = (upper == 0 ? x[0][z] + other : other - x[0][z]) * 0.5F;
        }
    }

    __device__ static void join_group(int upper, float (&x)[half][4]) {
#pragma unroll
        for (int z = 0; z < 4; ++z) {
            const float other = __shfl_xor_sync(match_cuda::whole_warp, x[0][z], 16);
            x[0][z] = upper == 0 ? x[0][z] + other : other - x[0][z];
        }
        join<1>(x);
    }

    /// A lane's voxels of the group's patches, transformed along the group.
    __device__ static void gather(const Bm4dCall& call, const float* volume, std::int64_t corner,
                                  float (&x)[half][4]) {
        const auto lane = static_cast<int>(threadIdx.x) % 32;
        const int upper = lane / 16;
        const std::int64_t line = call.match.volume[2];
        const std::int64_t layer = call.match.volume[1] * line;
        const float* base = volume - call.match.in_first * layer + lane % 16 / 4 * line + lane % 4;
#pragma unroll
        for (int i = 0; i < half; ++i) {
            const float* from =
                base + __shfl_sync(match_cuda::whole_warp, corner, upper * half + i);
#pragma unroll
            for (int z = 0; z < 4; ++z) {
                x[i][z] = __ldg(from + z * layer);
            }
        }
        split_group(upper, x);
    }

    /// The spectrum of what gather() made: layer p of a lane is number lane + 32·p, four of them a
    /// patch.
    template <Basis basis>
    __device__ static void transform(const Bm4dCall& call, const float (&x)[half][4], float* shared,
                                     float (&spectrum)[own][4][4]) {
        const auto lane = static_cast<int>(threadIdx.x) % 32;
        const int upper = lane / 16;
        __syncwarp();
#pragma unroll
        for (int i = 0; i < half; ++i) {
            float along_z[4] = {x[i][0], x[i][1], x[i][2], x[i][3]};
            transform_line<basis, 4>(call.table[0], along_z);
#pragma unroll
            for (int z = 0; z < 4; ++z) {
                shared[(place(i, upper) * 4 + z) * pitch + lane % 16] = along_z[z];
            }
        }
        __syncwarp();
#pragma unroll
        for (int p = 0; p < own; ++p) {
            const auto* from = reinterpret_cast<const float4*>(shared + (lane + 32 * p) * pitch);
#pragma unroll
            for (int y = 0; y < 4; ++y) {
                const float4 row = from[y];
                spectrum[p][y][0] = row.x;
                spectrum[p][y][1] = row.y;
                spectrum[p][y][2] = row.z;
                spectrum[p][y][3] = row.w;
            }
            along_y(spectrum[p],
                    [&](float(&at)[4]) { transform_line<basis, 4>(call.table[1], at); });
#pragma unroll
            for (int y = 0; y < 4; ++y) {
                transform_line<basis, 4>(call.table[2], spectrum[p][y]);
            }
        }
    }

    template <class Change>
    __device__ static void along_y(float (&values)[4][4], const Change& change) {
#pragma unroll
        for (int x = 0; x < 4; ++x) {
            float line[4] = {values[0][x], values[1][x], values[2][x], values[3][x]};
            change(line);
#pragma unroll
            for (int y = 0; y < 4; ++y) {
                values[y][x] = line[y];
            }
        }
    }

    /// The hard threshold; gives how many are left.
    __device__ static int keep_large(const Bm4dCall& call, float (&spectrum)[own][4][4]) {
        const auto lane = static_cast<int>(threadIdx.x) % 32;
        int left = 0;
#pragma unroll
        for (int p = 0; p < own; ++p) {
            const float threshold = call.threshold[haar_exponent(lane / 4 + 8 * p, levels)];
#pragma unroll
            for (int i = 0; i < 16; ++i) {
                float& value = spectrum[p][i / 4][i % 4];
                const bool stays = fabsf(value) >= threshold || (p == 0 && i == 0 && lane == 0);
                value = stays ? value : 0.0F;
                left += stays ? 1 : 0;
            }
        }
#pragma unroll
        for (int apart = 16; apart > 0; apart /= 2) {
            left += __shfl_xor_sync(match_cuda::whole_warp, left, apart);
        }
        return left;
    }

    /// The spectrum of the first pass' result becomes the factors of Wiener's filter; gives the sum
    /// of their squares.
    __device__ static float find_factors(const Bm4dCall& call, float (&spectrum)[own][4][4]) {
        const auto lane = static_cast<int>(threadIdx.x) % 32;
        float sums[own];
#pragma unroll
        for (int p = 0; p < own; ++p) {
            const float inverse = call.inverse_sigma[haar_exponent(lane / 4 + 8 * p, levels)];
            sums[p] = 0;
#pragma unroll
            for (int i = 0; i < 16; ++i) {
                float& value = spectrum[p][i / 4][i % 4];
                const float factor = wiener_factor(value, inverse);
                value = factor;
                sums[p] += factor * factor;
            }
            // Over the patch's layers.
            sums[p] += __shfl_xor_sync(match_cuda::whole_warp, sums[p], 2);
            sums[p] += __shfl_xor_sync(match_cuda::whole_warp, sums[p], 1);
        }
        float sum = sum_by_halves(sums, own, 1);
#pragma unroll
        for (int apart = 16; apart > 2; apart /= 2) {
            sum += __shfl_xor_sync(match_cuda::whole_warp, sum, apart);
        }
        return sum;
    }

    /// What gather() made, of a spectrum.
    template <Basis basis>
    __device__ static void restore(const Bm4dCall& call, float* shared,
                                   float (&spectrum)[own][4][4], float (&x)[half][4]) {
        const auto lane = static_cast<int>(threadIdx.x) % 32;
        const int upper = lane / 16;
        __syncwarp();
#pragma unroll
        for (int p = 0; p < own; ++p) {
#pragma unroll
            for (int y = 0; y < 4; ++y) {
                restore_line<basis, 4>(call.table[2], spectrum[p][y]);
            }
            along_y(spectrum[p], [&](float(&at)[4]) { restore_line<basis, 4>(call.table[1], at); });
            auto* to = reinterpret_cast<float4*>(shared + (lane + 32 * p) * pitch);
#pragma unroll
            for (int y = 0; y < 4; ++y) {
                to[y] = make_float4(spectrum[p][y][0], spectrum[p][y][1], spectrum[p][y][2],
                                    spectrum[p][y][3]);
            }
        }
        __syncwarp();
#pragma unroll
        for (int i = 0; i < half; ++i) {
#pragma unroll
            for (int z = 0; z < 4; ++z) {
                x[i][z] = shared[(place(i, upper) * 4 + z) * pitch + lane % 16];
            }
            restore_line<basis, 4>(call.table[0], x[i]);
        }
    }

    __device__ static void copy(const float (&from)[own][4][4], float (&to)[own][4][4]) {
#pragma unroll
        for (int p = 0; p < own; ++p) {
#pragma unroll
            for (int i = 0; i < 16; ++i) {
                to[p][i / 4][i % 4] = from[p][i / 4][i % 4];
            }
        }
    }

    __device__ static void multiply(const float (&factors)[own][4][4],
                                    float (&spectrum)[own][4][4]) {
#pragma unroll
        for (int p = 0; p < own; ++p) {
#pragma unroll
            for (int i = 0; i < 16; ++i) {
                spectrum[p][i / 4][i % 4] *= factors[p][i / 4][i % 4];
            }
        }
    }

    /// `change` of the spectrum of x, in the basis for which it gives less, which it returns.
    template <class Change>
    __device__ static auto change_sparser(const Bm4dCall& call, const float (&x)[half][4],
                                          float* shared, Basis& basis, float (&spectrum)[own][4][4],
                                          const Change& change) {
        transform<Basis::cosine>(call, x, shared, spectrum);
        const auto cosines = change(call, spectrum);
        float other[own][4][4];
        transform<Basis::wavelet>(call, x, shared, other);
        const auto wavelets = change(call, other);
        if (wavelets >= cosines) {
            basis = Basis::cosine;
            return cosines;
        }
        basis = Basis::wavelet;
        copy(other, spectrum);
        return wavelets;
    }

    /// Adds the patches x. Bit g of `alike`: patch g is.
    __device__ static void put(const Bm4dCall& call, float weight, unsigned alike,
                               std::int64_t corner, const Bm4dSums& sums,
                               const float (&x)[half][4]) {
        const auto lane = static_cast<int>(threadIdx.x) % 32;
        const std::int64_t line = call.match.volume[2];
        const std::int64_t layer = call.match.volume[1] * line;
        const auto exact = static_cast<double>(weight);
        // Layers that are held lie side by side, so one comparison tells whether a voxel does.
        const std::int64_t in_weights = corner - call.weights_first() * layer;
        if (lane < group && in_weights >= 0 && in_weights < (call.held_layers + 3) * layer) {
            const double part = (alike >> lane & 1U) != 0 ? 1 : Bm4d::unlike_part;
            add_units(sums.weights + in_weights, __double2ll_rn(exact * part * call.weight_unit));
        }
        // Exact: the factors of the weight are powers of two.
        const double unit =
            exact * call.value_unit * bm4d_window(lane % 16 / 4, 4) * bm4d_window(lane % 4, 4);
        const double unlike_unit = unit * Bm4d::unlike_part;
        const unsigned mine = alike >> (lane / 16 * half);
        const std::int64_t offset = lane % 16 / 4 * line + lane % 4 - call.held_first * layer;
        const std::int64_t held = call.held_layers * layer;
#pragma unroll
        for (int i = 0; i < half; ++i) {
            const std::int64_t at =
                offset + __shfl_sync(match_cuda::whole_warp, corner, lane / 16 * half + i);
            const double scale = (mine >> i & 1U) != 0 ? unit : unlike_unit;
#pragma unroll
            for (int z = 0; z < 4; ++z) {
                const std::int64_t to = at + z * layer;
                if (to >= 0 && to < held) {
                    const double units = static_cast<double>(x[i][z]) * (scale * bm4d_window(z, 4));
                    add_units(sums.values + to, __double2ll_rn(units));
                }
            }
        }
    }
};

} // namespace runner::bm4d_cuda
