// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/metadata/metadata.hpp"

#include <string>
#include <vector>

namespace runner {

/// Gives a dataset of an HDF5 output of ours, and its NXdata group, the metadata; a group, as that
/// of an output of several datasets, gets those of the NXdata group. Attributes and datasets that
/// are there already stay as they are, but for "." in the names of axes: to be called after all
/// that says what the output is. The same metadata makes the same bytes. Returns what could not be
/// given a place, "NAME: why". @throws Error (output).
std::vector<std::string> write_metadata(const std::string& file, const std::string& dataset,
                                        const Metadata& metadata);

} // namespace runner
