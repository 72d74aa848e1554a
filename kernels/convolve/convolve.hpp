// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/element_type.hpp"
#include "kernels/convolve/boundary.hpp"
#include "kernels/queue/queue.hpp"
#include "kernels/queue/row_block.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace runner {

/// Separable convolution of images or volumes, to the byte as docs/convolve.md says; everything
/// about it that does not change from block to block.
///
/// Input and output are any number types. Elements and taps are rounded to compute_type() once, the
/// result of each pass is rounded to it, and the output type is made from it at the end, as
/// converted() says (kernels/elements/elements.hpp).
struct Convolution {
    static constexpr int max_radius = 4096;
    /// The largest radius of the CUDA kernels that make both passes at once.
    static constexpr int fused_radius = 128;

    ElementType in_type = ElementType::float32;
    ElementType out_type = ElementType::float32;
    std::int64_t layers = 1;     ///< images of a frame: 1 without depth taps
    std::int64_t frame_rows = 0; ///< rows of an image, ≥ 1
    std::int64_t columns = 0;    ///< samples of a row: a multiple of `channels`, ≥ 1
    int channels = 1; ///< samples of a pixel, side by side; each channel is an image of its own
    std::vector<double> row_taps;    ///< along a row: 2R + 1 of them, R ≤ max_radius
    std::vector<double> column_taps; ///< down a column, likewise; the radius may differ
    /// Across the images of a frame, likewise; empty: images are independent.
    std::vector<double> depth_taps = {};
    Boundary boundary = Boundary::reflect;
    double fill = 0; ///< rounded to the compute type; for Boundary::constant

    std::int64_t row_radius() const { return static_cast<std::int64_t>(row_taps.size() / 2); }
    std::int64_t column_radius() const { return static_cast<std::int64_t>(column_taps.size() / 2); }
    std::int64_t depth_radius() const { return static_cast<std::int64_t>(depth_taps.size() / 2); }
    /// Whether the passes over images have so many taps that their work is counted, and that the
    /// CUDA form makes one after the other.
    bool is_wide() const { return std::max(row_radius(), column_radius()) > fused_radius; }
    /// Whether a frame is a volume: rows of a RowBlock then count through its images, and blocks
    /// are whole images.
    bool has_depth() const { return !depth_taps.empty(); }
    /// float64 for float64 and for integers of 32 and 64 bits, else float32.
    ElementType compute_type() const;
};

/// What `convolve` counts on its queue for a block: 0 without depth taps, unless it is_wide().
double convolve_operations(const Convolution& convolution, const RowBlock& block);

/// Bytes of device memory that `convolve` needs beside input and output for this block or any whose
/// frames together hold no more rows of the input. Pure: the same on a machine without a GPU.
std::int64_t convolve_scratch_bytes(Backend backend, const Convolution& convolution,
                                    const RowBlock& block);

/// Host memory that each thread of a CpuQueue takes for itself in `convolve` of this block or a
/// smaller one, and releases at its end. 0 unless it is_wide(): then it is about half a MiB.
std::int64_t convolve_thread_bytes(const Convolution& convolution, const RowBlock& block);

/// out = the convolution's rows [out_first, out_first + out_rows) of each frame. `in` and `out` are
/// in the queue's device memory, dense (columns elements a row), aligned to their element, and do
/// not overlap; `scratch`, aligned to 64 bytes, has convolve_scratch_bytes(). The same bytes on
/// every queue and for every way to cut the image into blocks. The CUDA form returns before the
/// work is done.
void convolve(CpuQueue& queue, const Convolution& convolution, const RowBlock& block,
              const std::byte* in, std::byte* out, std::byte* scratch);
void convolve(CudaQueue& queue, const Convolution& convolution, const RowBlock& block,
              const std::byte* in, std::byte* out, std::byte* scratch);

} // namespace runner
