// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace runner {

/// A part of a dataset: a box of it, or a box of some of its frames; along later axes it may have
/// every second element, or one index alone.
struct DatasetPart {
    std::vector<std::int64_t> first; ///< of each axis
    std::vector<std::int64_t> count; ///< of each axis, at least 1
    /// Where not empty: the numbers along the first axis that are taken, rising, count[0] of them.
    /// first[0] is 0 then.
    std::vector<std::int64_t> frames = {};
    /// From one element to the next along each axis but the first, which has `frames`; empty where
    /// none is left out.
    std::vector<std::int64_t> step = {};
    /// Axes of one index that the part has no axis for, rising.
    std::vector<std::size_t> dropped = {};

    std::int64_t step_of(std::size_t axis) const { return step.empty() ? 1 : step[axis]; }
    bool drops(std::size_t axis) const;
    /// The axes of the dataset that the part has, rising.
    std::vector<std::size_t> axes() const;
    /// The extents of the part's axes.
    std::vector<std::int64_t> shape() const;
};

/// The part of the dataset that `inner`, a part of the part `outer`, is. Frames of `inner` are
/// evenly apart where `outer` has no axis for the dataset's first.
DatasetPart part_of_part(const DatasetPart& outer, const DatasetPart& inner);

/// As "[0:64, 3, 200:1800]"; elements evenly apart as "0:3000:2", other frames by their number and
/// a checksum. Equal texts are equal parts.
std::string part_text(const DatasetPart& part);

/// Where the part's axes come from.
std::vector<AxisOrigin> origins_of(const DatasetPart& part);

/// What `info` is of the part alone: the part's shape and axes, its share of the stored bytes, no
/// offset.
DatasetInfo info_of_part(const DatasetInfo& info, const DatasetPart& part);

/// The axes of a part: without those that it drops, and with spacing and origin of the elements
/// that it takes. Of channels it has what is known of those that it takes, also of one whose axis
/// it drops.
Axes axes_of_part(const Axes& whole, const DatasetPart& part);

/// Which rows of a dataset a part reads: those of its box, with all axes and without what a step
/// leaves out of a row.
///
///     dataset 2 × 4 rows, part rows 1:3      row of the part    0 1 2 3
///     (frame 0) . a b .  (frame 1) . c d .   row of the dataset 1 2 5 6
class PartRowMap {
  public:
    /// `part` lies within a dataset of this shape. It outlives the map.
    PartRowMap(std::vector<std::int64_t> shape, const DatasetPart& part);

    /// The row of the dataset that is row `row` of the box.
    std::int64_t row_of(std::int64_t row) const;
    /// Rows of the box from this one on that lie one after the other in the dataset too.
    std::int64_t adjacent(std::int64_t row) const { return adjacent_ - row % adjacent_; }
    /// The rows of the box, whole, that hold these rows of the part.
    RowRuns rows_of_box(const RowRuns& of_part) const;

  private:
    std::vector<std::int64_t> shape_;
    const DatasetPart* part_;
    std::int64_t adjacent_ = 1;
};

/// Rows of the part as if it were a dataset of its own. `part` lies within the dataset of `whole`.
/// Beside the caller's memory: 1 MiB where elements of a row are left out.
std::unique_ptr<RowReader> open_part(std::unique_ptr<RowReader> whole, DatasetPart part);

} // namespace runner
