// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/bin/bin_job.hpp"
#include "jobs/convolve/convolve_job.hpp"
#include "jobs/correct/correct_job.hpp"
#include "jobs/denoise/denoise_job.hpp"
#include "jobs/kind.hpp"
#include "jobs/match/match_job.hpp"
#include "jobs/median/median_job.hpp"
#include "jobs/rescale/rescale_job.hpp"
#include "jobs/sand/sand_job.hpp"
#include "jobs/transpose/transpose_job.hpp"

#include <array>

namespace runner {

std::span<const Kind> kinds() {
    static constexpr std::array table = {
        Kind{"bin", "means or sums of blocks", bin_sample, "", parse_bin},
        Kind{"convolve", "separable convolution of images", convolve_sample, "", parse_convolve},
        Kind{"correct", "frames corrected for dark and flat field", correct_sample, "",
             parse_correct},
        Kind{"denoise", "denoising of volumes by similar patches", denoise_sample, "",
             parse_denoise},
        Kind{"match", "the most similar patches of every patch of a volume", match_sample, "",
             parse_match, match_datasets},
        Kind{"median", "medians of windows", median_sample, "", parse_median},
        Kind{"rescale", "values mapped to another range and type", rescale_sample, "",
             parse_rescale},
        Kind{"sand", "a falling-sand automaton", sand_sample, "/frames", parse_sand, {}, ".sand"},
        Kind{"transpose", "other orders of axes", transpose_sample, "", parse_transpose},
    };
    return table;
}

} // namespace runner
