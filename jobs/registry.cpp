// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/bin/bin_job.hpp"
#include "jobs/convolve/convolve_job.hpp"
#include "jobs/correct/correct_job.hpp"
#include "jobs/denoise/denoise_job.hpp"
#include "jobs/fill/fill_job.hpp"
#include "jobs/kind.hpp"
#include "jobs/match/match_job.hpp"
#include "jobs/median/median_job.hpp"
#include "jobs/phase/phase_job.hpp"
#include "jobs/reduce/reduce_job.hpp"
#include "jobs/rescale/rescale_job.hpp"
#include "jobs/sand/sand_job.hpp"
#include "jobs/stitch/stitch_job.hpp"
#include "jobs/stripes/stripes_job.hpp"
#include "jobs/transpose/transpose_job.hpp"

#include <array>

namespace runner {

std::span<const Kind> kinds() {
    static constexpr std::array table = {
        Kind{"bin", "means or sums of blocks", bin_keys, "", parse_bin},
        Kind{"convolve", "separable convolution of images", convolve_keys, "", parse_convolve},
        Kind{"correct", "frames corrected for dark and flat field", correct_keys, "",
             parse_correct},
        Kind{"denoise", "denoising of volumes by similar patches", denoise_keys, "", parse_denoise},
        Kind{"fill", "invalid elements replaced by what is around them", fill_keys, "", parse_fill},
        Kind{"match", "the most similar patches of every patch of a volume", match_keys, "",
             parse_match, match_datasets},
        Kind{"median", "medians of windows", median_keys, "", parse_median},
        Kind{"phase", "phase retrieval of projections, by Paganin's filter", phase_keys, "",
             parse_phase},
        Kind{"reduce", "projections, means of frames, histograms and percentiles", reduce_keys, "",
             parse_reduce},
        Kind{"rescale", "values mapped to another range and type", rescale_keys, "", parse_rescale},
        Kind{"sand", "a falling-sand automaton", sand_keys, "/frames", parse_sand, {}, ".sand"},
        Kind{"stitch", "half acquisitions over 360 degrees joined to 180", stitch_keys, "",
             parse_stitch},
        Kind{"stripes", "sinograms without stripes, which become ring artefacts", stripes_keys, "",
             parse_stripes},
        Kind{"transpose", "other orders of axes", transpose_keys, "", parse_transpose},
    };
    return table;
}

std::vector<std::string> kind_names() {
    std::vector<std::string> names;
    for (const Kind& kind : kinds()) {
        names.emplace_back(kind.name);
    }
    return names;
}

} // namespace runner
