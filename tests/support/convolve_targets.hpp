// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tests/reference/convolve_reference.hpp"
#include "tests/support/convolve_cases.hpp"
#include "tests/support/vector_sets.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace runner {

/// That the CPU's kernel makes the reference's bytes of `frames` whole frames with every vector
/// set.
inline void expect_on_every_target(const Convolution& convolution, const std::vector<std::byte>& in,
                                   std::int64_t frames = 1) {
    CpuQueue queue(2);
    const std::vector<std::byte> expected = convolve_reference(convolution, in);
    const RowBlock block = whole_image(convolution, frames);
    for (const std::int64_t target : usable_targets()) {
        const OnlyTarget only(target);
        EXPECT_EQ("", first_difference(convolution.out_type, expected,
                                       convolve_on(queue, convolution, block, in)))
            << hwy::TargetName(target) << ": " << describe(convolution, block);
    }
}

} // namespace runner
