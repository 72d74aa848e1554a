// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/bin/bin.hpp"

#include <cstddef>
#include <cstdint>

namespace runner {

/// A call: the extents that its buffers hold.
struct BinCall {
    ElementType out_type;
    std::int64_t frames;
    std::int64_t layers; ///< of a frame in the buffer
    std::int64_t rows;   ///< of a layer in the buffer
    std::int64_t columns;
    std::int64_t out_layers;
    std::int64_t out_rows;
    std::int64_t out_columns;
    std::int64_t channels;
    std::int64_t factor_z;
    std::int64_t factor_y;
    std::int64_t factor_x;
    bool is_mean;

    /// Rows of the output.
    std::int64_t all_rows() const { return frames * out_layers * out_rows; }
};

inline BinCall bin_call(const Bin& bin, const RowBlock& block) {
    const bool whole_layers = bin.factors[0] > 1;
    const std::int64_t rows = whole_layers ? bin.rows : block.out_rows;
    const std::int64_t layers = whole_layers ? block.out_rows / bin.rows : 1;
    return {bin.out_type,
            block.frames,
            layers,
            rows,
            bin.columns,
            bin.blocks(layers, bin.factors[0]),
            bin.blocks(rows, bin.factors[1]),
            bin.out_columns(),
            bin.channels,
            bin.factors[0],
            bin.factors[1],
            bin.factors[2],
            bin.value == Bin::Value::mean};
}

/// bin() where some elements are invalid.
void bin_valid(CudaQueue& queue, const Bin& bin, const BinCall& call, const std::byte* in,
               std::byte* out);

} // namespace runner
