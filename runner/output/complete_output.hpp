// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/hdf5/write_attributes.hpp"
#include "runner/output/claim.hpp"
#include "runner/prepare/prepare.hpp"
#include "runner/probe/prober.hpp"

#include <string>
#include <vector>

namespace runner {

/// Completes the output on rank 0, once every rank has written its last row: checks that all rows
/// are there and that the input has not changed, stores checksums, attributes and what is still
/// true of the input's metadata, and publishes the output. `facts`: attributes about the run,
/// beside those of the job. Returns warnings about metadata that the output does not have.
/// @throws Error (output), and (input) where the input has changed.
std::vector<std::string> complete_output(const PreparedJob& prepared, const Beginning& beginning,
                                         std::vector<Attribute> facts, Prober& prober);

} // namespace runner
