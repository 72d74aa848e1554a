// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/formats/rows_format.hpp"
#include "io/hdf5/hdf5_dataset.hpp"
#include "io/input/dataset_layout.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace runner {

/// The layout of an open dataset, its names of file and dataset left empty. `chunks`: the places of
/// its stored chunks, by check_storage(). @throws Error (input).
DatasetLayout layout_of(const DatasetHandle& dataset, const DatasetInfo& info,
                        std::vector<ChunkPlace> chunks);

/// The element that what was never written stands for: 0 where the file names none, or says that
/// HDF5 is to leave memory as it is.
std::vector<std::byte> fill_element(const PropertyHandle& creation, const ArrayInfo& array);

/// What a file is of a dataset.
enum class FileIs { all, a_part };

/// The layout of a file of another format. It may be lost over one that a library surveys.
/// @throws Error (input); also where the file is to be all of a dataset and says that it is not.
DatasetLayout layout_of_format(const std::string& file, const std::string& dataset,
                               const RowsFormat& format, FileIs is = FileIs::all,
                               const InputRules& rules = {});

} // namespace runner
