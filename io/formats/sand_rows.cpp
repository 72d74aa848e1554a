// SPDX-License-Identifier: BSD-3-Clause
#include "io/formats/sand_rows.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "io/files/file.hpp"
#include "io/files/io_threads.hpp"
#include "io/rows/dense_rows.hpp"
#include "io/rows/row_geometry.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

namespace runner {
namespace {

using FourCells = std::array<std::byte, 4>;

constexpr std::array<FourCells, 256> make_table() {
    std::array<FourCells, 256> table{};
    for (unsigned byte = 0; byte < table.size(); ++byte) {
        for (unsigned cell = 0; cell < 4; ++cell) {
            table[byte][cell] = static_cast<std::byte>(byte >> (2 * cell) & 3U);
        }
    }
    return table;
}

constexpr std::array<FourCells, 256> four_cells = make_table();

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
            for_each_frame(shape_, {begin, end}, [&](const SandCells& here) {
                check_last_byte(here, packed + (here.byte - begin));
                const std::int64_t from = std::max(here.first, first_cell);
                const std::int64_t cells = std::min(here.first + here.cells, end_cell) - from;
                unpack_cells(packed + (here.byte - begin), from - here.first, cells,
                             to + (from - first_cell));
            });
        });
    }

  private:
    /// Refuses bits beyond a frame's cells, which are zeros. `packed`: their bytes, the last
    /// of which holds the frame's last cells where their number is no multiple of four.
    void check_last_byte(const SandCells& here, const std::byte* packed) const {
        const std::int64_t cells = here.cells % 4;
        if (cells != 0 && (packed[here.cells / 4] >> (2 * cells)) != std::byte{0}) {
            const std::int64_t at = sand_header_bytes + here.byte + here.cells / 4;
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
            for_each_frame(shape_, {begin, end}, [&](const SandCells& here) {
                pack_cells(from + (here.first - first * shape_.width), here.cells,
                           packed + (here.byte - begin));
            });
            file_.write(sand_header_bytes + begin, end - begin, packed);
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

void unpack_cells(const std::byte* packed, std::int64_t skip, std::int64_t count,
                  std::byte* cells) {
    packed += skip / 4;
    if (const std::int64_t within = skip % 4; within != 0) {
        const std::int64_t some = std::min(4 - within, count);
        std::copy_n(four_cells[std::to_integer<std::size_t>(*packed++)].data() + within, some,
                    cells);
        cells += some;
        count -= some;
    }
    for (; count >= 4; count -= 4, cells += 4) {
        std::memcpy(cells, four_cells[std::to_integer<std::size_t>(*packed++)].data(), 4);
    }
    if (count > 0) {
        std::copy_n(four_cells[std::to_integer<std::size_t>(*packed)].data(), count, cells);
    }
}

void pack_cells(const std::byte* cells, std::int64_t count, std::byte* packed) {
    // Eight at a time: the lowest two bits of each byte are drawn together in pairs.
    for (; count >= 8; count -= 8, cells += 8, packed += 2) {
        std::uint64_t x;
        std::memcpy(&x, cells, 8);
        x = (x | x >> 6U) & 0x000F000F000F000FU;
        x |= x >> 12U;
        packed[0] = static_cast<std::byte>(x);
        packed[1] = static_cast<std::byte>(x >> 32U);
    }
    for (; count > 0; count -= 4, cells += 4) {
        std::byte byte{0};
        for (std::int64_t i = 0; i < std::min<std::int64_t>(count, 4); ++i) {
            byte |= cells[i] << (2 * i);
        }
        *packed++ = byte;
    }
}

SandRun bytes_of_rows(const SandShape& shape, std::int64_t first, std::int64_t rows) {
    if (rows == 0) {
        return {};
    }
    const auto byte_of = [&](std::int64_t row, std::int64_t cells) {
        return row / shape.height * shape.frame_bytes() + cells / 4;
    };
    const std::int64_t last = first + rows - 1;
    return {byte_of(first, first % shape.height * shape.width),
            byte_of(last, (last % shape.height + 1) * shape.width + 3)};
}

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

DataPlace sand_place(const ArrayInfo& array) {
    const std::int64_t file_bytes = sand_shape(array).file_bytes();
    return {sand_header_bytes, file_bytes - sand_header_bytes, file_bytes};
}

void sand_structure(const ArrayInfo& array, const Axes& /*axes*/, const StructurePiece& piece) {
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
