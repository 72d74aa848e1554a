// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/queue/divisor.hpp"

#include <cuda_runtime.h>

namespace runner {

__device__ inline std::uint32_t quotient(std::uint32_t n, const Divisor& by) {
    return (__umulhi(by.factor, n) + n) >> by.shift;
}

/// n = quotient · by + rest.
struct Divided {
    std::uint32_t quotient;
    std::uint32_t rest;
};

__device__ inline Divided divide(std::uint32_t n, const Divisor& by) {
    const std::uint32_t q = quotient(n, by);
    return {q, n - q * by.value};
}

} // namespace runner
