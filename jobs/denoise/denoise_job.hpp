// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/kind.hpp"

#include <memory>
#include <string_view>

namespace runner {

/// Reads [denoise]: the keys of [match], method, sigma, strength and stabilise. What it returns
/// makes the method's job and throws Error
/// * input: as make_volume();
/// * usage: keys that do not fit the input, or an output type that is neither float32 nor the
///   input's.
std::unique_ptr<KindParameters> parse_denoise(TableReader& table);

/// The lines of a [denoise] to start from.
inline constexpr std::string_view denoise_sample =
    R"(method = "nlm"                  # non-local means; bm4d: collaborative filtering, better
sigma = "auto"                  # of the noise, in the input's units: a number, or estimated
# strength = 0.6                # of nlm alone: more is smoother
stabilise = "none"              # anscombe: the input counts photons
# patch = [3, 3, 3]             # extents along z, y and x, each 1 to 8; nlm [3, 3, 3], bm4d
                                # [4, 4, 4]; of an image 1 along z
# window = [11, 11, 11]         # where similar patches are looked for: odd; of an image 1 along z
count = 16                      # of the most similar, 1 to 64; nlm also "all": the whole window
# step = 1                      # from one reference patch to the next, no more than a patch; nlm 1,
                                # bm4d 3
# threshold = inf               # the largest distance: mean of squared differences
)";

} // namespace runner
