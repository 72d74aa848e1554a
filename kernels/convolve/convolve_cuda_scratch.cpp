// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/convolve/convolve_cuda_scratch.hpp"

#include "kernels/convolve/convolve_depth.hpp"

#include <algorithm>

namespace runner {
namespace {

/// Rounded up to what CUDA aligns its own allocations to.
std::int64_t aligned_bytes(std::int64_t samples, ElementType type) {
    constexpr std::int64_t line = 256;
    return (samples * size_of(type) + line - 1) / line * line;
}

/// Whether the kernels read and write elements of this type themselves.
bool has_kernels(const Convolution& convolution, ElementType type) {
    if (convolution.is_wide()) {
        return type == convolution.compute_type();
    }
    return type == ElementType::uint8 || type == ElementType::uint16 ||
           type == ElementType::float32 || type == ElementType::float64;
}

} // namespace

ConvolveScratch convolve_cuda_scratch(const Convolution& convolution, const RowBlock& block) {
    const std::int64_t in = block.frames * block.in_rows * convolution.columns;
    const std::int64_t out = block.frames * block.out_rows * convolution.columns;
    const ElementType compute_type = convolution.compute_type();
    // Where types have kernels and pixels one channel every kernel up to the fused radius is fused:
    // what lies between the passes stays in registers and shared memory.
    ConvolveScratch scratch;
    if (convolution.channels > 1) {
        scratch.split = aligned_bytes(in, convolution.in_type);
        scratch.made = aligned_bytes(out, convolution.out_type);
    }
    if (!has_kernels(convolution, convolution.in_type)) {
        scratch.loaded = aligned_bytes(in, compute_type);
    }
    if (!has_kernels(convolution, convolution.out_type)) {
        scratch.summed = aligned_bytes(out, compute_type);
    }
    if (convolution.is_wide()) {
        scratch.along = aligned_bytes(in, compute_type);
    }
    return scratch;
}

bool has_depth_sums(const Convolution& convolution) {
    return convolution.depth_radius() > Convolution::fused_radius &&
           convolution.out_type != convolution.compute_type();
}

std::int64_t convolve_volume_bytes(const Convolution& convolution, const RowBlock& layers) {
    return aligned_bytes(layers.frames * layers.in_rows * convolution.frame_rows *
                             convolution.columns,
                         convolution.compute_type());
}

std::int64_t convolve_cuda_scratch_bytes(const Convolution& convolution, const RowBlock& block) {
    if (convolution.has_depth()) {
        const RowBlock layers = layer_block(convolution, block);
        const std::int64_t volume = convolve_volume_bytes(convolution, layers);
        const std::int64_t images =
            convolve_cuda_scratch(image_passes(convolution), image_block(convolution, layers))
                .bytes();
        // The sums of a wide depth pass, of no more layers than the block's, come after the
        // images'.
        return volume + (has_depth_sums(convolution) ? std::max(images, volume) : images);
    }
    // A planned block's halo makes its input large; one of whole frames may have as many rows of
    // both.
    RowBlock all = block;
    all.out_rows = block.in_rows;
    return convolve_cuda_scratch(convolution, all).bytes();
}

} // namespace runner
