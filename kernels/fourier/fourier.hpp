// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/fourier/fourier_length.hpp"
#include "kernels/queue/queue.hpp"

#include <cstdint>

namespace runner {

/// Which way a transform goes. Neither divides: one after the other multiplies by the length.
enum class FourierWay {
    forward, ///< out[k] = Σ in[i] · e^(−2πi ik / n)
    backward ///< out[k] = Σ in[i] · e^(+2πi ik / n)
};

/// Transforms lines of passes.length complex numbers, one after the other, in float32: the same
/// operations in the same order on every queue, so the same bytes. NaNs may differ in their bits.
/// `factors` are fourier_factors(). All three are in the queue's device memory; `in` may be `out`,
/// else they do not overlap. The CUDA form returns before the work is done.
/// @throws Error (gpu) where a line does not fit the shared memory of the GPU.
void transform_lines(CpuQueue& queue, const FourierPasses& passes, FourierWay way,
                     std::int64_t lines, const ComplexFloat* in, ComplexFloat* out,
                     const ComplexFloat* factors);
void transform_lines(CudaQueue& queue, const FourierPasses& passes, FourierWay way,
                     std::int64_t lines, const ComplexFloat* in, ComplexFloat* out,
                     const ComplexFloat* factors);

} // namespace runner
