// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/inspect/scan_setup.hpp"

#include <string>
#include <vector>

namespace runner {

/// Writes the numbers that are usable() to an HDF5 output of ours, each under its path, and the
/// angle of each frame in degrees as the scan's rotation_angle. `detector`: the group that holds
/// the frames. @throws Error (output).
void write_setup(const std::string& file, const ScanSetup& setup, const std::string& detector,
                 const std::vector<double>& angles);

} // namespace runner
