// SPDX-License-Identifier: BSD-3-Clause
#include "io/rows/dataset_part.hpp"

#include "base/format.hpp"
#include "io/rows/row_geometry.hpp"

#include <algorithm>
#include <utility>

namespace runner {
namespace {

/// Whether the numbers are evenly apart.
bool is_even(const std::vector<std::int64_t>& numbers) {
    for (std::size_t i = 2; i < numbers.size(); ++i) {
        if (numbers[i] - numbers[i - 1] != numbers[1] - numbers[0]) {
            return false;
        }
    }
    return true;
}

std::string range_text(std::int64_t first, std::int64_t last) {
    return fmt::format("{}:{}", first, last);
}

std::string frames_text(const std::vector<std::int64_t>& frames) {
    if (is_even(frames)) {
        const std::int64_t step = frames.size() < 2 ? 1 : frames[1] - frames[0];
        return range_text(frames.front(), frames.back() + 1) +
               (step == 1 ? "" : fmt::format(":{}", step));
    }
    std::uint64_t hash = 14695981039346656037U; // FNV-1a
    for (const std::int64_t frame : frames) {
        hash = (hash ^ static_cast<std::uint64_t>(frame)) * 1099511628211U;
    }
    return fmt::format("{} frames from {} to {}, checksum {}", frames.size(), frames.front(),
                       frames.back(), hash);
}

/// Maps rows of a part to rows of the dataset.
///
///     dataset 2 × 4 rows, part rows 1:3      row of the part    0 1 2 3
///     (frame 0) . a b .  (frame 1) . c d .   row of the dataset 1 2 5 6
class PartRows final : public RowReader {
  public:
    PartRows(std::unique_ptr<RowReader> whole, DatasetPart part)
        : whole_(std::move(whole)), part_(std::move(part)),
          info_(info_of_part(whole_->info(), part_)) {
        const std::vector<std::int64_t>& shape = whole_->info().array.shape;
        const std::size_t axes = row_axes(shape);
        for (std::size_t axis = axes; axis-- > 0;) {
            if (axis == 0 && !part_.frames.empty()) {
                break;
            }
            adjacent_ *= part_.count[axis];
            if (part_.count[axis] != shape[axis]) {
                break;
            }
        }
    }

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
    /// The row of the dataset that is row `row` of the part.
    std::int64_t row_of(std::int64_t row) const {
        const std::vector<std::int64_t>& shape = whole_->info().array.shape;
        std::int64_t found = 0;
        std::int64_t below = 1; // rows of the dataset that one step along the axis passes
        for (std::size_t axis = row_axes(shape); axis-- > 0;) {
            const std::int64_t index = row % part_.count[axis];
            row /= part_.count[axis];
            const bool listed = axis == 0 && !part_.frames.empty();
            found += below * (listed ? part_.frames[static_cast<std::size_t>(index)]
                                     : part_.first[axis] + index);
            below *= shape[axis];
        }
        return found;
    }

    /// Reads `wanted` rows of the part; the rows of the dataset are gathered into runs of one
    /// length, evenly apart, each of which is one call.
    void read_all(const RowRuns& wanted, std::byte* to) {
        RowRuns gathered;
        Run run; // not yet in `gathered`
        for (std::int64_t i = 0; i < wanted.runs; ++i) {
            std::int64_t row = wanted.first + i * wanted.stride;
            const std::int64_t end = row + wanted.rows;
            while (row < end) {
                const std::int64_t rows = std::min(end - row, adjacent_ - row % adjacent_);
                const std::int64_t first = row_of(row);
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
    DatasetInfo info_;
    std::int64_t adjacent_ = 1; ///< rows that lie one after the other in the dataset too
};

} // namespace

std::string part_text(const DatasetPart& part) {
    std::string text;
    for (std::size_t axis = 0; axis < part.count.size(); ++axis) {
        text += axis == 0 ? "[" : ", ";
        text += axis == 0 && !part.frames.empty()
                    ? frames_text(part.frames)
                    : range_text(part.first[axis], part.first[axis] + part.count[axis]);
    }
    return text + "]";
}

std::vector<AxisOrigin> origins_of(const DatasetPart& part) {
    std::vector<AxisOrigin> axes;
    for (std::size_t axis = 0; axis < part.count.size(); ++axis) {
        axes.push_back({static_cast<std::int64_t>(axis), static_cast<double>(part.first[axis]), 1});
    }
    if (const std::vector<std::int64_t>& frames = part.frames; !frames.empty()) {
        const std::int64_t step = frames.size() < 2 ? 1 : frames[1] - frames[0];
        axes.front() = {0, static_cast<double>(frames.front()),
                        is_even(frames) ? static_cast<double>(step) : 0};
    }
    return axes;
}

DatasetInfo info_of_part(const DatasetInfo& info, const DatasetPart& part) {
    DatasetInfo of_part = info;
    of_part.array.shape = part.count;
    of_part.offset.reset();
    of_part.placement = placed(info.placement, origins_of(part));
    const double share = static_cast<double>(byte_count(of_part.array)) /
                         static_cast<double>(byte_count(info.array));
    of_part.stored_bytes =
        static_cast<std::int64_t>(static_cast<double>(info.stored_bytes) * share);
    return of_part;
}

std::unique_ptr<RowReader> open_part(std::unique_ptr<RowReader> whole, DatasetPart part) {
    return std::make_unique<PartRows>(std::move(whole), std::move(part));
}

} // namespace runner
