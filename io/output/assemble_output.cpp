// SPDX-License-Identifier: BSD-3-Clause
#include "io/output/assemble_output.hpp"

#include "base/format.hpp"
#include "io/filters/packer.hpp"
#include "io/filters/unpacker.hpp"
#include "io/hdf5/hdf5_dataset.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/rows/chunk_grid.hpp"
#include "io/writers/packed_parts.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>

namespace runner {
namespace {

/// What a shard has of each chunk, as HDF5 stores it.
class ChunkSource {
  public:
    explicit ChunkSource(const OutputDataset& output)
        : grid_(output.array, output.layout), parts_(output) {
        if (grid_.layers() > 1) {
            const std::int64_t element = size_of(output.array.type);
            unpacker_.emplace(layout_filters(output.layout, element), grid_.part_bytes());
            packer_.emplace(output.layout, grid_.chunk_bytes(), element);
        }
    }

    const ChunkGrid& grid() const { return grid_; }

    /// Valid until the next call.
    std::span<const std::byte> packed(std::int64_t chunk) {
        if (grid_.layers() == 1) {
            read(chunk, chunk);
            return bytes_;
        }
        whole_.assign(static_cast<std::size_t>(grid_.chunk_bytes()), std::byte{0});
        for (std::int64_t layer = 0; layer < grid_.layers(); ++layer) {
            if (const std::optional<std::int64_t> part = grid_.part_in({chunk, layer})) {
                read(chunk, *part);
                const auto elements =
                    unpacker_->unpack(bytes_, 0, fmt::format("part {} of a shard", *part));
                std::copy(elements.begin(), elements.end(),
                          whole_.begin() + layer * grid_.part_bytes());
            }
        }
        return packer_->pack(whole_);
    }

  private:
    void read(std::int64_t chunk, std::int64_t part) {
        if (!parts_.read(part, bytes_)) {
            throw Error(
                ExitCode::output,
                {"cannot put the compressed chunks together", fmt::format("chunk {}", chunk),
                 parts_.has(part) ? "its bytes have changed on the disk" : "no rank wrote it",
                 "Set run.resume = \"never\" to restart the job"});
        }
    }

    ChunkGrid grid_;
    PackedParts parts_;
    std::optional<Unpacker> unpacker_; ///< of parts
    std::optional<Packer> packer_;     ///< of chunks
    std::vector<std::byte> bytes_;
    std::vector<std::byte> whole_;
};

/// In the chunks' order, whoever wrote them when: the same job makes the same file.
void store_chunks(const OutputDataset& output) {
    FileHandle file = update_hdf5(output.file);
    DatasetHandle dataset = open_dataset(file, output.file, output.dataset);
    ChunkSource chunks(output);
    for (std::int64_t index = 0; index < chunks.grid().count(); ++index) {
        const std::span<const std::byte> bytes = chunks.packed(index);
        const auto start = chunks.grid().start_of(index);
        const std::vector<hsize_t> offset(start.begin(), start.end());
        if (H5Dwrite_chunk(dataset.get(), H5P_DEFAULT, 0, offset.data(), bytes.size(),
                           bytes.data()) < 0) {
            throw_hdf5(ExitCode::output, "cannot store a compressed chunk",
                       file_and_dataset(output.file, output.dataset) + ", from element " +
                           shape_text(start),
                       "Free space on that file system, then run the same command again");
        }
    }
    if (!dataset.close()) {
        throw_hdf5(ExitCode::output, "cannot store the dataset", output.file);
    }
    close_hdf5(std::move(file), output.file);
}

} // namespace

void assemble_output(const OutputDataset& output) {
    if (!output.layout.chunk.empty() && output.layout.compression != Compression::none) {
        store_chunks(output);
    }
}

} // namespace runner
