// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/convolve/boundary.hpp"

#include <cstdint>

namespace runner {

/// What a kernel knows of the images: geometry of the block (see RowBlock), and how it is cut into
/// tiles. A tile is a strip of columns and a segment of rows of one frame; strips run fastest.
template <class T> struct ConvolveImages {
    const void* in;
    void* out;
    std::int64_t columns;
    std::int64_t frame_rows;
    std::int64_t in_first;
    std::int64_t in_rows;
    std::int64_t out_first;
    std::int64_t out_rows;
    std::int64_t strips;
    std::int64_t segments;
    std::int64_t long_segments; ///< how many come first and have long_rows rows
    std::int64_t long_rows;
    std::int64_t short_rows; ///< of the others; the last may have fewer
    std::int64_t first_tile; ///< of this launch
    // Where blocks take equal shares of all strips instead (tiling.cuh): what a share is and what a
    // tile costs beyond its rows, in rows, and how many strips all frames have.
    std::int64_t share;
    std::int64_t tile_cost;
    std::int64_t all_strips;
    Boundary boundary;
    bool aligned;     ///< every row of the input starts at a multiple of 16 bytes
    bool out_aligned; ///< and of the output
    T fill;
};

} // namespace runner
