// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/median/median.hpp"

#include "base/sizes.hpp"
#include "kernels/median/median_network.hpp"
#include "kernels/median/median_tile.hpp"

#include <algorithm>
#include <memory>
#include <new>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>

namespace runner {
namespace {

constexpr std::int64_t alignment = 64;

/// Lines held for a tile: of keys, of sorted lists, and results.
std::int64_t lines_of(const MedianTiles& tiles) {
    const std::int64_t z = tiles.extent_z();
    return z + z * tiles.extent_x() * (tiles.extent_y() + 1) + 2;
}

/// Tiles stay in the L1 cache, but for windows that are too large.
std::int64_t tile_columns(const MedianTiles& tiles) {
    constexpr std::int64_t cache_bytes = 32 * KiB;
    constexpr std::int64_t least = 128;
    const std::int64_t fitting = cache_bytes / (lines_of(tiles) * median_key_bytes(tiles.type));
    return std::clamp(fitting / least * least, least, std::int64_t{1024});
}

auto key_tile(ElementType type) {
    return size_of(type) <= 2   ? median_tile_16
           : size_of(type) == 4 ? median_tile_32
                                : median_tile_64;
}

/// One thread's memory.
class Space {
  public:
    explicit Space(std::int64_t bytes)
        : bytes_(static_cast<std::byte*>(
              ::operator new (static_cast<std::size_t>(bytes), std::align_val_t{alignment}))) {
        // Lanes beyond a tile's end are computed and dropped; they must not be left undefined.
        std::fill_n(bytes_.get(), bytes, std::byte{0});
    }
    std::byte* data() const { return bytes_.get(); }

  private:
    struct Free {
        void operator()(std::byte* bytes) const noexcept {
            ::operator delete (bytes, std::align_val_t{alignment});
        }
    };
    std::unique_ptr<std::byte, Free> bytes_;
};

} // namespace

std::int64_t median_key_bytes(ElementType type) { return std::max<std::int64_t>(2, size_of(type)); }

std::int64_t median_pitch(const MedianTiles& tiles) {
    const std::int64_t line = alignment / median_key_bytes(tiles.type);
    return (tiles.tile_columns + std::int64_t{2} * tiles.call.radius_x + 2 * line) / line * line +
           line;
}

std::int64_t median_space_bytes(const MedianTiles& tiles) {
    return lines_of(tiles) * median_pitch(tiles) * median_key_bytes(tiles.type);
}

double median_operations(const Median& median, const RowBlock& block) {
    const int count = median.size[0] * median.size[2];
    const auto elements =
        static_cast<double>(block.frames * block.out_rows) * static_cast<double>(median.columns);
    const bool networks = has_networks(count, median.size[1]);
    const int steps = networks ? 4 * median.elements()
                               : median.elements() * static_cast<int>(8 * size_of(median.type));
    return elements * steps;
}

void median(CpuQueue& queue, const Median& median, const RowBlock& block, const std::byte* in,
            std::byte* out, const Tally& replaced) {
    if (block.frames == 0 || block.out_rows == 0) {
        return;
    }
    MedianTiles tiles{
        median_call(median, block, replaced), median.type, in, out, 0, median.invalid};
    const MedianCall& call = tiles.call;
    tiles.tile_columns = tile_columns(tiles);
    const std::int64_t strips = (call.columns + tiles.tile_columns - 1) / tiles.tile_columns;
    constexpr std::int64_t band_rows = 64; // the rows around are sorted again for each band
    const std::int64_t lines = call.lines();
    const std::int64_t bands = (lines + band_rows - 1) / band_rows;
    const double each =
        median_operations(median, block) / static_cast<double>(call.runs() * bands * strips);
    const auto make = key_tile(median.type);
    tbb::enumerable_thread_specific<Space> spaces(
        [&tiles] { return Space(median_space_bytes(tiles)); });
    queue.run([&] {
        using Range = tbb::blocked_range<std::int64_t>;
        tbb::parallel_for(Range(0, call.runs() * bands * strips), [&](const Range& range) {
            Space& space = spaces.local();
            for (std::int64_t i = range.begin(); i < range.end(); ++i) {
                const std::int64_t band = i / strips % bands;
                const std::int64_t run = i / strips / bands;
                const std::int64_t runs_of_frame = call.out_rows / lines;
                MedianTile tile;
                tile.frame = run / runs_of_frame;
                tile.first_row = call.out_first + run % runs_of_frame * lines + band * band_rows;
                tile.rows = std::min(band_rows, lines - band * band_rows);
                tile.first_column = i % strips * tiles.tile_columns;
                tile.columns = std::min(tiles.tile_columns, call.columns - tile.first_column);
                make(tiles, tile, space.data());
                queue.count(each);
            }
        });
    });
    if (median.invalid) {
        mend_medians(queue, median.type, *median.invalid, call, in, out);
    }
}

} // namespace runner
