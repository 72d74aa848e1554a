// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/kind.hpp"

#include <optional>
#include <string>
#include <vector>

namespace runner {

/// What a kind must know of the beam and the camera.
struct Beam {
    double energy = 0;              ///< keV
    double distance = 0;            ///< metres
    double pixel_size = 0;          ///< micrometres, of square pixels
    std::vector<std::string> found; ///< for people, what was taken from the input and from where
};

/// The same as far as the job file says it.
struct BeamKeys {
    std::optional<double> energy;
    std::optional<double> distance;
    std::optional<double> pixel_size;
};

/// What the keys say, and else the input: its scan, and for the pixel size its axes too. `kind`:
/// the table of the keys, for messages.
/// @throws Error (usage) naming every key that must be written and why: the input does not say it,
/// says it in a way that is of no use, or says that pixels are not square.
Beam beam_of(const BeamKeys& keys, const JobInput& input, const std::string& kind);

} // namespace runner
