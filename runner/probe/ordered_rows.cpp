// SPDX-License-Identifier: BSD-3-Clause
#include "runner/probe/ordered_rows.hpp"

#include "base/pages.hpp"
#include "io/files/io_threads.hpp"
#include "io/rows/row_geometry.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace runner {
namespace {

class OrderedRows final : public RowReader {
  public:
    OrderedRows(std::unique_ptr<RowReader> rows, const RowOrder& order, std::int64_t kept_lines,
                int threads)
        : rows_(std::move(rows)), order_(order), info_(in_order(rows_->info(), order)),
          row_bytes_(row_bytes(info_.array)), lines_(order.first > 1 ? kept_lines : 0),
          threads_(lines_ > 0 ? threads : 1) {}

    const DatasetInfo& info() const override { return info_; }

    void read(std::int64_t first, std::int64_t rows, std::byte* to) override {
        if (order_.first == 1) {
            rows_->read(first, rows, to);
            return;
        }
        if (lines_ == 0) {
            read_apart(first, rows, to);
            return;
        }
        for (const std::int64_t end = first + rows; first < end;) {
            const std::int64_t block = first / order_.first / lines_;
            const std::int64_t count = std::min(end, (block + 1) * lines_ * order_.first) - first;
            keep(block);
            take(first, count, to);
            to += count * row_bytes_;
            first += count;
        }
    }

  private:
    /// Rows at a distance of order_.first in the order lie together in the array.
    void read_apart(std::int64_t first, std::int64_t rows, std::byte* to) {
        const std::int64_t starts = std::min(order_.first, rows);
        read_runs_of(starts, [&](std::int64_t at) {
            const std::int64_t row = first + at;
            return ScatteredRows{row % order_.first * order_.second + row / order_.first,
                                 (rows - at + order_.first - 1) / order_.first,
                                 to + at * row_bytes_, order_.first * row_bytes_};
        });
    }

    /// Reads lines [block × lines_, …), each run of rows in its order in the array.
    void keep(std::int64_t block) {
        if (kept_ == block) {
            return;
        }
        if (!memory_) {
            memory_.emplace(lines_ * order_.first * row_bytes_);
        }
        kept_ = -1;
        const std::int64_t begin = block * lines_;
        const std::int64_t lines = std::min(lines_, order_.second - begin);
        read_runs_of(order_.first, [&](std::int64_t at) {
            return ScatteredRows{at * order_.second + begin, lines,
                                 memory_->data() + at * lines_ * row_bytes_, row_bytes_};
        });
        kept_ = block;
    }

    /// Rows that are kept.
    void take(std::int64_t first, std::int64_t rows, std::byte* to) {
        constexpr std::int64_t together = 256;
        const std::int64_t begin = kept_ * lines_;
        threads_.run((rows + together - 1) / together, [&](std::int64_t item, int /*thread*/) {
            const std::int64_t last = std::min(rows, (item + 1) * together);
            for (std::int64_t i = item * together; i < last; ++i) {
                const std::int64_t at = (first + i) % order_.first;
                const std::int64_t line = (first + i) / order_.first - begin;
                std::copy_n(memory_->data() + (at * lines_ + line) * row_bytes_, row_bytes_,
                            to + i * row_bytes_);
            }
        });
    }

    /// Reads `count` runs of rows.
    template <class Run> void read_runs_of(std::int64_t count, const Run& run) {
        constexpr std::size_t most = 1 << 14; // so that the list stays small
        std::vector<ScatteredRows> together;
        for (std::int64_t at = 0; at < count; ++at) {
            together.push_back(run(at));
            if (together.size() == most || at + 1 == count) {
                rows_->read_scattered(together);
                together.clear();
            }
        }
    }

    std::unique_ptr<RowReader> rows_;
    RowOrder order_;
    DatasetInfo info_;
    std::int64_t row_bytes_;
    std::int64_t lines_; ///< that are kept at once
    IoThreads threads_;
    std::optional<Pages> memory_; ///< of lines_ lines, once they are read
    std::int64_t kept_ = -1;      ///< which of the blocks of lines is there
};

} // namespace

std::unique_ptr<RowReader> open_ordered_rows(std::unique_ptr<RowReader> rows, const RowOrder& order,
                                             std::int64_t kept_lines, int threads) {
    return std::make_unique<OrderedRows>(std::move(rows), order, kept_lines, threads);
}

} // namespace runner
