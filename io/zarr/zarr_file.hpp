// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/stored_rows.hpp"

#include <string>
#include <vector>

namespace runner {

/// A Zarr store, version 2 or 3, that is a folder.

/// RowsFormat's survey. The dataset is an array, or a group with images of OME-Zarr, of which
/// level 0 of the first is taken; "": the store's root. An array that is the root is called /data.
/// All of its chunks are unpacked by io/filters/. @throws Error (input).
StoredRows survey_zarr(const SurveyedDataset& what);

/// FolderFormat's functions.
bool is_zarr(const std::string& folder);
std::vector<std::string> zarr_arrays(const std::string& folder, const InputRules& rules);

} // namespace runner
