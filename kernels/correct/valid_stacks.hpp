// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/correct/image_stacks.hpp"

#include <cstddef>
#include <cstdint>

namespace runner {

/// As add_elements(), of the elements that are valid (InvalidTest of kernels/elements/invalid.hpp)
/// alone; counts[i] grows by 1 where element i is.
void add_valid_elements(ElementType type, double invalid, const std::byte* from, std::int64_t count,
                        double* sums, double* counts);

/// As median_of_images(), of the elements of each pixel that are valid alone; NaN where none is.
void median_of_valid(const ImageStack& stack, double invalid, std::int64_t count, float* to);

/// Host memory that a call of it takes for itself.
std::int64_t median_of_valid_bytes(ElementType type, std::int64_t images);

} // namespace runner
