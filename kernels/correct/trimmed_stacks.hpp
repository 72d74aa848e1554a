// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/correct/image_stacks.hpp"

#include <cstdint>
#include <optional>

namespace runner {

/// How many of so many images' least values a trimmed mean leaves out, and as many of the greatest.
constexpr std::int64_t trimmed_away(std::int64_t images) { return images / 4; }

/// to[i] = the mean of element i of all images without the trimmed_away() least and greatest ones:
/// added in float64 in ascending order, divided by their number and rounded to float32. NaN is
/// above all numbers. `invalid`: elements that are none (InvalidTest of
/// kernels/elements/invalid.hpp) are left out first; NaN where no other is there. Host memory,
/// vectorised.
void trimmed_mean_of_images(const ImageStack& stack, const std::optional<double>& invalid,
                            std::int64_t count, float* to);

/// Host memory that a call takes for itself.
std::int64_t trimmed_mean_bytes(ElementType type, std::int64_t images);

} // namespace runner
