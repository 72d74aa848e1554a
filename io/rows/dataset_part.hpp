// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace runner {

/// A part of a dataset: a box of it, or a box of some of its frames.
struct DatasetPart {
    std::vector<std::int64_t> first; ///< of each axis
    std::vector<std::int64_t> count; ///< of each axis, at least 1
    /// Where not empty: the numbers along the first axis that are taken, rising, count[0] of them.
    /// first[0] is 0 then.
    std::vector<std::int64_t> frames = {};
};

/// As "[0:64, 200:1800]"; frames evenly apart as "0:3000:2", others by their number and a checksum.
/// Equal texts are equal parts.
std::string part_text(const DatasetPart& part);

/// Where the part's axes come from.
std::vector<AxisOrigin> origins_of(const DatasetPart& part);

/// What `info` is of the part alone: the part's shape, its share of the stored bytes, no offset.
DatasetInfo info_of_part(const DatasetInfo& info, const DatasetPart& part);

/// Rows of the part as if it were a dataset of its own. `part` lies within the dataset of `whole`.
std::unique_ptr<RowReader> open_part(std::unique_ptr<RowReader> whole, DatasetPart part);

} // namespace runner
