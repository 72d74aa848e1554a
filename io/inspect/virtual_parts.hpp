// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/hdf5/hdf5_handle.hpp"
#include "io/rows/rows.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// Elements of a dataset: all, or those in boxes.
struct Selection {
    bool is_all = false;
    std::size_t axes = 0;
    std::vector<std::int64_t> corners; ///< of each box the first and the last, both within it
};

/// A selection's elements that lie together, as numbers in the dataset.
struct ElementRun {
    std::int64_t first = 0;
    std::int64_t count = 0;
};

/// The selection in a dataset of this shape, in order. Nothing where it leads beyond the shape, has
/// an element twice, or is of very many runs.
std::optional<std::vector<ElementRun>> runs_of(const Selection& selection,
                                               const std::vector<std::int64_t>& shape);

/// Elements of a virtual dataset that are elements of a source, both in order. The file does not
/// keep the source's shape.
struct VirtualMapping {
    std::string file; ///< as virtual_sources() gives it
    std::string dataset;
    Selection elements;
    Selection source_elements;
};

/// All mappings of a virtual dataset. Nothing where one is not a fixed number of boxes, or where
/// there are very many of them.
std::optional<std::vector<VirtualMapping>> virtual_mappings(const PropertyHandle& creation);

/// Whether a source of this shape has all elements that a dataset of the other shape takes from it.
bool holds_mapped(const std::vector<std::int64_t>& source, const VirtualMapping& mapping,
                  const std::vector<std::int64_t>& shape);

/// Bytes of a virtual dataset's elements that come from others.
std::int64_t mapped_bytes(const PropertyHandle& creation, const DatasetInfo& info);

/// Checks that the parts which an output of this program lists are there, whole and its own: HDF5
/// would read fill values, or another output's elements, without an error. `creation`: of a virtual
/// dataset of the open file, called `where`; of other files nothing is checked. @throws Error
/// (input) naming the first part that is missing, of another size or of another output. Nothing for
/// a dataset whose sources are all in its own file.
void check_parts(const FileHandle& handle, const std::string& file, const PropertyHandle& creation,
                 const std::string& where);

} // namespace runner
