// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.hpp"
#include "base/sizes.hpp"
#include "runner/plan/stream_plan.hpp"
#include "tests/runner/plan/shape_only.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

/// A frame of rows of `row_bytes` bytes.
StreamShape of_bytes(std::int64_t rows, std::int64_t row_bytes, std::int64_t halo) {
    return {{ElementType::uint8, {rows, row_bytes}}, 1, rows, row_bytes, row_bytes, halo};
}

PlanRequest request_of(int ranks, Backend backend = Backend::cpu) {
    PlanRequest request;
    request.backend = backend;
    request.ranks = ranks;
    request.host_memory = request.device_memory = 8 * GiB;
    return request;
}

std::int64_t chunk_rows(const StreamShape& shape, const PlanRequest& request) {
    return make_plan(ShapeOnly(shape), request).decomposition.chunk_rows;
}

TEST(StreamRows, AreAMebibyteWhereASlabIsSmall) {
    // 2^20 = 17 · 61681 - 1
    EXPECT_EQ(chunk_rows(of_bytes(500, 61681, 1), request_of(1)), 16);
    EXPECT_EQ(chunk_rows(of_bytes(500, 61680, 1), request_of(1)), 17);
}

TEST(StreamRows, AreASlabAtMost) {
    EXPECT_EQ(chunk_rows(of_bytes(2, 8, 0), request_of(1)), 2);
    EXPECT_EQ(chunk_rows(of_bytes(2, 8, 0), request_of(2)), 1);
}

TEST(StreamRows, AreWorthTheirHalo) {
    const StreamShape shape = of_bytes(1000, 8000, 100);
    EXPECT_EQ(chunk_rows(shape, request_of(1, Backend::cuda)), 200);
    EXPECT_EQ(chunk_rows(shape, request_of(1, Backend::cpu)), 400);
}

TEST(StreamRows, AreThoseThatTheJobWants) {
    StreamShape shape = of_bytes(1000, 8000, 0);
    shape.wanted_rows = 1;
    EXPECT_EQ(chunk_rows(shape, request_of(1)), 1);
}

TEST(StreamRows, AreAThirtySecondOfALargeSlab) {
    EXPECT_EQ(chunk_rows(of_bytes(8192, 8192, 0), request_of(1)), 256);
    StreamShape shape = of_bytes(8192, 8, 0); // of the larger rows, which may be the output's
    shape.out_row_bytes = 8192;
    EXPECT_EQ(chunk_rows(shape, request_of(1)), 256);
    EXPECT_EQ(chunk_rows(of_bytes(1 << 23, 1, 0), request_of(1)), 1 << 20); // or a mebibyte
}

TEST(StreamRows, AreOneAtLeast) {
    EXPECT_EQ(chunk_rows(of_bytes(100, 8 * MiB, 0), request_of(1)), 1);
    EXPECT_EQ(chunk_rows(of_bytes(4, 8 * MiB, 0), request_of(1)), 1);
    EXPECT_EQ(chunk_rows(of_bytes(2, 8, 0), request_of(3)), 1);
}

TEST(StreamRows, AreOfWholeFramesWhereASlabHasSeveral) {
    StreamShape shape = of_bytes(3, 8, 0);
    shape.frames = 10;
    EXPECT_EQ(chunk_rows(shape, request_of(3)), 9); // of a slab of ten
}

/// One lane of rows of 1000 bytes takes two inputs, an output and 3 bytes of scratch for each.
TEST(StreamRows, AreAsManyAsFit) {
    const StreamShape shape = of_bytes(1000, 1000, 0);
    PlanRequest request = request_of(1);
    request.lanes = 1;
    request.host_memory = 7 * 3003;
    EXPECT_EQ(chunk_rows(shape, request), 7);
    request.host_memory = 7 * 3003 - 1;
    EXPECT_EQ(chunk_rows(shape, request), 6);
    request.alignment = 4;
    request.host_memory = 11 * 3003;
    EXPECT_EQ(chunk_rows(shape, request), 8);
    request.chunk_rows = 12;
    EXPECT_THROW(make_plan(ShapeOnly(shape), request), Error);
}

TEST(StreamRows, AreFewerBeforeLanesAre) {
    PlanRequest request = request_of(1);
    request.host_memory = 10 * 4 * (1000 + 1000 + 3);
    const StreamPlan plan = make_plan(ShapeOnly(of_bytes(1000, 1000, 0)), request);
    EXPECT_EQ(plan.decomposition.chunk_rows, 10);
    EXPECT_EQ(plan.lanes, 4);
}

