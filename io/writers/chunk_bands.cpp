// SPDX-License-Identifier: BSD-3-Clause
#include "io/writers/chunk_bands.hpp"

#include "base/rounding.hpp"
#include "base/sizes.hpp"
#include "io/rows/row_geometry.hpp"
#include "io/rows/written_format.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace runner {
namespace {

/// What a thread packs after the last line of all bands at once: two minutes of zstd's slowest
/// level at 2 MB/s. A watchdog takes a write that lasts much longer for a stall.
constexpr std::int64_t most_bytes_a_thread = 256 * MiB;

} // namespace

std::unique_ptr<ChunkBands> ChunkBands::of(const OutputDataset& output, const ChunkGrid& grid,
                                           std::int64_t memory, int threads) {
    if (grid.layers() == 1 || output.layout.compression == Compression::none ||
        output.parts.several()) {
        return nullptr;
    }
    memory = std::min(memory, threads * most_bytes_a_thread);
    const std::int64_t packing = threads * packing_bytes(output.layout, grid);
    const std::int64_t band = grid.layers() * grid.chunk_rows() * row_bytes(output.array);
    return packing + band > memory
               ? nullptr
               : std::make_unique<ChunkBands>(output, grid, memory - packing, threads);
}

ChunkBands::ChunkBands(const OutputDataset& output, const ChunkGrid& grid, std::int64_t memory,
                       int threads)
    : array_(output.array), grid_(grid), line_bytes_(grid.chunk_rows() * row_bytes(output.array)),
      buffers_(memory, grid.layers() * line_bytes_) {
    for (int thread = 0; thread < threads; ++thread) {
        packers_.emplace_back(output.layout, grid.chunk_bytes(), array_);
        chunks_.emplace_back();
    }
}

std::int64_t ChunkBands::packing_bytes(const OutputLayout& layout, const ChunkGrid& grid) {
    return grid.chunk_bytes() + Packer::memory(layout, grid.chunk_bytes());
}

std::int64_t ChunkBands::band_of(std::int64_t part) const {
    return grid_.place_of(part).chunk / grid_.across();
}

std::byte* ChunkBands::place(std::int64_t part) {
    ++lines_;
    const std::int64_t index = band_of(part);
    const auto found = bands_.find(index);
    Band* const band = found != bands_.end() ? &found->second : begin(index);
    if (band == nullptr) {
        return nullptr;
    }
    const std::int64_t layer = grid_.place_of(part).layer;
    band->lines[static_cast<std::size_t>(layer)] = Came::unsaved;
    band->touched = lines_;
    std::byte* const to = buffers_.data(band->buffer) + layer * line_bytes_;
    if (--band->missing == 0) {
        whole_.insert(bands_.extract(index));
    }
    return to;
}

/// Null where there is no memory for it.
ChunkBands::Band* ChunkBands::begin(std::int64_t index) {
    const std::optional<std::size_t> buffer = buffers_.take();
    if (!buffer) {
        return nullptr;
    }
    Band band;
    band.buffer = *buffer;
    band.lines.assign(static_cast<std::size_t>(grid_.layers()), Came::no);
    for (std::int64_t layer = 0; layer < grid_.layers(); ++layer) {
        band.missing += grid_.part_in({index * grid_.across(), layer}) ? 1 : 0;
    }
    return &bands_.emplace(index, std::move(band)).first->second;
}

std::vector<ChunkBands::WholeChunk> ChunkBands::whole() const {
    std::vector<WholeChunk> chunks;
    for (const auto& [index, band] : whole_) {
        for (std::int64_t chunk = 0; chunk < grid_.across(); ++chunk) {
            chunks.push_back({index * grid_.across() + chunk, buffers_.data(band.buffer)});
        }
    }
    return chunks;
}

void ChunkBands::drop_whole() {
    for (const auto& [index, band] : whole_) {
        buffers_.give_back(band.buffer);
    }
    whole_.clear();
}

std::span<const std::byte> ChunkBands::pack(const WholeChunk& chunk, int thread) {
    const auto own = static_cast<std::size_t>(thread);
    std::vector<std::byte>& elements = chunks_[own];
    elements.assign(static_cast<std::size_t>(grid_.chunk_bytes()), std::byte{0});
    for (std::int64_t layer = 0; layer < grid_.layers(); ++layer) {
        if (const std::optional<std::int64_t> index = grid_.part_in({chunk.index, layer})) {
            ChunkGrid::Part part = grid_.part_at(*index);
            part.first_row = 0;
            gather_part(array_, part, grid_.chunk_columns(), chunk.band + layer * line_bytes_,
                        elements.data() + layer * grid_.part_bytes());
        }
    }
    return packers_[own].pack(elements);
}

void ChunkBands::add_unsaved(std::int64_t index, Band& band, std::vector<Line>& lines) const {
    for (std::int64_t layer = 0; layer < grid_.layers(); ++layer) {
        Came& came = band.lines[static_cast<std::size_t>(layer)];
        if (came == Came::unsaved) {
            const std::int64_t part = *grid_.part_in({index * grid_.across(), layer});
            lines.push_back({part, grid_.part_at(part).first_row,
                             buffers_.data(band.buffer) + layer * line_bytes_});
            came = Came::saved;
        }
    }
}

std::vector<ChunkBands::Line> ChunkBands::unsaved() {
    std::vector<Line> lines;
    for (auto& [index, band] : bands_) {
        add_unsaved(index, band, lines);
    }
    return lines;
}

/// Rows come about in their order: a band that had none while those of two more layers of bands
/// came is not completed by this rank.
std::vector<ChunkBands::Line> ChunkBands::give_up() {
    const std::int64_t down = ceil_divide(grid_.frame_rows(), grid_.chunk_rows());
    std::vector<Line> lines;
    for (auto band = bands_.begin(); band != bands_.end();) {
        if (lines_ - band->second.touched <= 2 * grid_.layers() * down) {
            ++band;
            continue;
        }
        add_unsaved(band->first, band->second, lines);
        left_.insert(band->first);
        buffers_.give_back(band->second.buffer);
        band = bands_.erase(band);
    }
    return lines;
}

void ChunkBands::clear() {
    bands_.clear();
    whole_.clear();
    buffers_.clear();
}

} // namespace runner
