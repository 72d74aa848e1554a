// SPDX-License-Identifier: BSD-3-Clause
#include "io/formats/sand_writer.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/sizes.hpp"
#include "io/files/file.hpp"
#include "io/files/io_threads.hpp"
#include "io/formats/sand_cells.hpp"
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
          alignment_(sand_alignment(output.array, output.layout)),
          file_(output.file, File::Mode::update), threads_(threads) {
        std::array<std::byte, sand_header_bytes> there{};
        if (file_.size() == shape_.file_bytes()) {
            file_.read(0, sand_header_bytes, there.data());
        }
        if (there != sand_header(shape_)) {
            throw Error(ExitCode::output,
                        {"the output is not the one that was created", output.file,
                         "another program changed it", "Start again"});
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

std::int64_t sand_alignment(const ArrayInfo& array, const OutputLayout& layout) {
    if (!layout.chunk.empty() || layout.compression != Compression::none) {
        throw Error(ExitCode::usage, {"cannot store a .sand file so", "output.chunk, compression",
                                      "the format has neither chunks nor compression",
                                      "Leave them out, or give output.file the ending .h5"});
    }
    const SandShape shape = sand_shape(array);
    return std::min(4 / std::gcd(shape.width, std::int64_t{4}), shape.height);
}

void create_sand(const OutputDataset& output) {
    const SandShape shape = sand_shape(output.array);
    File file(output.file, File::Mode::create);
    file.resize(shape.file_bytes());
    file.reserve(0, shape.file_bytes());
    file.write(0, sand_header_bytes, sand_header(shape).data());
    file.close();
}

void restore_sand(const OutputDataset& output) {
    const SandShape shape = sand_shape(output.array);
    File file(output.file, File::Mode::update);
    if (file.size() < shape.file_bytes()) {
        throw Error(ExitCode::output,
                    {"cannot resume from the partial output", output.file,
                     "it has " + size_text(file.size()) + " of " + size_text(shape.file_bytes()),
                     "Set run.resume = \"never\" to restart the job"});
    }
    file.resize(shape.file_bytes());
    file.write(0, sand_header_bytes, sand_header(shape).data());
    file.sync();
    file.close();
}

std::unique_ptr<RowWriter> open_sand_writer(const OutputDataset& output, int threads) {
    return std::make_unique<SandWriter>(output, threads);
}

} // namespace runner
