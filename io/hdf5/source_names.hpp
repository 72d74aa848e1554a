// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/hdf5/hdf5_handle.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace runner {

/// The files and datasets that a virtual dataset takes its elements from, each pair once, as the
/// file names them: "." is the dataset's own file, %b stands for a number in a series. None for
/// other storage.
std::vector<std::pair<std::string, std::string>> virtual_sources(const PropertyHandle& creation);

/// The one of mapping `index`.
std::pair<std::string, std::string> virtual_source(const PropertyHandle& creation,
                                                   std::size_t index);

/// The file that the name of a virtual dataset's source stands for; nothing where it is a series.
std::optional<std::string> plain_source_name(const std::string& name);

/// The name of a virtual dataset's source with each %b as this number of a series and %% as %.
std::string name_in_series(std::string name, std::int64_t number);

/// Whether the name stands for a series.
bool is_series(const std::string& name);

/// The names of a virtual dataset's other files that are not there; `file` holds the dataset. A
/// series that may grow has none.
std::set<std::string> missing_sources(const PropertyHandle& creation, const std::string& file);

/// The first names of a list, and how many more there are.
std::string source_list(const std::set<std::string>& names);

/// A file that holds elements of a dataset with external storage.
struct ExternalSource {
    std::string file;
    std::uintmax_t offset = 0;
    std::optional<std::uintmax_t> bytes; ///< nothing: up to its end
};

/// The external sources of a dataset, in order. None for other storage.
std::vector<ExternalSource> external_sources(const PropertyHandle& creation);

/// Checks that the other files an external or virtual dataset takes its elements from are there and
/// long enough: HDF5 reads fill values, without an error, where they are not. `file` holds the
/// dataset, `where` names it. Where some files of a virtual dataset are missing, fill values are
/// what it holds there: returns a note that lists them, else "". @throws Error (input) that lists
/// what is missing of an external dataset, or where all files of a virtual one are.
std::string check_outside_sources(const PropertyHandle& creation, const std::string& file,
                                  const std::string& where);

} // namespace runner
