// SPDX-License-Identifier: BSD-3-Clause
#include "io/input/layout_readers.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "io/files/file.hpp"
#include "io/files/io_threads.hpp"
#include "io/rows/file_elements.hpp"
#include "io/rows/row_geometry.hpp"
#include "io/rows/row_pieces.hpp"

#include <algorithm>
#include <vector>

namespace runner {
namespace {

/// Plain reads at positions, a block a thread.
class PositionalReader final : public RowReader {
  public:
    PositionalReader(const DatasetLayout& layout, int threads)
        : info_(layout.info), extents_(plain_extents(layout)),
          file_(layout.holder, File::Mode::read), threads_(threads), row_(row_bytes(info_.array)) {
        for (const RowExtent& extent : extents_) {
            const std::int64_t end = extent.offset + extent.rows * row_;
            if (file_.size() < end) {
                throw Error(ExitCode::input,
                            {"the file is truncated", layout.holder,
                             "it has " + std::to_string(file_.size()) +
                                 " bytes and should have at least " + std::to_string(end),
                             "Copy it again, or make it again"});
            }
        }
    }

    const DatasetInfo& info() const override { return info_; }

    void read(std::int64_t first, std::int64_t rows, std::byte* to) override {
        check_rows(info_.array, first, rows);
        read_blocks(cut_runs(plain_runs(extents_, first, rows, row_),
                             block_for(rows * row_, threads_.threads())),
                    1, to);
    }

    /// A read for each run of bytes, several at once.
    void read_runs(const RowRuns& runs, std::byte* to) override {
        if (info_.array.shape.size() == 1) {
            return RowReader::read_runs(runs, to);
        }
        const std::int64_t wanted = runs.columns * size_of(info_.array.type);
        const std::int64_t skipped = runs.first_column * size_of(info_.array.type);
        std::vector<PlainRun> all;
        for (std::int64_t run = 0; run < runs.runs; ++run) {
            const std::int64_t first = runs.first + run * runs.stride;
            const std::int64_t done = run * runs.rows * wanted;
            for (const auto& [offset, bytes, at] : plain_runs(extents_, first, runs.rows, row_)) {
                if (wanted == row_) {
                    all.push_back({offset, bytes, done + at});
                    continue;
                }
                for (std::int64_t row = 0; row < bytes / row_; ++row) {
                    all.push_back(
                        {offset + row * row_ + skipped, wanted, done + (at / row_ + row) * wanted});
                }
            }
        }
        const std::int64_t total = runs.runs * runs.rows * wanted;
        all = cut_runs(all, block_for(total, threads_.threads()));
        // So many at a time that handing them out costs little beside a read.
        const std::int64_t mean = std::max<std::int64_t>(1, total / std::ssize(all));
        read_blocks(all, std::max<std::int64_t>(1, io_block_bytes / 8 / mean), to);
    }

    void read_scattered(std::span<const ScatteredRows> all) override {
        std::vector<ScatteredRun> runs;
        for (const ScatteredRows& rows : all) {
            check_rows(info_.array, rows.first, rows.rows);
            append_scattered(runs, 0, extents_, rows, row_);
        }
        for_runs(threads_, runs, row_,
                 [&](const ScatteredRun& run) { read_run(file_, run, info_); });
    }

  private:
    /// `step`: blocks that a thread takes at a time.
    void read_blocks(const std::vector<PlainRun>& blocks, std::int64_t step, std::byte* to) {
        const std::int64_t count = std::ssize(blocks);
        threads_.run((count + step - 1) / step, [&](std::int64_t index, int /*thread*/) {
            const std::int64_t end = std::min(count, (index + 1) * step);
            for (std::int64_t i = index * step; i < end; ++i) {
                const PlainRun& block = blocks[static_cast<std::size_t>(i)];
                file_.read(block.offset, block.bytes, to + block.to);
                if (info_.big_endian) {
                    const std::int64_t size = size_of(info_.array.type);
                    swap_bytes(to + block.to, block.bytes / size, size);
                }
            }
        });
    }

    DatasetInfo info_;
    std::vector<RowExtent> extents_;
    File file_;
    IoThreads threads_;
    std::int64_t row_; ///< bytes of a row
};

} // namespace

std::vector<RowExtent> plain_extents(const DatasetLayout& layout) {
    if (!layout.extents.empty()) {
        return layout.extents;
    }
    return {{0, row_count(layout.info.array), layout.info.offset.value_or(0)}};
}

std::unique_ptr<RowReader> open_positional_reader(const DatasetLayout& layout, int threads) {
    return std::make_unique<PositionalReader>(layout, threads);
}

} // namespace runner
