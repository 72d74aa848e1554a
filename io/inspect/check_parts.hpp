// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/hdf5/hdf5_handle.hpp"

#include <string>

namespace runner {

/// Checks that the parts which an output of this program lists are there, whole and its own: HDF5
/// would read fill values, or another output's elements, without an error. `creation`: of a virtual
/// dataset of the open file, called `where`; of other files nothing is checked. @throws Error
/// (input) naming the first part that is missing, of another size or of another output.
void check_parts(const FileHandle& handle, const std::string& file, const PropertyHandle& creation,
                 const std::string& where);

} // namespace runner
