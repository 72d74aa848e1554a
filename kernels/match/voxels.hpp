// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/element_type.hpp"
#include "kernels/queue/queue.hpp"

#include <cstddef>
#include <cstdint>

namespace runner {

/// out = in, `count` elements of a number's type, rounded once as load_elements() says. Device
/// memory, `in` aligned to its elements. The CUDA forms return before the work is done; the same
/// bytes on every queue.
void voxels_to_float(CpuQueue& queue, ElementType type, std::int64_t count, const std::byte* in,
                     float* out);
void voxels_to_float(CudaQueue& queue, ElementType type, std::int64_t count, const std::byte* in,
                     float* out);

/// The way back, as store_elements() says.
void voxels_from_float(CpuQueue& queue, ElementType type, std::int64_t count, const float* in,
                       std::byte* out);
void voxels_from_float(CudaQueue& queue, ElementType type, std::int64_t count, const float* in,
                       std::byte* out);

/// out = in · 2^exponent, exact where the product is a normal float32; |exponent| ≤ 1000. `in` and
/// `out` are device memory of `count` elements and may be the same. The CUDA form returns before
/// the work is done; the same bytes on every queue.
void scale_voxels(CpuQueue& queue, std::int64_t count, const float* in, int exponent, float* out);
void scale_voxels(CudaQueue& queue, std::int64_t count, const float* in, int exponent, float* out);

/// Where counts of photons are normal: out = 2·sqrt(in + 3/8), and 0 below -3/8 and of NaN. The
/// noise of the result has a standard deviation of about 1. In float64, rounded once: the same
/// bytes on every queue. `in` and `out` are device memory of `count` elements and may be the same.
/// The CUDA form returns before the work is done.
void stabilise_counts(CpuQueue& queue, std::int64_t count, const float* in, float* out);
void stabilise_counts(CudaQueue& queue, std::int64_t count, const float* in, float* out);

/// The exact unbiased inverse, in the closed form of Mäkitalo and Foi (2011): the mean of the
/// counts for a mean D of stabilised ones,
///   D²/4 + sqrt(3/2)/(4·D) − 11/(8·D²) + 5·sqrt(3/2)/(8·D³) − 1/8,
/// and 0 up to D = 2·sqrt(3/8), which a count of 0 gives. Otherwise as above.
void restore_counts(CpuQueue& queue, std::int64_t count, const float* in, float* out);
void restore_counts(CudaQueue& queue, std::int64_t count, const float* in, float* out);

} // namespace runner
