// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/io_threads.hpp"
#include "io/rows/dataset_part.hpp"
#include "io/rows/row_geometry.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace runner {
namespace {

/// Whether each row of the part is a row of its box: the last axis is there, and whole in its
/// range.
bool has_rows_of_box(const DatasetPart& part) {
    const std::size_t last = part.count.size() - 1;
    return last == 0 || (part.step_of(last) == 1 && !part.drops(last) &&
                         part.count.size() - part.dropped.size() > 1);
}

/// The box that a part is read from: all axes, and the last one without a gap. Rows that are short
/// are read whole.
DatasetPart box_of(const ArrayInfo& whole, const DatasetPart& part) {
    constexpr std::int64_t short_row = 4096; // bytes; a read takes as long as such a row
    DatasetPart box = part;
    box.dropped.clear();
    if (has_rows_of_box(part)) {
        return box;
    }
    if (row_bytes(whole) <= short_row) {
        box.first.back() = 0;
        box.count.back() = whole.shape.back();
    } else {
        box.count.back() = (part.count.back() - 1) * part.step_of(part.count.size() - 1) + 1;
    }
    if (!box.step.empty()) {
        box.step.back() = 1;
    }
    return box;
}

/// Rows of a box of a dataset.
class PartRows final : public RowReader {
  public:
    /// `box` has all axes, and its rows are without a gap.
    PartRows(std::unique_ptr<RowReader> whole, DatasetPart box)
        : whole_(std::move(whole)), part_(std::move(box)), map_(whole_->info().array.shape, part_),
          info_(info_of_part(whole_->info(), part_)) {}

    const DatasetInfo& info() const override { return info_; }

    void read(std::int64_t first, std::int64_t rows, std::byte* to) override {
        check_rows(info_.array, first, rows);
        const bool one_axis = info_.array.shape.size() == 1;
        read_all({first, rows, 1, 0, 0, one_axis ? 1 : info_.array.shape.back()}, to);
    }

    void read_runs(const RowRuns& runs, std::byte* to) override {
        if (info_.array.shape.size() == 1) {
            return RowReader::read_runs(runs, to);
        }
        read_all(runs, to);
    }

  private:
    /// Reads `wanted` rows of the part; the rows of the dataset are gathered into runs of one
    /// length, evenly apart, each of which is one call.
    void read_all(const RowRuns& wanted, std::byte* to) {
        RowRuns gathered;
        Run run; // not yet in `gathered`
        for (std::int64_t i = 0; i < wanted.runs; ++i) {
            std::int64_t row = wanted.first + i * wanted.stride;
            const std::int64_t end = row + wanted.rows;
            while (row < end) {
                const std::int64_t rows = std::min(end - row, map_.adjacent(row));
                const std::int64_t first = map_.row_of(row);
                if (run.rows > 0 && run.first + run.rows == first) {
                    run.rows += rows;
                } else {
                    gather(run, gathered, wanted, to);
                    run = {first, rows};
                }
                row += rows;
            }
        }
        gather(run, gathered, wanted, to);
        send(gathered, wanted, to);
    }

    struct Run {
        std::int64_t first = 0;
        std::int64_t rows = 0;
    };

    void gather(const Run& run, RowRuns& gathered, const RowRuns& wanted, std::byte*& to) {
        if (run.rows == 0) {
            return;
        }
        const std::int64_t apart =
            run.first - (gathered.first + (gathered.runs - 1) * gathered.stride);
        const bool fits = gathered.rows == run.rows && apart > 0 &&
                          (gathered.runs == 1 || apart == gathered.stride);
        if (!fits) {
            send(gathered, wanted, to);
            gathered = {};
            gathered.first = run.first;
            gathered.rows = run.rows;
            return;
        }
        gathered.stride = apart;
        ++gathered.runs;
    }

    void send(RowRuns& gathered, const RowRuns& wanted, std::byte*& to) {
        if (gathered.rows == 0) {
            return;
        }
        const ArrayInfo& array = whole_->info().array;
        const bool one_axis = array.shape.size() == 1;
        const std::int64_t bytes =
            gathered.runs * gathered.rows * wanted.columns * size_of(array.type);
        if (one_axis || (gathered.runs == 1 && wanted.columns == array.shape.back())) {
            for (std::int64_t i = 0; i < gathered.runs; ++i) {
                whole_->read(gathered.first + i * gathered.stride, gathered.rows,
                             to + i * gathered.rows * row_bytes(array));
            }
        } else {
            gathered.first_column = part_.first.back() + wanted.first_column;
            gathered.columns = wanted.columns;
            whole_->read_runs(gathered, to);
        }
        to += bytes;
        gathered = {};
    }

