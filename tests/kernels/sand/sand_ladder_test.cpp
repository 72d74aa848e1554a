// SPDX-License-Identifier: BSD-3-Clause
// The published kernels that the benchmark compares to give the cells of the reference too.
#include "bench/kernels/baselines/sand_ladder.hpp"

#include "tests/support/sand_cases.hpp"

namespace runner {
namespace {

using SandLadder = QueueTest<CudaQueue>;

TEST_F(SandLadder, GivesTheCellsOfTheReference) {
    SandCases cases(32);
    for (int i = 0; i < 12; ++i) {
        const Sand job = cases.job(cases.number(1, 60), cases.number(1, 200));
        const auto cells = cases.scene(job);
        const std::uint64_t generation = cases.bits();
        const auto expected = sand_reference::advance(job, generation, 5, cells);
        const std::int64_t count = job.rows * job.columns;
        const Buffer a = allocate_device(queue(), count);
        const Buffer b = allocate_device(queue(), count);
        const Buffer staging = allocate_staging(queue(), count);
        const Buffer between = allocate_staging(queue(), count);
        for (const SandBaseline baseline :
             {SandBaseline::naive, SandBaseline::optimised, SandBaseline::block_branchless,
              SandBaseline::cell_branchless}) {
            std::memcpy(staging.data(), cells.data(), cells.size());
            upload(queue(), a.data(), staging.data(), count);
            const std::uint8_t* result = advance_sand_baseline(
                queue(), baseline, job, generation, 5, reinterpret_cast<std::uint8_t*>(a.data()),
                reinterpret_cast<std::uint8_t*>(b.data()),
                reinterpret_cast<std::uint8_t*>(between.data()));
            download(queue(), staging.data(), reinterpret_cast<const std::byte*>(result), count);
            queue().synchronize();
            const auto* got = reinterpret_cast<const std::uint8_t*>(staging.data());
            EXPECT_EQ("", first_difference(job.columns, expected, {got, got + count}))
                << describe(job) << ", baseline " << static_cast<int>(baseline);
        }
    }
}

} // namespace
} // namespace runner
