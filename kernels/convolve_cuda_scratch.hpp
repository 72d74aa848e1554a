// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/convolve.hpp"

namespace runner {

/// Bytes of device memory that the CUDA form needs beside input and output.
inline std::int64_t convolve_cuda_scratch_bytes(const Convolution& /*convolution*/,
                                                const RowBlock& /*block*/) {
    return 0;
}

} // namespace runner
