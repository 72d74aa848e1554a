// SPDX-License-Identifier: BSD-3-Clause
// The byte-a-cell forms that the benchmark compares to give the cells of the reference too.
#include "bench/kernels/baselines/sand_bytes.hpp"

#include "tests/support/sand_cases.hpp"

#include <gtest/gtest.h>

namespace runner {
namespace {

TEST(SandBytes, GiveTheCellsOfTheReference) {
    SandCases cases(31);
    for (int i = 0; i < 60; ++i) {
        const Sand job = cases.job(cases.number(1, 60), cases.number(1, 400));
        const auto cells = cases.scene(job);
        const std::uint64_t generation = cases.bits();
        const auto expected = sand_reference::advance(job, generation, 5, cells);
        auto sequential = cells;
        advance_sand_sequential(job, generation, 5, sequential.data());
        EXPECT_EQ("", first_difference(job.columns, expected, sequential)) << describe(job);
        auto vectors = cells;
        advance_sand_byte_vectors(job, generation, 5, vectors.data());
        EXPECT_EQ("", first_difference(job.columns, expected, vectors)) << describe(job);
    }
}

} // namespace
} // namespace runner
