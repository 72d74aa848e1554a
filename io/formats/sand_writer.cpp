// SPDX-License-Identifier: BSD-3-Clause
#include "io/formats/sand_writer.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "io/files/file.hpp"
#include "io/files/io_threads.hpp"
#include "io/formats/sand_cells.hpp"
#include "io/formats/sand_reader.hpp"
#include "io/rows/dense_rows.hpp"
#include "io/rows/row_geometry.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace runner {
namespace {

/// Packs a block a thread and writes it at its place.
class SandWriter final : public RowWriter {
  public:
    SandWriter(const OutputDataset& output, int threads)
        : output_(output), shape_(sand_shape(output.array)),
          alignment_(sand_alignment(output.array)), file_(output.file, File::Mode::update),
          threads_(threads) {
        std::array<std::byte, sand_header_bytes> there{};
        if (file_.size() == shape_.file_bytes()) {
            file_.read(0, sand_header_bytes, there.data());
        }
        if (there != sand_header(shape_)) {
            refuse_changed_output(output.file);
        }
        buffers_.resize(static_cast<std::size_t>(threads_.threads()));
        for (std::vector<std::byte>& buffer : buffers_) {
            buffer.resize(static_cast<std::size_t>(sand_block_bytes));
        }
    }

    void write(std::int64_t first, std::int64_t rows, const std::byte* from) override {
        check_rows(output_.array, first, rows);
        check_borders(first, rows);
        const SandRun run = bytes_of_rows(shape_, first, rows);
        const std::int64_t blocks = (run.end - run.begin + sand_block_bytes - 1) / sand_block_bytes;
        threads_.run(blocks, [&](std::int64_t index, int thread) {
            const std::int64_t begin = run.begin + index * sand_block_bytes;
            const std::int64_t end = std::min(begin + sand_block_bytes, run.end);
            std::byte* packed = buffers_[static_cast<std::size_t>(thread)].data();
            for_each_part(shape_, {begin, end}, [&](const SandPart& part) {
                pack_cells(from + (part.first - first * shape_.width), part.cells,
                           packed + (part.byte - begin));
            });
            file_.write(sand_header_bytes + begin, end - begin, packed);
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
    /// A byte is written whole: one that two writes shared would lose cells.
    void check_borders(std::int64_t first, std::int64_t rows) const {
        for (const std::int64_t row : {first, first + rows}) {
            if (row % shape_.height % alignment_ != 0) {
                throw Error(ExitCode::defect,
                            {"rows are written off the borders of bytes",
                             shape_text(output_.array.shape),
                             fmt::format("rows {} to {}", first, first + rows), ""});
            }
        }
    }

    OutputDataset output_;
    SandShape shape_;
    std::int64_t alignment_;
    File file_;
    IoThreads threads_;
    std::vector<std::vector<std::byte>> buffers_; ///< one a thread
};

} // namespace

DataPlace sand_place(const ArrayInfo& array) {
    const std::int64_t file_bytes = sand_shape(array).file_bytes();
    return {sand_header_bytes, file_bytes - sand_header_bytes, file_bytes};
}

void sand_structure(const ArrayInfo& array, const StructurePiece& piece) {
    piece(0, sand_header(sand_shape(array)));
}

std::int64_t sand_alignment(const ArrayInfo& array) {
    const SandShape shape = sand_shape(array);
    return std::min(4 / std::gcd(shape.width, std::int64_t{4}), shape.height);
}

std::unique_ptr<RowReader> open_sand_output(const OutputDataset& output, int threads) {
    return open_sand_reader(output.file, threads);
}

std::unique_ptr<RowWriter> open_sand_writer(const OutputDataset& output, int threads) {
    return std::make_unique<SandWriter>(output, threads);
}

} // namespace runner
