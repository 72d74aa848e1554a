// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/match/match.hpp"

#include "base/rounding.hpp"
#include "base/sizes.hpp"
#include "kernels/match/match_call.hpp"
#include "kernels/match/match_tile.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/cache_aligned_allocator.h>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>

namespace runner {
namespace {

/// References of a box along each axis: a box and all it needs stay in a core's caches. Never less
/// for a call with more layers.
std::array<std::int64_t, 3> box_extent(const MatchCall& call) {
    constexpr std::int64_t list_bytes = 384 * KiB;
    const std::int64_t most = list_bytes / (match_list_keys(call.count) * 8);
    const std::int64_t z = std::min<std::int64_t>(call.corner[0] + 1, 4);
    const std::int64_t x = std::min<std::int64_t>(call.grid[2], 64);
    const std::int64_t y = std::clamp<std::int64_t>(most / (x * z), 1, 16);
    return {std::min(call.grid[0], z), std::min(call.grid[1], y), x};
}

void match_dense(const CpuQueue& queue, const MatchCall& call, const float* volume,
                 const MatchLists& lists) {
    const auto extent = box_extent(call);
    const MatchTileMemory layout(call, extent);
    std::array<std::int64_t, 3> boxes{};
    for (std::size_t i = 0; i < 3; ++i) {
        boxes[i] = ceil_divide(call.grid[i], extent[i]);
    }
    // Zero, so that no vector's unused lanes are NaN; aligned for vectors.
    using Memory = std::vector<std::byte, tbb::cache_aligned_allocator<std::byte>>;
    tbb::enumerable_thread_specific<Memory> memories(
        [&] { return Memory(static_cast<std::size_t>(layout.bytes())); });
    using Range = tbb::blocked_range<std::int64_t>;
    tbb::parallel_for(Range(0, boxes[0] * boxes[1] * boxes[2], 1), [&](const Range& range) {
        std::byte* memory = memories.local().data();
        for (std::int64_t i = range.begin(); i < range.end(); ++i) {
            const std::array<std::int64_t, 3> at = {i / boxes[2] / boxes[1],
                                                    i / boxes[2] % boxes[1], i % boxes[2]};
            MatchBox box;
            for (std::size_t k = 0; k < 3; ++k) {
                box.first[k] = at[k] * extent[k];
                box.end[k] = std::min(box.first[k] + extent[k], call.grid[k]);
            }
            match_dense_box(queue, call, box, volume, lists, layout, memory);
        }
    });
}

void match_sparse(const CpuQueue& queue, const MatchCall& call, const float* volume,
                  const MatchLists& lists) {
    constexpr std::int64_t run = 16; // references
    const double operations = call.operations(MatchSelection::fast);
    using Range = tbb::blocked_range<std::int64_t>;
    tbb::parallel_for(Range(0, call.rows(), run), [&](const Range& rows) {
        match_sparse_run(call, rows.begin(), rows.end(), volume, lists);
        queue.count(static_cast<double>(rows.size()) * operations);
    });
}

} // namespace

void match_patches(CpuQueue& queue, const Match& match, const MatchLayers& layers,
                   const float* volume, const MatchLists& lists) {
    const MatchCall call = make_match_call(match, layers);
    if (call.rows() == 0) {
        return;
    }
    queue.run([&] {
        if (match.selection != MatchSelection::fast) {
            match_published(queue, match.selection, call, volume, lists);
        } else if (call.step == 1) {
            match_dense(queue, call, volume, lists);
        } else {
            match_sparse(queue, call, volume, lists);
        }
    });
}

void pack_match_rows(CpuQueue& queue, std::int64_t rows, int count, const MatchLists& lists,
                     std::byte* out) {
    const auto each = static_cast<std::size_t>(count);
    using Range = tbb::blocked_range<std::int64_t>;
    queue.run([&] {
        tbb::parallel_for(Range(0, rows, 1024), [&](const Range& range) {
            std::byte* to = out + range.begin() * match_row_bytes(count);
            for (std::int64_t row = range.begin(); row < range.end(); ++row) {
                std::memcpy(to, lists.index + row * count, 8 * each);
                std::memcpy(to + 8 * each, lists.distance + row * count, 4 * each);
                std::memcpy(to + 12 * each, lists.count + row, 4);
                to += match_row_bytes(count);
            }
        });
    });
}

} // namespace runner
