// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/fourier/unit_root.hpp"
#include "kernels/queue/divisor.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace runner {

/// How the transform of a length is divided: pass i combines `radix[i]` transforms of the length
/// before[i], the product of the radices before it.
struct FourierPasses {
    static constexpr int most = 12;

    int length = 1;
    int count = 0;
    std::array<int, most> radix{};
    std::array<Divisor, most> before{};
};

/// The longest transform: as many complex numbers fill 128 KiB of a GPU's shared memory.
inline constexpr std::int64_t most_fourier_length = 16384;

/// Whether a transform may have this length: a product of 2, 3, 5 and 7 up to the longest.
bool is_fourier_length(std::int64_t length);

/// The least length of at least `wanted`, which is at least 1; 0 where there is none.
std::int64_t next_fourier_length(std::int64_t wanted);

/// The passes of a length.
FourierPasses fourier_passes(std::int64_t length);

/// The factors of the passes, no more than `length`: of each but the first, for r from 1 and
/// k < before, e^(−2πi r k / (radix · before)), rounded to float32.
std::vector<ComplexFloat> fourier_factors(const FourierPasses& passes);

/// Additions and multiplications of a transform, about.
double fourier_operations(std::int64_t length);

} // namespace runner
