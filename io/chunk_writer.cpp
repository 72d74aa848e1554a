// SPDX-License-Identifier: BSD-3-Clause
#include "io/row_writers.hpp"

#include "io/chunk_addresses.hpp"
#include "io/chunk_grid.hpp"
#include "io/file.hpp"
#include "io/io_threads.hpp"
#include "io/row_geometry.hpp"

#include <algorithm>

namespace runner {
namespace {

class ChunkWriter final : public RowWriter {
  public:
    ChunkWriter(const OutputDataset& output, int threads)
        : array_(output.array), grid_(output.array, output.layout),
          addresses_(chunk_addresses(output, grid_)), file_(output.file, File::Mode::update),
          threads_(threads), pieces_(static_cast<std::size_t>(threads)) {
        const std::int64_t line = grid_.chunk_bytes() / grid_.chunk_rows();
        piece_rows_ = std::clamp<std::int64_t>(io_block_bytes / line, 1, grid_.chunk_rows());
    }

    void write(std::int64_t first, std::int64_t rows, const std::byte* from) override {
        const auto [begin, end] = grid_.chunks_of(first, rows);
        const std::int64_t pieces = (grid_.chunk_rows() + piece_rows_ - 1) / piece_rows_;
        threads_.run((end - begin) * pieces, [&, begin = begin](std::int64_t item, int thread) {
            ChunkGrid::Chunk chunk = grid_.chunk_at(begin + item / pieces);
            chunk.first_row -= first;
            const std::int64_t address =
                addresses_[static_cast<std::size_t>(begin + item / pieces)];
            write_piece(chunk, item % pieces * piece_rows_, address, from,
                        pieces_[static_cast<std::size_t>(thread)]);
        });
    }

    void sync() override { file_.sync(); }

    void finish(Sync sync) override {
        if (sync == Sync::yes) {
            file_.sync();
        }
        file_.close();
    }

  private:
    /// Writes rows [row, row + piece_rows_) of a chunk that begins at `address` in the file; the
    /// chunk's rows count from `from`.
    void write_piece(ChunkGrid::Chunk chunk, std::int64_t row, std::int64_t address,
                     const std::byte* from, std::vector<std::byte>& piece) {
        const std::int64_t rows = std::min(piece_rows_, chunk.rows - row);
        if (rows <= 0) {
            return;
        }
        const std::int64_t line = grid_.chunk_bytes() / grid_.chunk_rows();
        chunk.first_row += row;
        chunk.rows = rows;
        if (grid_.chunk_columns() == grid_.columns()) {
            file_.write(address + row * line, rows * line, from + chunk.first_row * line);
            return;
        }
        piece.resize(static_cast<std::size_t>(rows * line));
        gather_chunk(array_, chunk, grid_.chunk_columns(), from, piece.data());
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

std::unique_ptr<RowWriter> open_chunk_writer(const OutputDataset& output, int threads) {
    return std::make_unique<ChunkWriter>(output, threads);
}

} // namespace runner
