// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/hdf5/hdf5_handle.hpp"
#include "io/inspect/file_content.hpp"

#include <string>
#include <vector>

namespace runner {

/// The soft and external links of an open HDF5 file in the order of their names, each followed as
/// far as an input's links may be without leave (OutsideFiles): to files beside it. Those behind an
/// external link are its file's. @throws Error (input).
std::vector<LinkContent> links_of(const FileHandle& handle, const std::string& file);

} // namespace runner
