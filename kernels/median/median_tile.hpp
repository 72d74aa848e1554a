// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/median/median_call.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace runner {

/// What the tiles of one call on the CPU have in common. Elements are handled as keys: the signed
/// integer of their size that orders as they do, of 16 bits for elements of 8.
struct MedianTiles {
    MedianCall call;
    ElementType type = ElementType::float32;
    const std::byte* in = nullptr;
    std::byte* out = nullptr;
    std::int64_t tile_columns = 0; ///< the most columns of a tile
    /// Invalid elements get the least key: windows with one of them then have the right median.
    std::optional<double> invalid = {};

    int extent_z() const { return 2 * call.radius_z + 1; }
    int extent_y() const { return 2 * call.radius_y + 1; }
    int extent_x() const { return 2 * call.radius_x + 1; }
};

/// Rows [first_row, first_row + rows) of the output, all of one layer, and columns of a frame.
struct MedianTile {
    std::int64_t frame = 0;
    std::int64_t first_row = 0;
    std::int64_t rows = 0;
    std::int64_t first_column = 0;
    std::int64_t columns = 0;
};

/// Bytes of a key.
std::int64_t median_key_bytes(ElementType type);

/// Keys between the lines of a tile's memory: the tile's columns with its margins, to the end of
/// the last vector.
std::int64_t median_pitch(const MedianTiles& tiles);

/// Bytes of memory for one thread's tiles, zeroed before the first; at multiples of 64.
std::int64_t median_space_bytes(const MedianTiles& tiles);

// Make one tile with the widest vectors there are, for keys of so many bits.
void median_tile_16(const MedianTiles& tiles, const MedianTile& tile, std::byte* space);
void median_tile_32(const MedianTiles& tiles, const MedianTile& tile, std::byte* space);
void median_tile_64(const MedianTiles& tiles, const MedianTile& tile, std::byte* space);

} // namespace runner
