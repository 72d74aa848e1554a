// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/convolve/convolve_depth.hpp"

// As in convolve_tile.cpp: the passes keep arrays of vectors.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/convolve/convolve_depth.cpp"
#include <hwy/foreach_target.h>

#include "base/rounding.hpp"
#include "kernels/convolve/convolve_passes-inl.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#ifndef RUNNER_KERNELS_CONVOLVE_DEPTH_CPP
#define RUNNER_KERNELS_CONVOLVE_DEPTH_CPP
namespace runner {

/// What the tiles of one call have in common.
struct DepthTiles {
    const Convolution& convolution;
    RowBlock layers;
    std::int64_t samples; ///< of a layer
    std::int64_t pitch;
    OutStores out_stores;
    const std::byte* sums;
    std::byte* out;
};

/// Layers and samples of the output of one frame; the samples begin at a multiple of a vector.
struct DepthTile {
    static constexpr std::int64_t most_layers = 32;
    static constexpr std::int64_t most_samples = 1024;

    std::int64_t frame;
    std::int64_t first_layer;
    std::int64_t layers;
    std::int64_t first_sample;
    std::int64_t samples;
};

} // namespace runner
#endif

HWY_BEFORE_NAMESPACE();
namespace runner {
namespace HWY_NAMESPACE {

template <class Out> OutRows<Out> out_rows(const DepthTiles& tiles, const DepthTile& tile) {
    const std::int64_t layer =
        tile.frame * tiles.layers.out_rows + tile.first_layer - tiles.layers.out_first;
    const std::int64_t at = layer * tiles.samples + tile.first_sample;
    const ElementType type = tiles.convolution.out_type;
    std::byte* const place = tiles.out + at * size_of(type);
    if constexpr (std::is_same_v<Out, AnyElement>) {
        return {place, tiles.samples, type};
    } else {
        return {reinterpret_cast<Out*>(place), tiles.samples, tiles.out_stores};
    }
}

/// Out is T or AnyElement.
template <class T, class Out> void depth_tile_as(const DepthTiles& tiles, const DepthTile& tile) {
    const Convolution& c = tiles.convolution;
    const RowBlock& block = tiles.layers;
    const std::int64_t radius = c.depth_radius();
    std::vector<T> weights(c.depth_taps.size());
    std::transform(c.depth_taps.rbegin(), c.depth_taps.rend(), weights.begin(),
                   [](double tap) { return static_cast<T>(tap); });
    alignas(HWY_MAX_BYTES) std::array<T, DepthTile::most_samples> fill;
    if (c.boundary == Boundary::constant) {
        fill.fill(static_cast<T>(c.fill));
    }
    const T* const frame =
        reinterpret_cast<const T*>(tiles.sums) + tile.frame * block.in_rows * tiles.pitch;
    std::vector<const T*> layers(static_cast<std::size_t>(tile.layers + 2 * radius));
    const std::int64_t first = tile.first_layer - radius;
    for (std::int64_t i = 0; i < tile.layers + 2 * radius; ++i) {
        const std::int64_t held = held_layer(first + i, block, c.layers, c.boundary);
        layers[static_cast<std::size_t>(i)] =
            held < 0 ? fill.data() : frame + held * tiles.pitch + tile.first_sample;
    }
    pass_across(layers.data(), weights.data(), 2 * radius + 1, tile.samples,
                out_rows<Out>(tiles, tile), tile.layers);
    if (tiles.out_stores == OutStores::past_caches) {
        hwy::FlushStream();
    }
}

void depth_tile(const DepthTiles& tiles, const DepthTile& tile) {
    const ElementType type = tiles.convolution.compute_type();
    const bool same = tiles.convolution.out_type == type;
    if (type == ElementType::float64) {
        same ? depth_tile_as<double, double>(tiles, tile)
             : depth_tile_as<double, AnyElement>(tiles, tile);
    } else {
        same ? depth_tile_as<float, float>(tiles, tile)
             : depth_tile_as<float, AnyElement>(tiles, tile);
    }
}

} // namespace HWY_NAMESPACE
} // namespace runner
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace runner {

HWY_EXPORT(depth_tile);

namespace {

std::int64_t samples_of(const Convolution& convolution) {
    return convolution.frame_rows * convolution.columns;
}

} // namespace

RowBlock layer_block(const Convolution& convolution, const RowBlock& block) {
    const std::int64_t rows = convolution.frame_rows;
    return {block.frames, block.in_first / rows, ceil_divide(block.in_rows, rows),
            block.out_first / rows, ceil_divide(block.out_rows, rows)};
}

Convolution image_passes(const Convolution& convolution) {
    Convolution images = convolution;
    images.out_type = convolution.compute_type();
    images.layers = 1;
    images.depth_taps.clear();
    return images;
}

RowBlock image_block(const Convolution& convolution, const RowBlock& layers) {
    return {layers.frames * layers.in_rows, 0, convolution.frame_rows, 0, convolution.frame_rows};
}

std::int64_t depth_pitch(const Convolution& convolution) {
    const std::int64_t line = 64 / size_of(convolution.compute_type());
    // A line more, so that layers of a power of two do not share cache sets.
    return (samples_of(convolution) + line - 1) / line * line + line;
}

double image_operations(const Convolution& convolution, const RowBlock& block) {
    const auto each = static_cast<double>(block.frames * convolution.columns) *
                      (convolution.compute_type() == ElementType::float64 ? 4 : 2);
    return each *
           (static_cast<double>(block.in_rows) * static_cast<double>(convolution.row_taps.size()) +
            static_cast<double>(block.out_rows) *
                static_cast<double>(convolution.column_taps.size()));
}

ConvolveOperations depth_operations(const Convolution& convolution, const RowBlock& layers) {
    const auto each = static_cast<double>(layers.frames * samples_of(convolution)) *
                      (convolution.compute_type() == ElementType::float64 ? 4 : 2);
    const auto image_taps =
        static_cast<double>(convolution.row_taps.size() + convolution.column_taps.size());
    return {each * static_cast<double>(layers.in_rows) * image_taps,
            each * static_cast<double>(layers.out_rows) *
                static_cast<double>(convolution.depth_taps.size())};
}

void convolve_depth(CpuQueue& queue, const Convolution& convolution, const RowBlock& layers,
                    const std::byte* sums, std::byte* out) {
    DepthTiles tiles{
        convolution, layers, samples_of(convolution), depth_pitch(convolution), OutStores::cached,
        sums,        out};
    constexpr std::int64_t cached_bytes = 8 * MiB;
    const std::int64_t made = layers.frames * layers.out_rows * tiles.samples;
    if (made * size_of(convolution.out_type) > cached_bytes) {
        tiles.out_stores = OutStores::past_caches;
    }
    const std::int64_t strips = ceil_divide(tiles.samples, DepthTile::most_samples);
    const std::int64_t groups = ceil_divide(layers.out_rows, DepthTile::most_layers);
    const std::int64_t tile_count = layers.frames * groups * strips;
    const double each =
        depth_operations(convolution, layers).depth / static_cast<double>(tile_count);
    queue.run([&] {
        using Range = tbb::blocked_range<std::int64_t>;
        tbb::parallel_for(Range(0, tile_count), [&](const Range& range) {
            for (std::int64_t i = range.begin(); i < range.end(); ++i) {
                DepthTile tile;
                const std::int64_t layer = i / strips % groups * DepthTile::most_layers;
                tile.frame = i / strips / groups;
                tile.first_layer = layers.out_first + layer;
                tile.layers = std::min(DepthTile::most_layers, layers.out_rows - layer);
                tile.first_sample = i % strips * DepthTile::most_samples;
                tile.samples = std::min(DepthTile::most_samples, tiles.samples - tile.first_sample);
                HWY_DYNAMIC_DISPATCH(depth_tile)(tiles, tile);
                queue.count(each);
            }
        });
    });
}

} // namespace runner
#endif
