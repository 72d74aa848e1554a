// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/element_type.hpp"

#include <cstddef>
#include <cstdint>

namespace runner {

class CudaQueue;

/// to[i] = element i of `from`, of a number's type, in one rounding where it needs one. Host
/// memory, vectorised; any alignment of `to` to its elements and of `from` to its own.
void load_elements(ElementType type, const std::byte* from, std::int64_t count, float* to);
void load_elements(ElementType type, const std::byte* from, std::int64_t count, double* to);

/// The way back, as converted() says (converted.hpp).
void store_elements(ElementType type, const float* from, std::int64_t count, std::byte* to);
void store_elements(ElementType type, const double* from, std::int64_t count, std::byte* to);

/// The same in the queue's device memory, elements aligned to their size. They return before the
/// work is done.
void load_elements(CudaQueue& queue, ElementType type, const std::byte* from, std::int64_t count,
                   float* to);
void load_elements(CudaQueue& queue, ElementType type, const std::byte* from, std::int64_t count,
                   double* to);
void store_elements(CudaQueue& queue, ElementType type, const float* from, std::int64_t count,
                    std::byte* to);
void store_elements(CudaQueue& queue, ElementType type, const double* from, std::int64_t count,
                    std::byte* to);

} // namespace runner
