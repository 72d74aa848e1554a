// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/hdf5/hdf5_handle.hpp"
#include "io/input/dataset_layout.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace runner {

/// Finds the layout of a source, by the names that the virtual dataset gives it; nothing where it
/// is not to be read in place.
using FindSource = std::function<std::optional<DatasetLayout>(const std::string& file,
                                                              const std::string& dataset)>;

/// What stands for elements that no source gives, where they are to be filled in.
struct SourceFill {
    std::vector<std::byte> element;
    std::set<std::string> missing; ///< names of files that are not there
};

/// Makes the layout of a virtual dataset one of sources, so that its rows can be read in place and
/// by several threads: where all its rows are whole rows of sources of the same type that need no
/// HDF5. Others stay as they are, and HDF5 reads them. `fill`: nothing where every source must have
/// all that is mapped. Returns the files, by their names in the dataset, that lack rows at their
/// ends, which are filled in.
std::set<std::string> add_sources(DatasetLayout& layout, const PropertyHandle& creation,
                                  const FindSource& find, const std::optional<SourceFill>& fill);

/// Opens a source that is not read at positions.
using OpenSource = std::function<std::unique_ptr<RowReader>(const DatasetLayout& source)>;

/// Reads the rows of a layout of sources.
std::unique_ptr<RowReader> open_source_reader(const DatasetLayout& layout, int threads,
                                              OpenSource open);

/// What that takes of memory beside the caller's, at most.
std::int64_t source_reader_bytes(const DatasetLayout& layout, int threads);

} // namespace runner
