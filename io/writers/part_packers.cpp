// SPDX-License-Identifier: BSD-3-Clause
#include "io/writers/part_packers.hpp"

#include "base/sizes.hpp"
#include "io/rows/row_geometry.hpp"
#include "io/rows/written_format.hpp"
#include "io/writers/shards.hpp"

#include <algorithm>

namespace runner {
namespace {

/// What a thread writes to a file at once, of small parts: each write waits for those before it.
constexpr std::int64_t most_at_once = 256 * KiB;

/// How many parts are written at once.
std::int64_t most_together(std::int64_t part_bytes) {
    // A record, and what bytes that cannot be packed grow by.
    const std::int64_t beside = 64 + part_bytes / 128;
    return std::max<std::int64_t>(most_at_once / (part_bytes + beside), 1);
}

} // namespace

PartPackers::PartPackers(const OutputDataset& output, const ChunkGrid& grid, int threads)
    : array_(output.array), grid_(grid), cuts_(cuts_chunks(output.array, output.layout)) {
    for (int thread = 0; thread < threads; ++thread) {
        packers_.emplace_back(shard_layout(output), grid_.part_bytes(), array_);
        whole_parts_.emplace_back();
    }
}

std::span<const std::byte> PartPackers::pack(std::int64_t index, std::int64_t first,
                                             const std::byte* from, int thread) {
    const auto own = static_cast<std::size_t>(thread);
    ChunkGrid::Part part = grid_.part_at(index);
    part.first_row -= first;
    return packers_[own].pack(whole_part(part, from, whole_parts_[own]));
}

std::int64_t PartPackers::together(std::int64_t pieces, std::int64_t bytes, int threads) {
    return std::clamp<std::int64_t>(pieces / threads, 1, most_together(bytes));
}

std::int64_t PartPackers::together_bytes(std::int64_t part_bytes) {
    return most_together(part_bytes) == 1 ? 0 : most_at_once;
}

/// The part's elements with zeros beyond the array, or cut to it; in the caller's rows where they
/// lie so.
std::span<const std::byte> PartPackers::whole_part(const ChunkGrid::Part& part,
                                                   const std::byte* from,
                                                   std::vector<std::byte>& whole) {
    if (grid_.chunk_columns() == grid_.columns() && (cuts_ || part.rows == grid_.chunk_rows())) {
        const auto used = static_cast<std::size_t>(part.rows * row_bytes(array_));
        return {from + part.first_row * row_bytes(array_), used};
    }
    whole.resize(static_cast<std::size_t>(grid_.part_bytes()));
    const std::int64_t line = grid_.part_bytes() / grid_.chunk_rows();
    std::fill(whole.begin() + part.rows * line, whole.end(), std::byte{0});
    gather_part(array_, part, grid_.chunk_columns(), from, whole.data());
    return whole;
}

} // namespace runner
