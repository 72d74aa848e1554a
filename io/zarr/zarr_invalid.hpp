// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"
#include "io/zarr/zarr_store.hpp"

#include <string>
#include <string_view>

namespace runner {

/// Finds what an array's metadata say of elements that are no values, for DatasetInfo::invalid and
/// invalid_value: the attributes `_FillValue` and `missing_value` as xarray writes them, also in
/// base64, of which the first is the value. Of version 2 xarray has it in `fill_value`, which
/// counts where xarray's `_ARRAY_DIMENSIONS` is beside it, but for 0, which other programs write
/// there. netCDF's `valid_range`, `valid_min` and `valid_max` are texts alone. `metadata`: the text
/// of the array's .zarray or zarr.json.
void describe_invalid(ZarrStore& store, const std::string& array, std::string_view metadata,
                      DatasetInfo& info);

} // namespace runner
