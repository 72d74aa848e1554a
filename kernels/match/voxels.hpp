// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/element_type.hpp"
#include "kernels/queue/queue.hpp"

#include <cstddef>
#include <cstdint>

namespace runner {

/// out = in, `count` elements of uint8, uint16 or float32. Device memory, `in` aligned to its
/// elements. The CUDA forms return before the work is done; the same bytes on every queue.
void voxels_to_float(CpuQueue& queue, ElementType type, std::int64_t count, const std::byte* in,
                     float* out);
void voxels_to_float(CudaQueue& queue, ElementType type, std::int64_t count, const std::byte* in,
                     float* out);

/// The way back: for integers rounded to the nearest, halves to even, and saturated; finite values.
void voxels_from_float(CpuQueue& queue, ElementType type, std::int64_t count, const float* in,
                       std::byte* out);
void voxels_from_float(CudaQueue& queue, ElementType type, std::int64_t count, const float* in,
                       std::byte* out);

/// Calls `f` with a zero of the C++ type; for those three alone.
template <class F> void visit_voxel_type(ElementType type, const F& f) {
    switch (type) {
    case ElementType::uint8: return f(std::uint8_t{});
    case ElementType::uint16: return f(std::uint16_t{});
    default: return f(float{});
    }
}

} // namespace runner
