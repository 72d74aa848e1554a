// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/hdf5/hdf5_dataset.hpp"
#include "io/rows/rows.hpp"

#include <cstdint>
#include <optional>

namespace runner {

/// Where plain reads find the elements in the file that holds the dataset: it is contiguous,
/// allocated, of a type that differs from the native one by the order of bytes at most.
std::optional<std::int64_t> plain_offset(const DatasetHandle& dataset, const DatasetInfo& info);

} // namespace runner
