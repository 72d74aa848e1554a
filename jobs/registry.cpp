// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/convolve/convolve_job.hpp"
#include "jobs/kind.hpp"

#include <array>

namespace runner {

std::span<const Kind> kinds() {
    static constexpr std::array table = {
        Kind{"convolve", "separable convolution of images", convolve_sample, parse_convolve},
    };
    return table;
}

} // namespace runner
