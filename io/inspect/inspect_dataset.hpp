// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/hdf5/hdf5_dataset.hpp"
#include "io/rows/rows.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace runner {

/// Opens, looks, closes. A file whose name says another format than HDF5
/// (io/formats/rows_format.hpp) is read as such: it has one dataset, of any name; a .sand file's is
/// [frames, height, width].
/// @throws Error (input) naming file and dataset; for a missing dataset the message lists the ones
/// there are.
DatasetInfo inspect_dataset(const std::string& file, const std::string& dataset);

/// Where plain reads find the elements in the file that holds the dataset: it is contiguous,
/// allocated, of a type that differs from the native one by the order of bytes at most.
std::optional<std::int64_t> plain_offset(const DatasetHandle& dataset, const DatasetInfo& info);

} // namespace runner