TEST(StreamRows, MayBeFewerThanTheHaloInOneLane) {
    // Memory of two inputs of 10 + 40 rows, an output and a scratch.
    PlanRequest request = request_of(1);
    request.host_memory = 2 * 50 * 1000 + 10 * 1000 + 3 * 50;
    const StreamPlan plan = make_plan(ShapeOnly(of_bytes(1000, 1000, 20)), request);
    EXPECT_EQ(plan.decomposition.chunk_rows, 10);
    EXPECT_EQ(plan.lanes, 1);
}

TEST(StreamNeed, HasNoBorderRowsOfOneRankButAPeriodicBordersEarlyOnes) {
    StreamShape shape = of_bytes(100, 8, 3);
    EXPECT_EQ(make_plan(ShapeOnly(shape), request_of(1)).need.border, 0);
    shape.border = RowBorder::periodic;
    EXPECT_EQ(make_plan(ShapeOnly(shape), request_of(1)).need.border, 6 * 8);
}

/// Slabs of one row, but rank `large` has 100, of which one is left to do.
std::int64_t border_bytes(int large) {
    PlanRequest request = request_of(200);
    request.done = {{large + 1, large + 100}};
    return make_plan(ShapeOnly(of_bytes(299, 8, 4)), request).need.border;
}

TEST(StreamNeed, AsksTheFirstAndTheLastRanks) {
    for (const int large : {20, 63, 136, 180}) {
        EXPECT_EQ(border_bytes(large), (4 + 4 + 4 + 4) * 8) << large;
    }
}

TEST(StreamNeed, HasTheBorderRowsOfTheRankThatHoldsMost) {
    // 150 slabs of one row, then 50 of 100 rows, of which one is left to do.
    PlanRequest request = request_of(200);
    for (std::int64_t first = 150; first < 5150; first += 100) {
        request.done.push_back({first + 1, first + 100});
    }
    const StreamPlan plan = make_plan(ShapeOnly(of_bytes(5150, 8, 4)), request);
    EXPECT_EQ(plan.rows_of_rank(30), (RowRange{30, 31}));
    EXPECT_EQ(plan.rows_of_rank(160), (RowRange{1150, 1250}));
    EXPECT_EQ(plan.need.border, (4 + 4 + 4 + 4) * 8); // received from both sides, and sent there
    EXPECT_EQ(plan.bytes_to_read(), 200 * 8);
    EXPECT_EQ(plan.bytes_to_write(), 200 * 8);
}

TEST(StreamNeed, CountsTheOutputOfARowOnAverage) {
    StreamShape shape = of_bytes(36, 8, 6);
    shape.out_row_bytes = 4;
    EXPECT_DOUBLE_EQ(make_plan(ShapeOnly(shape), request_of(1)).bytes_a_row(), 12);
    shape.made = {3, 5, 4, 9}; // of each fourth layer of 3 rows, 5 rows of 4 bytes
    EXPECT_DOUBLE_EQ(make_plan(ShapeOnly(shape), request_of(1)).bytes_a_row(), 8 + 20.0 / 12);
}

/// Needs an image of 10 × 10 values, whose computation takes memory.
class WithImage : public ShapeOnly {
  public:
    using ShapeOnly::ShapeOnly;
    std::vector<std::shared_ptr<const SideImage>> side_images() const override {
        return {std::make_shared<SideImage>(std::make_unique<Source>(), 10, 10)};
    }

  private:
    struct Source : SideImage::Source {
        std::int64_t wanted_bytes() const override { return 100 * MiB; }
        std::int64_t least_bytes() const override { return 5 * MiB; }
        void compute(std::int64_t /*first*/, std::int64_t /*rows*/, std::int64_t /*most_bytes*/,
                     float* /*to*/, const std::function<void()>& /*check*/) override {}
    };
};

TEST(StreamNeed, GivesSideImagesWhatIsLeft) {
    const WithImage job(of_bytes(10, 10, 0));
    PlanRequest request = request_of(1);
    EXPECT_EQ(make_plan(job, request).need.images, 400);
    EXPECT_EQ(make_plan(job, request).need.images_work, 100 * MiB);
    request.host_memory = 50 * MiB;
    EXPECT_EQ(make_plan(job, request).need.images_work, 50 * MiB - 400);
    request.host_memory = 4 * MiB; // less than it must have
    EXPECT_THROW(make_plan(job, request), Error);
    EXPECT_EQ(make_plan(ShapeOnly(of_bytes(10, 10, 0)), request).need.images_work, 0);
}

} // namespace
} // namespace runner
