// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/fill/fill.hpp"

#include <cstddef>
#include <cstdint>

namespace runner {

/// What fill_means() works in, bytes.
std::int64_t fill_means_scratch(const Fill& fill, const RowBlock& block);

/// As fill() by Method::mean, for reaches of any size in one frame of one channel, of which the
/// block has whole layers: it first finds how large the cube of each element is, along one axis
/// after the other. So an element takes a time of the cube's surface, and one without a valid
/// element in reach a time of three lines. Counts nothing. `scratch`: fill_means_scratch() bytes,
/// aligned to 4.
void fill_means(CpuQueue& queue, const Fill& fill, const RowBlock& block, const std::byte* in,
                std::byte* out, std::byte* scratch);
void fill_means(CudaQueue& queue, const Fill& fill, const RowBlock& block, const std::byte* in,
                std::byte* out, std::byte* scratch);

} // namespace runner
