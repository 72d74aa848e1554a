// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/queue/block_memory.cuh"

#include <cstdint>

// Products of a 16 x 8 matrix (image) and an 8 x 8 matrix (taps), as the tensor cores of compute
// capability 9.0 make them, and what of them zero taps may spoil.

namespace runner::convolve_cuda {

inline constexpr unsigned all_lanes = 0xffffffffU;
inline constexpr unsigned infinity_word = 0x7ff00000U; ///< the high word of +∞

/// to = sums + image · taps: to each sum, eight fused multiply-adds in ascending order. This order
/// and the rounding of each step were compared with fma on an H200 (docs/kernels-convolve.md).
__device__ inline void multiply_add(double (&to)[4], const double (&image)[4],
                                    const double (&taps)[2], const double (&sums)[4]) {
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
        : "=d"(to[0]), "=d"(to[1]), "=d"(to[2]), "=d"(to[3])
        : "d"(image[0]), "d"(image[1]), "d"(image[2]), "d"(image[3]), "d"(taps[0]), "d"(taps[1]),
          "d"(sums[0]), "d"(sums[1]), "d"(sums[2]), "d"(sums[3]));
#endif
}

/// A lane's part of a matrix of taps: the places of its row and of the one 4 below.
__device__ inline void load_taps(double (&taps)[2], const double* from) {
    taps[0] = from[0];
    taps[1] = from[4];
}

/// A lane's part of an image: rows `below` apart, elements 4 apart.
__device__ inline void load_elements(double (&image)[4], const double* from, int below) {
    image[0] = from[0];
    image[1] = from[below];
    image[2] = from[4];
    image[3] = from[below + 4];
}

/// A lane's part of an image whose columns are the matrix's rows: two pairs, `apart` elements
/// apart.
__device__ inline void load_pairs(double (&image)[4], const double* from, int apart) {
    const auto low = *reinterpret_cast<const Vector<double>*>(from);
    const auto high = *reinterpret_cast<const Vector<double>*>(from + apart);
    image[0] = low.at[0];
    image[1] = low.at[1];
    image[2] = high.at[0];
    image[3] = high.at[1];
}

__device__ inline void store_pair(double* to, double first, double second) {
    Vector<double> pair;
    pair.at[0] = first;
    pair.at[1] = second;
    *reinterpret_cast<Vector<double>*>(to) = pair;
}

__device__ inline unsigned high_word(double value) {
    return static_cast<unsigned>(__double2hiint(value));
}

/// Whether the warp has a value that is zero or no finite number (or the least of the denormals,
/// which the high word does not tell from zero).
__device__ inline bool may_be_spoilt(const double (&values)[2][4]) {
    // Twice the high word, without its sign, less 2: zeros become the largest.
    constexpr unsigned least = 2 * infinity_word - 2;
    unsigned most = 0;
#pragma unroll
    for (int t = 0; t < 2; ++t) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            most = max(most, 2 * high_word(values[t][e]) - 2);
        }
    }
    return __any_sync(all_lanes, static_cast<int>(most >= least)) != 0;
}

/// Sums of a lane that zero taps may have changed: bit 4 t + e is sum [t][e]. They turn −0 into +0
/// and make NaN of what is none.
struct Doubts {
    unsigned zeros;      ///< +0 or −0
    unsigned no_numbers; ///< NaN

    __device__ explicit Doubts(const double (&sums)[2][4]) : zeros(0), no_numbers(0) {
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            const double sum = sums[i / 4][i % 4];
            zeros |= sum == 0 ? 1U << i : 0U;
            no_numbers |= sum != sum ? 1U << i : 0U;
        }
    }

    /// Whether one of the sums `among` is not what it is without zero taps. Where the last tap's
    /// product was +0, the sum without zero taps is +0 too. last_element(i): of sum i, what the
    /// last tap met.
    template <class LastElement>
    __device__ bool any(unsigned among, double last_tap, LastElement&& last_element) const {
        if ((no_numbers & among) != 0) {
            return true;
        }
        const bool negative = __double2hiint(last_tap) < 0;
#pragma unroll 1
        for (unsigned left = zeros & among; left != 0; left &= left - 1) {
            if (negative ||
                __double_as_longlong(last_element(__ffs(static_cast<int>(left)) - 1)) != 0) {
                return true;
            }
        }
        return false;
    }
};

} // namespace runner::convolve_cuda
