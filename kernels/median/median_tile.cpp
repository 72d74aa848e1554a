// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/median/median_tile.hpp"

// Arrays of vectors, which vectors of a length unknown to the compiler cannot be in.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/median/median_tile.cpp"
#include <hwy/foreach_target.h>

#include "kernels/median/median_tile-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace runner {
namespace HWY_NAMESPACE {

void tile_16(const MedianTiles& tiles, const MedianTile& tile, std::byte* space) {
    switch (tiles.type) {
    case ElementType::int8: return median_tile_of<std::int8_t>(tiles, tile, space);
    case ElementType::uint8: return median_tile_of<std::uint8_t>(tiles, tile, space);
    case ElementType::int16: return median_tile_of<std::int16_t>(tiles, tile, space);
    default: return median_tile_of<std::uint16_t>(tiles, tile, space);
    }
}

void tile_32(const MedianTiles& tiles, const MedianTile& tile, std::byte* space) {
    switch (tiles.type) {
    case ElementType::int32: return median_tile_of<std::int32_t>(tiles, tile, space);
    case ElementType::uint32: return median_tile_of<std::uint32_t>(tiles, tile, space);
    default: return median_tile_of<float>(tiles, tile, space);
    }
}

void tile_64(const MedianTiles& tiles, const MedianTile& tile, std::byte* space) {
    switch (tiles.type) {
    case ElementType::int64: return median_tile_of<std::int64_t>(tiles, tile, space);
    case ElementType::uint64: return median_tile_of<std::uint64_t>(tiles, tile, space);
    default: return median_tile_of<double>(tiles, tile, space);
    }
}

} // namespace HWY_NAMESPACE
} // namespace runner
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace runner {

HWY_EXPORT(tile_16);
HWY_EXPORT(tile_32);
HWY_EXPORT(tile_64);

void median_tile_16(const MedianTiles& tiles, const MedianTile& tile, std::byte* space) {
    HWY_DYNAMIC_DISPATCH(tile_16)(tiles, tile, space);
}

void median_tile_32(const MedianTiles& tiles, const MedianTile& tile, std::byte* space) {
    HWY_DYNAMIC_DISPATCH(tile_32)(tiles, tile, space);
}

void median_tile_64(const MedianTiles& tiles, const MedianTile& tile, std::byte* space) {
    HWY_DYNAMIC_DISPATCH(tile_64)(tiles, tile, space);
}

} // namespace runner
#endif
