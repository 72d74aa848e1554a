// SPDX-License-Identifier: BSD-3-Clause
#include "io/input/positional_reader.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "io/files/file.hpp"
#include "io/files/io_threads.hpp"
#include "io/rows/row_geometry.hpp"

#include <algorithm>
#include <utility>

namespace runner {
namespace {

/// Plain reads at positions, a block a thread.
class PositionalReader final : public RowReader {
  public:
    PositionalReader(const std::string& file, DatasetInfo info, int threads)
        : info_(std::move(info)), file_(file, File::Mode::read), threads_(threads) {
        const std::int64_t end = *info_.offset + byte_count(info_.array);
        if (file_.size() < end) {
            throw Error(ExitCode::input, {"the file is truncated", file,
                                          fmt::format("it has {} bytes and should have at least {}",
                                                      file_.size(), end),
                                          "Copy it again, or make it again"});
        }
    }

    const DatasetInfo& info() const override { return info_; }

    void read(std::int64_t first, std::int64_t rows, std::byte* to) override {
        check_rows(info_.array, first, rows);
        const std::int64_t bytes = rows * row_bytes(info_.array);
        const std::int64_t offset = *info_.offset + first * row_bytes(info_.array);
        threads_.run_blocks(bytes, [&](std::int64_t begin, std::int64_t count) {
            file_.read(offset + begin, count, to + begin);
        });
    }

    /// A read for each run of bytes, several at once.
    void read_runs(const RowRuns& runs, std::byte* to) override {
        if (info_.array.shape.size() == 1) {
            return RowReader::read_runs(runs, to);
        }
        const std::int64_t row = row_bytes(info_.array);
        const std::int64_t wanted = runs.columns * size_of(info_.array.type);
        const bool whole = wanted == row;
        const std::int64_t bytes = whole ? runs.rows * row : wanted; // that lie together
        const std::int64_t a_run = whole ? 1 : runs.rows;
        const std::int64_t pieces = runs.runs * a_run;
        if (pieces == 1) {
            return threads_.run_blocks(bytes, [&](std::int64_t begin, std::int64_t count) {
                file_.read(offset_of(runs, 0, 0) + begin, count, to + begin);
            });
        }
        // So many at a time that handing them out costs little beside a read.
        const std::int64_t step = std::max<std::int64_t>(1, io_block_bytes / 8 / bytes);
        threads_.run((pieces + step - 1) / step, [&](std::int64_t index, int /*thread*/) {
            const std::int64_t end = std::min(pieces, (index + 1) * step);
            for (std::int64_t piece = index * step; piece < end; ++piece) {
                file_.read(offset_of(runs, piece / a_run, piece % a_run), bytes,
                           to + piece * bytes);
            }
        });
    }

  private:
    std::int64_t offset_of(const RowRuns& runs, std::int64_t run, std::int64_t row) const {
        return *info_.offset + (runs.first + run * runs.stride + row) * row_bytes(info_.array) +
               runs.first_column * size_of(info_.array.type);
    }

    DatasetInfo info_;
    File file_;
    IoThreads threads_;
};

} // namespace

std::unique_ptr<RowReader> open_positional_reader(const std::string& file, DatasetInfo info,
                                                  int threads) {
    return std::make_unique<PositionalReader>(file, std::move(info), threads);
}

} // namespace runner
