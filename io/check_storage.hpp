// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/hdf5_dataset.hpp"
#include "io/rows.hpp"

#include <cstdint>
#include <string>

namespace runner {

/// Checks where the bytes of a contiguous or chunked dataset lie: within their file, none over
/// another, each chunk of a size that its elements can have. Returns the bytes of elements that are
/// stored, unpacked; other storage passes and counts in full.
/// @throws Error (input) naming the chunk and the byte.
std::int64_t check_storage(const DatasetHandle& dataset, const PropertyHandle& creation,
                           const DatasetInfo& info, const std::string& where);

} // namespace runner
