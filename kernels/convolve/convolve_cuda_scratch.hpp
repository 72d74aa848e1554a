// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/convolve/convolve.hpp"

#include <cstdint>

namespace runner {

/// What the CUDA form keeps in its scratch memory for the passes over images, one after the other:
/// bytes of each part, 0 where it is not needed.
struct ConvolveScratch {
    std::int64_t split = 0;  ///< the input's channels apart
    std::int64_t loaded = 0; ///< the input as the compute type, where no kernel reads its own
    std::int64_t summed =
        0;                 ///< the results in the compute type, where no kernel writes the output's
    std::int64_t made = 0; ///< the output's channels apart
    std::int64_t along = 0; ///< what the row pass of a wide convolution makes

    std::int64_t bytes() const { return split + loaded + summed + made + along; }
};

/// The scratch of a convolution without depth taps. Pure, compiled without CUDA too.
ConvolveScratch convolve_cuda_scratch(const Convolution& convolution, const RowBlock& block);

/// Bytes of the sums that the depth pass takes, which come before the other parts.
std::int64_t convolve_volume_bytes(const Convolution& convolution, const RowBlock& layers);

/// Whether the depth pass needs scratch memory for sums of the compute type.
bool has_depth_sums(const Convolution& convolution);

/// The CUDA part of convolve_scratch_bytes.
std::int64_t convolve_cuda_scratch_bytes(const Convolution& convolution, const RowBlock& block);

} // namespace runner
