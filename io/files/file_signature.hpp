// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/file.hpp"

#include <string>

namespace runner {

/// What a file that is not HDF5 seems to be: "it is empty", "it looks like a PNG picture".
std::string looks_like(const File& file);

/// Whether the file has HDF5's signature where one may be: at its beginning, or behind a block that
/// another program put before it, at 512 bytes, 1024, 2048 and so on.
bool has_hdf5_signature(const File& file);

} // namespace runner
