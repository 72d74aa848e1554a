// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/cuda_queue.hpp"
#include "kernels/transpose_axes.hpp"

#include <cstddef>
#include <span>

namespace runner {

/// Where the rows of both sides may start: at multiples of the bytes that a thread reads or writes
/// at a time, or at any element.
enum class RowStart { aligned, anywhere };

/// One compiled form of the tile kernel. A tile is `across` elements of the input's fastest axis by
/// `along` of the output's; a thread reads `in_bytes` and writes `out_bytes` at a time.
struct TransposeTileForm {
    int element_bytes;
    int in_bytes;
    int out_bytes;
    int across;
    int along;
    int threads;
    int step; ///< from a tile to the next along the output, ≤ along
    RowStart start;

    bool operator==(const TransposeTileForm&) const = default;
};

/// All of them; of those that may be used the first is meant.
std::span<const TransposeTileForm> transpose_tile_forms();

/// Whether the form can do this: two fastest axes with strides of 1 and everything aligned for it.
bool tile_form_fits(const TransposeTileForm& form, const TransposeAxes& axes, const std::byte* in,
                    const std::byte* out);

/// Transposes by tiles, `group` of them along the output's fastest axis before the next along the
/// input's. @param form one that fits.
void transpose_by_tiles(CudaQueue& queue, const TransposeTileForm& form, int group,
                        const TransposeAxes& axes, const std::byte* in, std::byte* out);

} // namespace runner
