// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/hdf5/hdf5_handle.hpp"

#include <string>

namespace runner {

/// Opens an HDF5 file to read. @throws Error (input) that says what the file is where it is no HDF5
/// file, how much is missing of a truncated one, and that a locked one is locked.
FileHandle open_hdf5(const std::string& file);

/// Opens an HDF5 file of ours to add to it. @throws Error (output).
FileHandle update_hdf5(const std::string& file);

/// Closes a file written to. @throws Error (output) with what HDF5 could not store.
void close_hdf5(FileHandle handle, const std::string& file);

} // namespace runner
