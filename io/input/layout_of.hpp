// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/hdf5/hdf5_dataset.hpp"
#include "io/input/dataset_layout.hpp"

#include <vector>

namespace runner {

/// The layout of an open dataset, its names of file and dataset left empty. `chunks`: the places of
/// its stored chunks, by check_storage(). @throws Error (input).
DatasetLayout layout_of(const DatasetHandle& dataset, const DatasetInfo& info,
                        std::vector<ChunkPlace> chunks);

} // namespace runner
