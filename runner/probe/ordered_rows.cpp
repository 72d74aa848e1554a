// SPDX-License-Identifier: BSD-3-Clause
#include "runner/probe/ordered_rows.hpp"

#include "io/rows/row_geometry.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

namespace runner {
namespace {

class OrderedRows final : public RowReader {
  public:
    OrderedRows(std::unique_ptr<RowReader> rows, const RowOrder& order)
        : rows_(std::move(rows)), order_(order), info_(in_order(rows_->info(), order)),
          row_bytes_(row_bytes(info_.array)) {}

    const DatasetInfo& info() const override { return info_; }

    void read(std::int64_t first, std::int64_t rows, std::byte* to) override {
        if (order_.first == 1) {
            rows_->read(first, rows, to);
            return;
        }
        const std::int64_t end = first + rows;
        for (std::int64_t row = first; row < end;) {
            const std::int64_t j = row / order_.first;
            const std::int64_t i = row % order_.first;
            const std::int64_t whole = i == 0 ? (end - row) / order_.first : 0;
            std::byte* const there = to + (row - first) * row_bytes_;
            if (whole > 1) {
                read_whole(j, whole, there);
                row += whole * order_.first;
            } else {
                const std::int64_t count = std::min(order_.first - i, end - row);
                read_inner({i * order_.second + j, 1, count, order_.second}, there);
                row += count;
            }
        }
    }

  private:
    void read_inner(RowRuns runs, std::byte* to) {
        runs.columns = row_elements(info_.array);
        rows_->read_runs(runs, to);
    }

    /// All rows of the indices [j, j + count) of the array's second axis.
    void read_whole(std::int64_t j, std::int64_t count, std::byte* to) {
        const std::int64_t most = std::max<std::int64_t>(1, ordered_rows_bytes / row_bytes_);
        const std::int64_t width = std::min(count, most);
        const std::int64_t height = std::clamp<std::int64_t>(most / width, 1, order_.first);
        buffer_.resize(static_cast<std::size_t>(width * height * row_bytes_));
        for (std::int64_t at = 0; at < count; at += width) {
            const std::int64_t columns = std::min(width, count - at);
            for (std::int64_t i = 0; i < order_.first; i += height) {
                const std::int64_t runs = std::min(height, order_.first - i);
                read_inner({i * order_.second + j + at, columns, runs, order_.second},
                           buffer_.data());
                put(runs, columns, to + (at * order_.first + i) * row_bytes_);
            }
        }
    }

    /// The runs in the buffer, whose rows follow each other at a distance of order_.first.
    void put(std::int64_t runs, std::int64_t columns, std::byte* to) const {
        const std::byte* from = buffer_.data();
        for (std::int64_t i = 0; i < runs; ++i) {
            for (std::int64_t j = 0; j < columns; ++j, from += row_bytes_) {
                std::memcpy(to + (j * order_.first + i) * row_bytes_, from,
                            static_cast<std::size_t>(row_bytes_));
            }
        }
    }

    std::unique_ptr<RowReader> rows_;
    RowOrder order_;
    DatasetInfo info_;
    std::int64_t row_bytes_;
    std::vector<std::byte> buffer_;
};

} // namespace

std::unique_ptr<RowReader> open_ordered_rows(std::unique_ptr<RowReader> rows,
                                             const RowOrder& order) {
    return std::make_unique<OrderedRows>(std::move(rows), order);
}

} // namespace runner
