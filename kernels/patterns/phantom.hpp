// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/element_type.hpp"
#include "kernels/queue/cpu_queue.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace runner {

/// The Shepp–Logan head of three axes with the contrasts usual today, 0 … 1: ten ellipsoids that
/// add up. Coordinates go from −1 to 1, x to the right along columns, y upward against rows, z
/// along layers; the middle layer is the head of two axes.
double phantom_value(double z, double y, double x);

/// Fills `out` (host memory, aligned to its elements) with elements [first_element, first_element +
/// count) of a phantom in the last three axes of that shape (missing ones have extent 1), at the
/// voxels' middles. Integers are the value times their type's most, rounded. The same bytes for
/// every way to cut the array.
void fill_phantom(CpuQueue& queue, ElementType type, std::span<const std::int64_t> shape,
                  std::int64_t first_element, std::int64_t count, std::byte* out);

/// The same for photons that got through the phantom: each element is drawn from the Poisson
/// distribution of mean counts · exp(−phantom), by its position and the seed alone. Integers hold
/// their type's most at most. 0 < counts ≤ 1e9.
void fill_xray(CpuQueue& queue, ElementType type, std::span<const std::int64_t> shape,
               std::uint64_t seed, double counts, std::int64_t first_element, std::int64_t count,
               std::byte* out);

} // namespace runner
