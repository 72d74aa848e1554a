// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/hdf5/hdf5_handle.hpp"

#include <string>

namespace runner {

/// Checks that the other files an external or virtual dataset takes its elements from are there and
/// long enough: HDF5 reads fill values, without an error, where they are not. `file` holds the
/// dataset, `where` names it. Where some files of a virtual dataset are missing, fill values are
/// what it holds there: returns a note that lists them, else "". @throws Error (input) that lists
/// what is missing of an external dataset, or where all files of a virtual one are.
std::string check_outside_sources(const PropertyHandle& creation, const std::string& file,
                                  const std::string& where);

} // namespace runner
