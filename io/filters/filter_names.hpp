// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/output_layout.hpp"

#include <string>

namespace runner {

/// The name that HDF5's registry has for a filter; empty where it is not known here.
std::string registered_name(int id);

/// A filter as people know it: "deflate(4)", "bitshuffle with LZ4, blocks of 8.00 KiB", "32013
/// (zfp)".
std::string filter_text(const Filter& filter);

} // namespace runner
