// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/hdf5/hdf5_handle.hpp"
#include "io/rows/output_layout.hpp"
#include "io/rows/rows.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace runner {

/// Opens a dataset of `file`, which `handle` has open. @throws Error (input): not there (with those
/// there are), a group, a link that leads nowhere.
DatasetHandle open_dataset(const FileHandle& handle, const std::string& file,
                           const std::string& dataset);

/// Whether the file has a link of this path, in a group that is there.
bool has_link(const FileHandle& handle, const std::string& path);

/// Paths of all datasets of a file in the order of their names.
std::vector<std::string> dataset_paths(const FileHandle& handle);

/// Extents of a dataset; none for a scalar.
std::vector<std::int64_t> extents_of(const DatasetHandle& dataset);

/// The dataset's creation properties.
PropertyHandle creation_of(const DatasetHandle& dataset);

/// The file that holds the dataset: another than the one it was opened in where a link led there.
std::string file_of(const DatasetHandle& dataset);

/// "contiguous", "chunked", "compact", "external", "virtual".
std::string storage_of(const PropertyHandle& creation);

/// Extents of a chunk; none where it is not chunked.
std::vector<std::int64_t> chunk_of(const PropertyHandle& creation);

std::vector<Filter> filters_of(const PropertyHandle& creation);

} // namespace runner
