// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"
#include "io/files/input_rules.hpp"
#include "io/input/dataset_layout.hpp"

#include <optional>
#include <string>

namespace runner {

/// Reads all that reading a dataset's rows depends on, with no trust in the file: what
/// inspect_dataset() reads, each link on the way, the place and size of every chunk, the
/// parameters of filters, other files that hold elements; and checks how much of what the file
/// declares is not there. HDF5 may crash, or never return, over a damaged file, and the chunks are
/// listed by way of standard output: call this in a process that may be lost (runner/probe.hpp).
/// An empty name stands for the file's default signal. @throws Error (input).
DatasetLayout check_dataset(const std::string& file, const std::string& dataset,
                            const InputRules& rules);

/// The same for the way to `dataset` alone; nothing but that for an empty one.
void check_way(const std::string& file, const std::string& dataset, const InputRules& rules);

/// What is to be said where HDF5 has come upon a damaged structure in this process, even if nobody
/// looked at the failure: nothing that it told then can be trusted. `where` names what was read.
std::optional<Error> structure_damage(const std::string& where);

/// Does what the first check in a process does beside its own work, so that processes that are
/// forked from this one need not.
void prepare_checks();

} // namespace runner
