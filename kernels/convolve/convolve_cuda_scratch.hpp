// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/convolve/convolve.hpp"

#include <cstdint>

namespace runner {

/// The CUDA part of convolve_scratch_bytes. Pure, compiled without CUDA too.
std::int64_t convolve_cuda_scratch_bytes(const Convolution& convolution, const RowBlock& block);

/// Bytes of it that hold the input's channels apart; those of the output follow. 0 for one channel.
std::int64_t convolve_split_bytes(const Convolution& convolution, const RowBlock& block);

} // namespace runner
