// SPDX-License-Identifier: BSD-3-Clause
#include "runner/probe/ordered_rows.hpp"

#include "io/rows/row_geometry.hpp"

#include <algorithm>
#include <cstddef>
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

    /// Rows at a distance of order_.first in the order lie together in the array.
    void read(std::int64_t first, std::int64_t rows, std::byte* to) override {
        if (order_.first == 1) {
            rows_->read(first, rows, to);
            return;
        }
        constexpr std::size_t most = 1 << 14; // so that the list stays small
        std::vector<ScatteredRows> together;
        const std::int64_t starts = std::min(order_.first, rows);
        for (std::int64_t at = 0; at < starts; ++at) {
            const std::int64_t row = first + at;
            together.push_back({row % order_.first * order_.second + row / order_.first,
                                (rows - at + order_.first - 1) / order_.first, to + at * row_bytes_,
                                order_.first * row_bytes_});
            if (together.size() == most || at + 1 == starts) {
                rows_->read_scattered(together);
                together.clear();
            }
        }
    }

  private:
    std::unique_ptr<RowReader> rows_;
    RowOrder order_;
    DatasetInfo info_;
    std::int64_t row_bytes_;
};

} // namespace

std::unique_ptr<RowReader> open_ordered_rows(std::unique_ptr<RowReader> rows,
                                             const RowOrder& order) {
    return std::make_unique<OrderedRows>(std::move(rows), order);
}

} // namespace runner
