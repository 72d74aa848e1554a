// SPDX-License-Identifier: BSD-3-Clause
#include "runner/plan.hpp"

#include "base/error.hpp"
#include "base/sizes.hpp"

#include <random>
#include <string>

#include <gtest/gtest.h>

namespace runner {
namespace {

/// A job that is only its shape.
class ShapeOnly : public StreamJob {
  public:
    explicit ShapeOnly(StreamShape shape) : shape_(std::move(shape)) {}
    std::string computation() const override { return "none"; }
    StreamShape shape() const override { return shape_; }
    std::int64_t scratch_bytes(Backend /*backend*/, const RowBlock& block) const override {
        return block.in_rows * block.frames * 3;
    }
    void run(Queue& /*queue*/, const RowBlock& /*block*/, const std::byte* /*in*/,
             std::byte* /*out*/, std::byte* /*scratch*/) const override {}

  private:
    StreamShape shape_;
};

ShapeOnly square(std::int64_t side, std::int64_t halo) {
    return ShapeOnly({{ElementType::float64, {side, side}},
                      1,
                      side,
                      side * 8,
                      side * 8,
                      halo,
                      RowBorder::inside});
}

TEST(Plan, FitsALargeImageInLittleMemory) {
    PlanRequest request;
    request.backend = Backend::cuda;
    request.ranks = 2;
    request.host_memory = 512 * MiB;
    request.device_memory = 256 * MiB;
    const Plan plan = make_plan(square(65536, 8), request);
    EXPECT_LE(plan.need.host(), request.host_memory);
    EXPECT_LE(plan.need.device, request.device_memory);
    EXPECT_GE(plan.lanes, 2);
    EXPECT_GE(plan.decomposition.chunk_rows, 8);
}

TEST(Plan, TakesTheRowsAndLanesItIsGiven) {
    PlanRequest request;
    request.host_memory = 8 * GiB;
    request.chunk_rows = 7;
    request.lanes = 3;
    const Plan plan = make_plan(square(1000, 2), request);
    EXPECT_EQ(plan.decomposition.chunk_rows, 7);
    EXPECT_EQ(plan.lanes, 3);
    // 3 input slots of 7 + 4 rows, 3 outputs of 7 rows, 3 scratches of 3 bytes a row.
    EXPECT_EQ(plan.need.staging, 3 * 11 * 8000 + 3 * 7 * 8000 + 3 * 3 * 11);
}

TEST(Plan, RefusesWithTheSmallestChangeThatHelps) {
    PlanRequest request;
    request.host_memory = 10 * MiB;
    try {
        make_plan(square(1 << 20, 2), request);
        FAIL() << "a row of 8 MiB cannot fit in 10 MiB";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::usage);
        // One lane: 2 input slots of 5 rows and one output row, 8 MiB each, and a little scratch.
        EXPECT_NE(std::string(error.what()).find("run.host_memory = \"89MiB\""), std::string::npos)
            << error.what();
    }
    request.host_memory = 89 * MiB;
    EXPECT_EQ(make_plan(square(1 << 20, 2), request).lanes, 1);
}

TEST(Plan, IsWithinItsLimitsForThousandsOfShapes) {
    std::mt19937_64 random(3);
    const auto pick = [&](std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random);
    };
    int made = 0;
    int refused = 0;
    for (int trial = 0; trial < 3000; ++trial) {
        StreamShape shape;
        shape.frames = pick(1, 3) == 1 ? pick(1, 2000) : 1;
        shape.rows = pick(1, std::int64_t{1} << pick(1, 20));
        const std::int64_t columns = pick(1, std::int64_t{1} << pick(1, 20));
        shape.in_row_bytes = columns * (std::int64_t{1} << pick(0, 3));
        shape.out_row_bytes = columns * (std::int64_t{1} << pick(0, 3));
        shape.halo = pick(0, 128);
        shape.border = pick(0, 1) == 1 ? RowBorder::periodic : RowBorder::inside;
        PlanRequest request;
        request.backend = pick(0, 1) == 1 ? Backend::cuda : Backend::cpu;
        request.ranks = static_cast<int>(pick(1, 9));
        request.cores = static_cast<int>(pick(1, 64));
        request.host_memory = pick(1, 1 << 12) * MiB;
        request.device_memory = pick(1, 1 << 12) * MiB;
        request.alignment = pick(0, 1) == 1 ? pick(1, 64) : 1;
        try {
            const Plan plan = make_plan(ShapeOnly(shape), request);
            ++made;
            ASSERT_LE(plan.need.host(), request.host_memory) << trial;
            if (plan.backend == Backend::cuda) {
                ASSERT_LE(plan.need.device, request.device_memory) << trial;
            }
            ASSERT_GE(plan.decomposition.chunk_rows, 1) << trial;
            ASSERT_EQ(plan.decomposition.chunk_rows % request.alignment, 0) << trial;
            ASSERT_GE(plan.lanes, 1) << trial;
        } catch (const Error& error) {
            ++refused;
            ASSERT_EQ(error.code(), ExitCode::usage) << error.what();
        }
    }
    EXPECT_GT(made, 2000);
    EXPECT_GT(refused, 10);
}

} // namespace
} // namespace runner
