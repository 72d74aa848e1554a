// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"

#include <string>
#include <vector>

namespace runner {

/// The metadata of an array that is written.

/// Whether a file holds several chunks and their index.
bool is_in_shards(const OutputDataset& output);

/// The zarr.json of an array of version 3. `names`: of its axes; none where they are not known.
std::string array_text(const OutputDataset& output, const std::vector<std::string>& names);

/// The .zarray of an array of version 2.
std::string zarray_text(const OutputDataset& output);

} // namespace runner
