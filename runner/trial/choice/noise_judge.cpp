// SPDX-License-Identifier: BSD-3-Clause
#include "runner/trial/choice/noise_judge.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "runner/trial/choice/picture_numbers.hpp"

#include <optional>

namespace runner::trial {

NoiseJudgement judge_by_noise(std::span<const Thumbnail> before, std::span<const Thumbnail> after,
                              bool is_alike) {
    const std::optional<Removed> removed = is_alike ? removed_between(before, after) : std::nullopt;
    if (!removed) {
        throw Error(ExitCode::usage,
                    {"cannot judge what the job removes", "--until residual-is-noise",
                     "the job changes the unit or the shape of the values, or none is finite",
                     "Sweep the key instead, or halve it by eye, without --until"});
    }
    if (!removed->correlation) {
        return {Strength::too_weak, "nothing was removed"};
    }
    const double limit = removed->white_limit();
    const bool is_noise = *removed->correlation <= limit;
    return {is_noise ? Strength::too_weak : Strength::too_strong,
            fmt::format("what was removed correlates by {:.2g} between neighbours, {} the {:.2g} "
                        "of white noise: {}",
                        *removed->correlation, is_noise ? "within" : "beyond", limit,
                        is_noise ? "noise" : "structure")};
}

} // namespace runner::trial
