// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace runner::sand_cuda {

// What the rule needs of a word of 32 blocks; each is one LOP3.
__device__ __forceinline__ std::uint32_t xor3(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return a ^ b ^ c;
}
__device__ __forceinline__ std::uint32_t majority(std::uint32_t a, std::uint32_t b,
                                                  std::uint32_t c) {
    return (a & b) | (c & (a | b));
}

} // namespace runner::sand_cuda

#include "kernels/sand/sand_rule-inl.hpp"
