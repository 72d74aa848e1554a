// SPDX-License-Identifier: BSD-3-Clause
#include "io/writers/row_writers.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "io/files/file.hpp"
#include "io/files/io_threads.hpp"
#include "io/hdf5/hdf5_dataset.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/hdf5/hdf5_handle.hpp"
#include "io/inspect/inspect_dataset.hpp"
#include "io/rows/chunk_grid.hpp"
#include "io/rows/dense_rows.hpp"
#include "io/rows/row_geometry.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace runner {
namespace {

std::int64_t address_of(const DatasetHandle& dataset, const SpaceHandle& space,
                        const ChunkGrid& grid, std::int64_t index) {
    std::array<hsize_t, H5S_MAX_RANK> start{};
    haddr_t address = HADDR_UNDEF;
    hsize_t bytes = 0;
    unsigned skipped_filters = 0;
    hdf5_read(H5Dget_chunk_info(dataset.get(), space.get(), static_cast<hsize_t>(index),
                                start.data(), &skipped_filters, &address, &bytes),
              dataset.get(), ExitCode::output);
    const std::vector<std::int64_t> expected = grid.start_of(index);
    if (address == HADDR_UNDEF || static_cast<std::int64_t>(bytes) != grid.chunk_bytes() ||
        !std::equal(expected.begin(), expected.end(), start.begin(),
                    [](std::int64_t a, hsize_t b) { return static_cast<hsize_t>(a) == b; })) {
        refuse_changed_output(fmt::format("chunk {}", index));
    }
    return static_cast<std::int64_t>(address);
}

class ChunkWriter final : public RowWriter {
  public:
    ChunkWriter(const OutputDataset& output, std::vector<std::int64_t> addresses, int threads)
        : array_(output.array), grid_(output.array, output.layout),
          addresses_(std::move(addresses)), file_(output.file, File::Mode::update),
          threads_(threads), pieces_(static_cast<std::size_t>(threads)) {
        const std::int64_t line = grid_.part_bytes() / grid_.chunk_rows();
        piece_rows_ = std::clamp<std::int64_t>(io_block_bytes / line, 1, grid_.chunk_rows());
    }

    void write(std::int64_t first, std::int64_t rows, const std::byte* from) override {
        const auto [begin, end] = grid_.parts_of(first, rows);
        const std::int64_t pieces = (grid_.chunk_rows() + piece_rows_ - 1) / piece_rows_;
        threads_.run((end - begin) * pieces, [&, begin = begin](std::int64_t item, int thread) {
            const std::int64_t index = begin + item / pieces;
            ChunkGrid::Part part = grid_.part_at(index);
            part.first_row -= first;
            write_piece(part, item % pieces * piece_rows_, address_of(index), from,
                        pieces_[static_cast<std::size_t>(thread)]);
        });
    }

    void start_sync() noexcept override { file_.start_sync(); }

    void sync() override { file_.sync(); }

    void finish(Sync sync) override {
        if (sync == Sync::yes) {
            file_.sync();
        }
        file_.close();
    }

  private:
    /// The address of a part in the file.
    std::int64_t address_of(std::int64_t part) const {
        const ChunkGrid::Place place = grid_.place_of(part);
        return addresses_[static_cast<std::size_t>(place.chunk)] + place.layer * grid_.part_bytes();
    }

    /// Writes rows [row, row + piece_rows_) of a part that begins at `address` in the file; the
    /// part's rows count from `from`.
    void write_piece(ChunkGrid::Part part, std::int64_t row, std::int64_t address,
                     const std::byte* from, std::vector<std::byte>& piece) {
        const std::int64_t rows = std::min(piece_rows_, part.rows - row);
        if (rows <= 0) {
            return;
        }
        const std::int64_t line = grid_.part_bytes() / grid_.chunk_rows();
        part.first_row += row;
        part.rows = rows;
        if (grid_.chunk_columns() == grid_.columns()) {
            file_.write(address + row * line, rows * line, from + part.first_row * line);
            return;
        }
        piece.resize(static_cast<std::size_t>(rows * line));
        gather_part(array_, part, grid_.chunk_columns(), from, piece.data());
        file_.write(address + row * line, rows * line, piece.data());
    }

    ArrayInfo array_;
    ChunkGrid grid_;
    std::vector<std::int64_t> addresses_;
    File file_;
    IoThreads threads_;
    std::vector<std::vector<std::byte>> pieces_; ///< one a thread
    std::int64_t piece_rows_ = 1;
};

} // namespace

std::vector<std::int64_t> chunk_addresses(const OutputDataset& output, const ChunkGrid& grid) {
    const FileHandle file = of_output([&] { return open_hdf5(output.file); });
    const DatasetHandle dataset = open_dataset(file, output.file, output.dataset);
    const SpaceHandle space(hdf5_must(H5Dget_space(dataset.get()), "H5Dget_space"));
    std::vector<std::int64_t> addresses;
    if (grid.count() <= listed_chunks) {
        for (std::int64_t index = 0; index < grid.count(); ++index) {
            addresses.push_back(address_of(dataset, space, grid, index));
        }
        return addresses;
    }
    // One after the other, as HDF5's computed index has it; the last one tells if it is that index.
    const std::int64_t first = address_of(dataset, space, grid, 0);
    const std::int64_t last = address_of(dataset, space, grid, grid.count() - 1);
    if (last != first + (grid.count() - 1) * grid.chunk_bytes()) {
        throw Error(ExitCode::defect, {"HDF5 does not store the chunks one after the other",
                                       output.file, "", "Use larger chunks"});
    }
    for (std::int64_t index = 0; index < grid.count(); ++index) {
        addresses.push_back(first + index * grid.chunk_bytes());
    }
    return addresses;
}

std::unique_ptr<RowWriter> open_chunk_writer(const OutputDataset& output, int threads) {
    return open_chunk_writer(
        output, chunk_addresses(output, ChunkGrid(output.array, output.layout)), threads);
}

std::unique_ptr<RowWriter> open_chunk_writer(const OutputDataset& output,
                                             std::vector<std::int64_t> addresses, int threads) {
    return std::make_unique<ChunkWriter>(output, std::move(addresses), threads);
}

std::unique_ptr<RowWriter> open_contiguous_writer(const OutputDataset& output, int threads) {
    const DatasetInfo info =
        of_output([&] { return inspect_dataset(output.file, output.dataset); });
    if (!info.offset || info.array != output.array) {
        refuse_changed_output(output.file);
    }
    return open_plain_writer(output, *info.offset, threads);
}

} // namespace runner
