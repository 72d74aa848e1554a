// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/convolve/convolve_cuda_scratch.hpp"

namespace runner {
namespace {

/// Rounded up to what CUDA aligns its own allocations to.
std::int64_t aligned_bytes(std::int64_t samples, ElementType type) {
    constexpr std::int64_t line = 256;
    return (samples * size_of(type) + line - 1) / line * line;
}

} // namespace

std::int64_t convolve_split_bytes(const Convolution& convolution, const RowBlock& block) {
    return convolution.channels == 1
               ? 0
               : aligned_bytes(block.frames * block.in_rows * convolution.columns,
                               convolution.in_type);
}

std::int64_t convolve_cuda_scratch_bytes(const Convolution& convolution, const RowBlock& block) {
    if (convolution.channels == 1) {
        // Every kernel is fused: what lies between the passes stays in registers and shared memory.
        return 0;
    }
    return convolve_split_bytes(convolution, block) +
           aligned_bytes(block.frames * block.out_rows * convolution.columns, convolution.out_type);
}

} // namespace runner
