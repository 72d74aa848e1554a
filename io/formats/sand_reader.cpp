// SPDX-License-Identifier: BSD-3-Clause
#include "io/formats/sand_reader.hpp"

#include "base/error.hpp"
#include "io/files/file.hpp"
#include "io/files/io_threads.hpp"
#include "io/formats/sand_cells.hpp"
#include "io/rows/row_geometry.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace runner {
namespace {

/// Reads packed bytes a block a thread and unpacks those cells that are asked for.
class SandReader final : public RowReader {
  public:
    SandReader(const std::string& file, DatasetInfo info, int threads)
        : info_(std::move(info)), shape_(sand_shape_of(info_.array)), file_(file, File::Mode::read),
          threads_(threads) {
        buffers_.resize(static_cast<std::size_t>(threads_.threads()));
        for (std::vector<std::byte>& buffer : buffers_) {
            buffer.resize(static_cast<std::size_t>(sand_block_bytes));
        }
    }

    const DatasetInfo& info() const override { return info_; }

    void read(std::int64_t first, std::int64_t rows, std::byte* to) override {
        check_rows(info_.array, first, rows);
        const SandRun run = bytes_of_rows(shape_, first, rows);
        const std::int64_t blocks = (run.end - run.begin + sand_block_bytes - 1) / sand_block_bytes;
        const std::int64_t first_cell = first * shape_.width;
        const std::int64_t end_cell = first_cell + rows * shape_.width;
        threads_.run(blocks, [&](std::int64_t index, int thread) {
            const std::int64_t begin = run.begin + index * sand_block_bytes;
            const std::int64_t end = std::min(begin + sand_block_bytes, run.end);
            std::byte* packed = buffers_[static_cast<std::size_t>(thread)].data();
            file_.read(sand_header_bytes + begin, end - begin, packed);
            for_each_part(shape_, {begin, end}, [&](const SandPart& part) {
                check_last_byte(part, packed[part.byte - begin + part.cells / 4]);
                const std::int64_t from = std::max(part.first, first_cell);
                const std::int64_t cells = std::min(part.first + part.cells, end_cell) - from;
                unpack_cells(packed + (part.byte - begin), from - part.first, cells,
                             to + (from - first_cell));
            });
        });
    }

  private:
    /// Refuses bits beyond a frame's cells, which are zeros. `last`: the byte behind the part's
    /// whole bytes, which holds the frame's last cells where their number is no multiple of four.
    void check_last_byte(const SandPart& part, std::byte last) const {
        const std::int64_t cells = part.cells % 4;
        if (cells != 0 && (last >> (2 * cells)) != std::byte{0}) {
            const std::int64_t at = sand_header_bytes + part.byte + part.cells / 4;
            throw Error(ExitCode::input, {"the .sand file is damaged", file_.path(),
                                          "byte " + std::to_string(at) +
                                              " has other bits than zeros beyond its frame's cells",
                                          "Make the file again"});
        }
    }

    /// Unlike sand_shape(), with any number of frames: a header need not have room for it.
    static SandShape sand_shape_of(const ArrayInfo& array) {
        return {array.shape[2], array.shape[1], array.shape[0]};
    }

    DatasetInfo info_;
    SandShape shape_;
    File file_;
    IoThreads threads_;
    std::vector<std::vector<std::byte>> buffers_; ///< one a thread
};

} // namespace

DatasetInfo inspect_sand(const std::string& file) {
    SandContent content = read_sand(file);
    const SandShape& shape = content.shape;
    DatasetInfo info;
    info.array = {ElementType::uint8, {shape.frames, shape.height, shape.width}};
    info.storage = sand_storage;
    info.stored_bytes = shape.file_bytes() - sand_header_bytes;
    info.notes = std::move(content.notes);
    return info;
}

std::unique_ptr<RowReader> open_sand_reader(const std::string& file, int threads) {
    return std::make_unique<SandReader>(file, inspect_sand(file), threads);
}

} // namespace runner
