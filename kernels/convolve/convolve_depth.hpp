// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/convolve/boundary.hpp"
#include "kernels/convolve/convolve.hpp"
#include "kernels/queue/queue.hpp"
#include "kernels/queue/row_block.hpp"

#include <cstddef>
#include <cstdint>

namespace runner {

/// The block in images ("layers") instead of rows: whole ones, rounded up in a block that is only
/// a size.
RowBlock layer_block(const Convolution& convolution, const RowBlock& block);

/// The first two passes of a convolution with depth taps: every image is a frame, and the output is
/// of the compute type.
Convolution image_passes(const Convolution& convolution);

/// The images that a block of layers holds, each a frame.
RowBlock image_block(const Convolution& convolution, const RowBlock& layers);

/// Samples of the sums from one layer to the next on the CPU: they begin at multiples of a cache
/// line and end with a whole vector.
std::int64_t depth_pitch(const Convolution& convolution);

/// The layer of the block's input, within its frame, that holds extended layer `layer`; −1 where
/// the fill value stands. constexpr, so that device code can call it too.
constexpr std::int64_t held_layer(std::int64_t layer, const RowBlock& layers,
                                  std::int64_t layers_of_frame, Boundary boundary) {
    const std::int64_t held = layer - layers.in_first;
    if (held >= 0 && held < layers.in_rows) {
        return held;
    }
    const std::int64_t mapped = map_index(layer, layers_of_frame, boundary);
    return mapped < 0 ? -1 : mapped - layers.in_first;
}

/// Operations of the passes over images and of the depth pass, about as float32 operations (see
/// StreamJob::operations).
struct ConvolveOperations {
    double images = 0;
    double depth = 0;
};
ConvolveOperations depth_operations(const Convolution& convolution, const RowBlock& layers);

/// Operations of the passes over the images of a block, of a convolution without depth taps.
double image_operations(const Convolution& convolution, const RowBlock& block);

/// The depth pass: `sums`, of the compute type, become the output's elements of `layers`. On the
/// CPU `sums` is aligned to 64 bytes and its layers are depth_pitch() apart; on CUDA they are
/// dense. Counts its operations. The CUDA form returns before the work is done.
void convolve_depth(CpuQueue& queue, const Convolution& convolution, const RowBlock& layers,
                    const std::byte* sums, std::byte* out);
void convolve_depth(CudaQueue& queue, const Convolution& convolution, const RowBlock& layers,
                    const std::byte* sums, std::byte* out);

} // namespace runner
