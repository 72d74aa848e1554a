// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/sand/sand.hpp"

#include "base/rounding.hpp"
#include "base/sizes.hpp"
#include "kernels/sand/sand_hash.hpp"
#include "kernels/sand/sand_tile.hpp"

#include <algorithm>
#include <cstring>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>

namespace runner {

std::uint32_t sand_threshold(double chance) {
    const auto wanted = static_cast<float>(chance);
    std::uint32_t low = 0;
    std::uint32_t high = 65536;
    while (low < high) {
        const std::uint32_t middle = (low + high) / 2;
        if (static_cast<float>(middle) / 65535.0F >= wanted) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

SandBand sand_rows_after(const Sand& sand, const SandBand& band, std::int64_t generations) {
    const std::int64_t end = band.first_row + band.rows;
    const std::int64_t first = band.first_row == 0 ? 0 : band.first_row + generations;
    const std::int64_t last = end == sand.rows ? end : end - generations;
    return {first, std::max<std::int64_t>(0, last - first)};
}

std::int64_t sand_table_bytes(Backend backend, const Sand& sand) {
    return backend == Backend::cuda ? sand_cuda_table_bytes(sand.columns)
                                    : sand_cpu_table_bytes(sand.columns);
}

namespace {

/// How a band is cut: tiles of rows, each taken through a pass of some generations at once. A tile
/// works on a row more a generation on each side than it keeps.
struct SandCut {
    std::int64_t tile_rows;
    std::int64_t depth; ///< generations of a pass, at most
};

SandCut cut_band(const Sand& sand, const SandBand& band, int threads) {
    constexpr std::int64_t most_depth = 16;
    constexpr std::int64_t tile_bytes = 768 * KiB; // of a core's L2 cache
    const std::int64_t row_bytes = SandTileRows::stride_of(sand.columns) * 16;
    const std::int64_t fit = std::max<std::int64_t>(8, tile_bytes / row_bytes);
    const std::int64_t shares = std::int64_t{threads} * (threads == 1 ? 1 : 3);
    const std::int64_t share = ceil_divide(band.rows, shares);
    const std::int64_t depth = std::clamp<std::int64_t>(std::min(fit, share) / 6, 1, most_depth);
    return {std::max<std::int64_t>(1, std::min(share, fit - 2 * depth)), depth};
}

/// Passes swap the two buffers, so that an odd number of them ends in the second.
std::int64_t count_passes(std::int64_t generations, std::int64_t depth) {
    const std::int64_t passes = ceil_divide(generations, depth);
    return passes % 2 == 0 ? passes + 1 : passes;
}

SandPass make_pass(const Sand& sand, const SandBand& band, const std::byte* tables) {
    SandPass pass;
    pass.sand = sand;
    pass.tables = {reinterpret_cast<const std::uint32_t*>(tables), sand_plane_words(sand.columns)};
    pass.held = band;
    const SandThresholds& t = sand.thresholds;
    const std::array<std::uint32_t, 5> values = {t.sand_slide, t.sand_fall, t.water_fall,
                                                 t.water_diagonal, t.water_spread};
    for (std::size_t chance = 0; chance < values.size(); ++chance) {
        for (std::size_t i = 0; i < 16; ++i) {
            pass.threshold_words[chance][i] = 0U - ((values[chance] >> i) & 1U);
        }
    }
    return pass;
}

void run_pass(const SandPass& pass, std::int64_t tile_rows,
              tbb::enumerable_thread_specific<Buffer>& memories) {
    using Range = tbb::blocked_range<std::int64_t>;
    tbb::parallel_for(Range(0, ceil_divide(pass.held.rows, tile_rows)), [&](const Range& tiles) {
        auto* memory = reinterpret_cast<std::uint32_t*>(memories.local().data());
        for (std::int64_t i = tiles.begin(); i < tiles.end(); ++i) {
            const std::int64_t first = pass.held.first_row + i * tile_rows;
            const std::int64_t end =
                std::min(first + tile_rows, pass.held.first_row + pass.held.rows);
            sand_tile(pass, first, end - first, memory);
        }
    });
}

/// What the tables hold of the 64 columns of a word.
void make_table_word(const Sand& sand, std::int64_t word, std::byte* tables) {
    const std::int64_t stride = sand_plane_words(sand.columns);
    for (int offset = 0; offset < 2; ++offset) {
        auto* planes = reinterpret_cast<std::uint32_t*>(tables) +
                       offset * SandCpuTables::planes * stride + word;
        const std::int64_t end = std::min(64 * word + 64, sand.columns - 1);
        for (std::int64_t x = 64 * word + offset; x < end; x += 2) {
            const std::uint32_t part = sand_x_part(static_cast<std::uint32_t>(x));
            const std::uint32_t bit = 1U << (x / 2 % 32);
            for (int i = 0; i < 16; ++i) {
                planes[i * stride] |= ((part >> i) & 1U) != 0 ? bit : 0U;
            }
            planes[16 * stride] |= bit;
        }
    }
}

} // namespace

void make_sand_tables(CpuQueue& queue, const Sand& sand, std::byte* tables) {
    constexpr std::int64_t words_at_once = 4096;
    using Range = tbb::blocked_range<std::int64_t>;
    std::memset(tables, 0, static_cast<std::size_t>(sand_cpu_table_bytes(sand.columns)));
    queue.run([&] {
        tbb::parallel_for(
            Range(0, ceil_divide(sand.columns, std::int64_t{64}), words_at_once),
            [&](const Range& words) {
                queue.count(0);
                for (std::int64_t word = words.begin(); word < words.end(); ++word) {
                    make_table_word(sand, word, tables);
                }
            },
            tbb::simple_partitioner());
    });
}

void advance_sand(CpuQueue& queue, const Sand& sand, const SandBand& band, std::uint64_t generation,
                  std::int64_t generations, std::byte* from, std::byte* to,
                  const std::byte* tables) {
    if (generations == 0) {
        copy_on_device(queue, to, from, band.rows * sand_row_bytes(sand.columns));
        return;
    }
    const SandCut cut = cut_band(sand, band, queue.threads());
    const std::int64_t passes = count_passes(generations, cut.depth);
    const std::int64_t memory_bytes =
        (cut.tile_rows + 2 * cut.depth) * SandTileRows::stride_of(sand.columns) * 16;
    tbb::enumerable_thread_specific<Buffer> memories([&] {
        Buffer memory = allocate_device(queue, memory_bytes);
        std::memset(memory.data(), 0, static_cast<std::size_t>(memory_bytes));
        return memory;
    });
    SandPass pass = make_pass(sand, band, tables);
    queue.run([&] {
        for (std::int64_t i = 0; i < passes; ++i) {
            pass.generation = generation + static_cast<std::uint64_t>(generations * i / passes);
            pass.generations = generations * (i + 1) / passes - generations * i / passes;
            pass.from = i % 2 == 0 ? from : to;
            pass.to = i % 2 == 0 ? to : from;
            run_pass(pass, cut.tile_rows, memories);
        }
    });
}

} // namespace runner
