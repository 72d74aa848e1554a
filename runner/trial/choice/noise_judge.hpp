// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/trial/choice/bisection.hpp"
#include "views/pictures/thumbnail.hpp"

#include <span>
#include <string>

namespace runner::trial {

/// Whether a job has removed more than white noise.
struct NoiseJudgement {
    Strength strength = Strength::too_weak; ///< or too_strong
    std::string text;                       ///< "what was removed correlates by 0.002 ..."
};

/// Judges by the autocorrelation of what was removed between neighbours: too strong if it exceeds
/// what white noise has. @throws Error (usage) if the differences say nothing: images of different
/// size or, by `is_alike`, of different units.
NoiseJudgement judge_by_noise(std::span<const Thumbnail> before, std::span<const Thumbnail> after,
                              bool is_alike);

} // namespace runner::trial
