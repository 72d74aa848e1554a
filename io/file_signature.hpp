// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/file.hpp"

#include <string>

namespace runner {

/// What a file that is not HDF5 seems to be: "it is empty", "it looks like a PNG picture".
std::string looks_like(const File& file);

} // namespace runner
