// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/metadata/metadata.hpp"

#include <string>
#include <vector>

namespace runner {

/// Writes the metadata to a dataset of an HDF5 output of ours and to its NXdata group. `dataset`
/// may be a group, as of an output of several datasets: it gets the attributes of an NXdata group.
/// Existing attributes and datasets stay as they are, except "." among the names of axes. Call it
/// after everything else that describes the output. The same metadata makes the same bytes. Returns
/// what it could not write, "NAME: why". @throws Error (output).
std::vector<std::string> write_metadata(const std::string& file, const std::string& dataset,
                                        const Metadata& metadata);

} // namespace runner