    std::unique_ptr<RowReader> whole_;
    DatasetPart part_;
    PartRowMap map_;
    DatasetInfo info_;
};

/// Rows of a part that are no rows of its box. The elements have the same order in both.
class PickedRows final : public RowReader {
  public:
    PickedRows(std::unique_ptr<RowReader> whole, const DatasetPart& part)
        : info_(info_of_part(whole->info(), part)), taken_(part.count.back()),
          step_(part.step_of(part.count.size() - 1)) {
        DatasetPart box = box_of(whole->info().array, part);
        first_ = part.first.back() - box.first.back();
        box_ = std::make_unique<PartRows>(std::move(whole), std::move(box));
    }

    const DatasetInfo& info() const override { return info_; }

    void read(std::int64_t first, std::int64_t rows, std::byte* to) override {
        check_rows(info_.array, first, rows);
        const std::int64_t width = row_elements(info_.array);
        const std::int64_t size = size_of(info_.array.type);
        const std::int64_t row = row_bytes(box_->info().array);
        const std::int64_t most = std::max<std::int64_t>(io_block_bytes / row, 1);
        std::int64_t element = first * width;
        const std::int64_t end = (first + rows) * width;
        while (element < end) {
            const std::int64_t box_row = element / taken_;
            const std::int64_t count = std::min(most, (end - 1) / taken_ + 1 - box_row);
            buffer_.resize(static_cast<std::size_t>(count * row));
            box_->read(box_row, count, buffer_.data());
            const std::int64_t until = std::min(end, (box_row + count) * taken_);
            for (; element < until; ++element) {
                const std::int64_t column = first_ + element % taken_ * step_;
                const std::int64_t at = (element / taken_ - box_row) * row + column * size;
                std::memcpy(to, buffer_.data() + at, static_cast<std::size_t>(size));
                to += size;
            }
        }
    }

  private:
    DatasetInfo info_;
    std::int64_t taken_; ///< elements of a row of the box
    std::int64_t step_;  ///< from one to the next
    std::int64_t first_ = 0;
    std::unique_ptr<RowReader> box_;
    std::vector<std::byte> buffer_;
};

/// Rows of a part whose leading axes are fewer than those of its box.
class ShapedRows final : public RowReader {
  public:
    ShapedRows(std::unique_ptr<RowReader> box, DatasetInfo info)
        : box_(std::move(box)), info_(std::move(info)) {}

    const DatasetInfo& info() const override { return info_; }
    void read(std::int64_t first, std::int64_t rows, std::byte* to) override {
        box_->read(first, rows, to);
    }
    void read_runs(const RowRuns& runs, std::byte* to) override { box_->read_runs(runs, to); }

  private:
    std::unique_ptr<RowReader> box_;
    DatasetInfo info_;
};

} // namespace

PartRowMap::PartRowMap(std::vector<std::int64_t> shape, const DatasetPart& part)
    : shape_(std::move(shape)), part_(&part) {
    for (std::size_t axis = row_axes(shape_); axis-- > 0;) {
        if ((axis == 0 && !part.frames.empty()) || part.step_of(axis) != 1) {
            break;
        }
        adjacent_ *= part.count[axis];
        if (part.count[axis] != shape_[axis]) {
            break;
        }
    }
}

std::int64_t PartRowMap::row_of(std::int64_t row) const {
    std::int64_t found = 0;
    std::int64_t below = 1; // rows of the dataset that one step along the axis passes
    for (std::size_t axis = row_axes(shape_); axis-- > 0;) {
        const std::int64_t index = row % part_->count[axis];
        row /= part_->count[axis];
        const bool listed = axis == 0 && !part_->frames.empty();
        found += below * (listed ? part_->frames[static_cast<std::size_t>(index)]
                                 : part_->first[axis] + index * part_->step_of(axis));
        below *= shape_[axis];
    }
    return found;
}

RowRuns PartRowMap::rows_of_box(const RowRuns& of_part) const {
    if (has_rows_of_box(*part_)) {
        return of_part;
    }
    const std::vector<std::int64_t> shape = part_->shape();
    const std::int64_t width = shape.size() > 1 ? shape.back() : 1;
    const std::int64_t taken = part_->count.back();
    const std::int64_t first = of_part.first * width / taken;
    const std::int64_t end = ((of_part.first + of_part.rows) * width - 1) / taken + 1;
    return {first, end - first, 1, 0, 0, taken};
}

std::unique_ptr<RowReader> open_part(std::unique_ptr<RowReader> whole, DatasetPart part) {
    if (!has_rows_of_box(part)) {
        return std::make_unique<PickedRows>(std::move(whole), part);
    }
    if (part.dropped.empty()) {
        return std::make_unique<PartRows>(std::move(whole), std::move(part));
    }
    DatasetInfo info = info_of_part(whole->info(), part);
    DatasetPart box = box_of(whole->info().array, part);
    return std::make_unique<ShapedRows>(
        std::make_unique<PartRows>(std::move(whole), std::move(box)), std::move(info));
}

} // namespace runner
