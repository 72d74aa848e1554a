// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/match/volume.hpp"
#include "jobs/survey.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace runner {

/// Whether the survey is to count what the noise level is estimated from.
enum class CountNoise { no, yes };

/// A survey of a volume that finds the greatest magnitude of a voxel, as the bits of a float32, in
/// Findings::most; and counts Haar coefficients in Findings::counts (haar_counts of
/// kernels/denoise/noise_level.hpp, the steps in a second pass where the volume is not large) if it
/// is to.
/// @throws Error (input) for a voxel that is not finite.
std::unique_ptr<Survey> make_noise_survey(const Volume& volume, CountNoise count_noise);

} // namespace runner
