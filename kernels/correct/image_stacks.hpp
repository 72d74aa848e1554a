// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/element_type.hpp"

#include <cstddef>
#include <cstdint>

namespace runner {

/// sums[i] += element i of `from`, converted to float64 first. Host memory, vectorised.
void add_elements(ElementType type, const std::byte* from, std::int64_t count, double* sums);

/// Images of elements, of which the next begins `stride` bytes after the one before.
struct ImageStack {
    ElementType type = ElementType::uint16;
    const std::byte* first = nullptr;
    std::int64_t images = 1;
    std::int64_t stride = 0;
};

/// to[i] = the median of element i of all images, rounded to float32: of an even number of images
/// the mean of the two middle ones in float64. NaN is above all numbers. Host memory, vectorised.
void median_of_images(const ImageStack& stack, std::int64_t count, float* to);

/// Host memory that a call takes for itself.
std::int64_t median_bytes(ElementType type, std::int64_t images);

} // namespace runner
