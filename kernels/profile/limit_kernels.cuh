// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace runner {

/// Copies `count` times 16 bytes; a thread has `at_once` of them in flight.
template <int at_once>
__global__ void copy_kernel(const uint4* in, uint4* out, std::int64_t count) {
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
    const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    for (std::int64_t i = first; i < count; i += at_once * stride) {
        uint4 values[at_once];
#pragma unroll
        for (int j = 0; j < at_once; ++j) {
            if (i + j * stride < count) {
                values[j] = __ldcs(in + i + j * stride);
            }
        }
#pragma unroll
        for (int j = 0; j < at_once; ++j) {
            if (i + j * stride < count) {
                __stcs(out + i + j * stride, values[j]);
            }
        }
    }
}

/// Sums that a thread of multiply_add_kernel() has side by side, and multiply-adds to each.
inline constexpr int multiply_add_chains = 16;
inline constexpr int multiply_add_length = 4096;

/// Multiply-adds in registers. `out` is written where a sum is 0, which does not happen.
template <class T> __global__ void multiply_add_kernel(T* out, T factor, T start) {
    T sum[multiply_add_chains];
    for (int c = 0; c < multiply_add_chains; ++c) {
        sum[c] = start + static_cast<T>(threadIdx.x + c);
    }
    for (int i = 0; i < multiply_add_length; i += 8) {
#pragma unroll
        for (int j = 0; j < 8; ++j) {
#pragma unroll
            for (int c = 0; c < multiply_add_chains; ++c) {
                if constexpr (sizeof(T) == sizeof(float)) {
                    sum[c] = __fmaf_rn(sum[c], factor, factor);
                } else {
                    sum[c] = __fma_rn(sum[c], factor, factor);
                }
            }
        }
    }
    for (int c = 1; c < multiply_add_chains; ++c) {
        sum[0] += sum[c];
    }
    if (sum[0] == T(0)) {
        *out = sum[0];
    }
}

} // namespace runner
