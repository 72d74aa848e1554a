// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/input_rules.hpp"
#include "io/hdf5/hdf5_handle.hpp"
#include "io/input/dataset_layout.hpp"

namespace runner {

/// Places the axes of an HDF5 dataset that have no spacing yet by coordinates in its group that are
/// stored in chunks or behind a link within the file, once all is checked that HDF5 relies on while
/// it reads them. Those that are damaged place nothing. In a process that may be lost.
void place_axes(DatasetLayout& layout, const FileHandle& file, const OutsideFiles& outside);

} // namespace runner
