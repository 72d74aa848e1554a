// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/input_rules.hpp"
#include "io/metadata/metadata.hpp"

#include <string>

namespace runner {

/// Reads what an HDF5 file says of a dataset: its attributes, and, where its group is a NeXus
/// NXdata whose signal it is, those of the group, the names of its axes and their coordinates. No
/// link leads further than `rules` allow. In a process that may be lost (runner/probe).
/// @throws Error (input).
Metadata read_metadata(const std::string& file, const std::string& dataset,
                       const InputRules& rules);

} // namespace runner
