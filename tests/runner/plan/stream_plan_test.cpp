// SPDX-License-Identifier: BSD-3-Clause
#include "runner/plan/stream_plan.hpp"

#include "base/error.hpp"
#include "base/sizes.hpp"
#include "tests/runner/plan/shape_only.hpp"

#include <random>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace runner {
namespace {

ShapeOnly square(std::int64_t side, std::int64_t halo) {
    return ShapeOnly({{ElementType::float64, {side, side}},
                      1,
                      side,
                      side * 8,
                      side * 8,
                      halo,
                      RowBorder::inside});
}

TEST(StreamPlan, FitsALargeImageInLittleMemory) {
    PlanRequest request;
    request.backend = Backend::cuda;
    request.ranks = 2;
    request.host_memory = 512 * MiB;
    request.device_memory = 256 * MiB;
    const StreamPlan plan = make_plan(square(65536, 8), request);
    EXPECT_LE(plan.need.host(), request.host_memory);
    EXPECT_LE(plan.need.device, request.device_memory);
    EXPECT_GE(plan.lanes, 2);
    EXPECT_GE(plan.decomposition.chunk_rows, 8);
}

TEST(StreamPlan, TakesTheRowsAndLanesItIsGiven) {
    PlanRequest request;
    request.host_memory = 8 * GiB;
    request.chunk_rows = 7;
    request.lanes = 3;
    const StreamPlan plan = make_plan(square(1000, 2), request);
    EXPECT_EQ(plan.decomposition.chunk_rows, 7);
    EXPECT_EQ(plan.lanes, 3);
    // 3 input slots of 7 + 4 rows, 3 outputs of 7 rows, 3 scratches of 3 bytes a row.
    EXPECT_EQ(plan.need.staging, 3 * 11 * 8000 + 3 * 7 * 8000 + 3 * 3 * 11);
    request.backend = Backend::cuda;
    request.device_memory = 8 * GiB;
    const StreamPlan on_gpu = make_plan(square(1000, 2), request);
    EXPECT_EQ(on_gpu.need.staging, 3 * 11 * 8000 + 3 * 7 * 8000);
    EXPECT_EQ(on_gpu.need.device, plan.need.staging);
}

/// Leaves the next chunk 1000 bytes.
class Carrying : public ShapeOnly {
  public:
    using ShapeOnly::ShapeOnly;
    std::int64_t carried_bytes(const RowBlock& block) const override {
        return block.out_rows == shape().rows ? 0 : 1000;
    }
};

TEST(StreamPlan, CarriesBetweenChunksWhereThatFits) {
    PlanRequest request;
    request.host_memory = 8 * GiB;
    request.chunk_rows = 7;
    request.lanes = 3;
    const Carrying job(square(1000, 2).shape());
    const std::int64_t without = 3 * 11 * 8000 + 3 * 7 * 8000 + 3 * 3 * 11;
    EXPECT_EQ(make_plan(job, request).need.staging, without + 1000) << "once for all lanes";
    request.host_memory = make_plan(job, request).need.host() - 1;
    EXPECT_EQ(make_plan(job, request).carried_bytes, 0);
    EXPECT_EQ(make_plan(job, request).need.staging, without);
    EXPECT_EQ(halved(job, make_plan(job, request))->carried_bytes, 0);
    request.host_memory -= 1000;
    EXPECT_THROW(make_plan(job, request), Error);

    PlanRequest whole;
    whole.host_memory = 8 * GiB;
    whole.chunk_rows = 1000;
    EXPECT_EQ(make_plan(job, whole).carried_bytes, 0) << "no chunk follows in the frame";
}

/// Takes memory for each thread, a byte for each row of a block.
class WithThreads : public ShapeOnly {
  public:
    using ShapeOnly::ShapeOnly;
    std::int64_t thread_bytes(const RowBlock& block) const override { return block.in_rows; }
};

TEST(StreamPlan, CountsWhatThreadsOfTheCpuTake) {
    PlanRequest request;
    request.host_memory = 8 * GiB;
    request.chunk_rows = 7;
    request.lanes = 3;
    request.cores = 5;
    const WithThreads job(square(1000, 2).shape());
    // Beside slots, outputs and scratches as above: chunks are computed one after the other.
    EXPECT_EQ(make_plan(job, request).need.staging,
              3 * 11 * 8000 + 3 * 7 * 8000 + 3 * 3 * 11 + 5 * 11);
    request.host_memory = make_plan(job, request).need.host();
    EXPECT_EQ(make_plan(job, request).decomposition.chunk_rows, 7);
    request.host_memory -= 1;
    EXPECT_THROW(make_plan(job, request), Error);
    request.host_memory = 8 * GiB;
    request.backend = Backend::cuda;
    request.device_memory = 8 * GiB;
    EXPECT_EQ(make_plan(job, request).need.staging, 3 * 11 * 8000 + 3 * 7 * 8000);
}

/// Keeps images on a GPU for all lanes.
class Keeping : public ShapeOnly {
  public:
    using ShapeOnly::ShapeOnly;
    std::int64_t kept_bytes(Backend backend) const override {
        return backend == Backend::cuda ? 4096 : 256;
    }
};

TEST(StreamPlan, CountsWhatIsKeptOnceForAllLanes) {
    PlanRequest request;
    request.host_memory = request.device_memory = 1 << 30;
    request.chunk_rows = 7;
    request.lanes = 3;
    const ShapeOnly plain = square(1000, 2);
    const Keeping keeping(plain.shape());
    EXPECT_EQ(make_plan(keeping, request).need.staging,
              make_plan(plain, request).need.staging + 256);
    request.backend = Backend::cuda;
    EXPECT_EQ(make_plan(keeping, request).need.device,
              make_plan(plain, request).need.device + 4096);
}

TEST(StreamPlan, MakesChunksThatReachAllFilesOfARank) {
    PlanRequest request;
    request.host_memory = 64 * GiB;
    const ShapeOnly job = square(32768, 1);
    EXPECT_EQ(make_plan(job, request).decomposition.chunk_rows, 16);
    request.write_rows = 40;
    EXPECT_EQ(make_plan(job, request).decomposition.chunk_rows, 40);
    request.write_rows = 32768; // and leaves some chunks to overlap
    EXPECT_EQ(make_plan(job, request).decomposition.chunk_rows, 4096);
}

TEST(StreamPlan, RefusesWithTheSmallestChangeThatHelps) {
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
        EXPECT_EQ(std::string(error.what()).find("run.chunk_rows"), std::string::npos);
    }
    request.chunk_rows = 2;
    try {
        make_plan(square(1 << 20, 2), request);
        FAIL() << "two rows cannot fit either";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("or run.chunk_rows lower"), std::string::npos);
    }
    request.chunk_rows = {};
    request.host_memory = 89 * MiB;
    EXPECT_EQ(make_plan(square(1 << 20, 2), request).lanes, 1);
}

TEST(StreamPlan, IsWithinItsLimitsForThousandsOfShapes) {
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
            const StreamPlan plan = make_plan(ShapeOnly(shape), request);
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

/// A volume of lines whose computing takes long: `a_line` operations for each of a chunk's and of
/// its halo on both sides.
class SlowJob : public ShapeOnly {
  public:
    SlowJob(std::int64_t lines, double a_line) : SlowJob(shape_of(lines), a_line) {}
    SlowJob(StreamShape shape, double a_line) : ShapeOnly(std::move(shape)), a_line_(a_line) {}
    double operations(const RowBlock& block) const override {
        return a_line_ * static_cast<double>(block.in_rows * block.frames);
    }

    static StreamShape shape_of(std::int64_t lines) {
        StreamShape shape{{ElementType::uint8, {lines, 64}}, 1, lines, 64, 64, 10};
        shape.wanted_rows = 400;
        shape.enough_rows = 80;
        shape.rows_between = 40;
        return shape;
    }

  private:
    double a_line_;
};

StreamPlan plan_of(const SlowJob& job, int cores, std::optional<std::int64_t> chunk_rows = {}) {
    PlanRequest request;
    request.cores = cores;
    request.host_memory = 8 * GiB;
    request.chunk_rows = chunk_rows;
    return make_plan(job, request);
}

// A core does 1e10 operations a second: 1e9 are 0.1 s.
TEST(StreamPlan, CutsASlowJobIntoChunksOfSeconds) {
    const StreamPlan one = plan_of({100000, 1e9 / 4}, 1); // 160 lines and 20 of the halo take 4.5 s
    EXPECT_EQ(one.decomposition.chunk_rows, 120);
    EXPECT_DOUBLE_EQ(one.chunk_seconds, 140 * 0.025);
    const StreamPlan two = plan_of({100000, 1e9 / 4}, 2);
    EXPECT_EQ(two.decomposition.chunk_rows, 280); // 300 of them, half as long each
    EXPECT_EQ(plan_of({100000, 1e9 / 4}, 64).decomposition.chunk_rows, 400); // as many as it wants
}

TEST(StreamPlan, DoesNotCutASlowJobBelowWhatItsHaloIsWorth) {
    const StreamPlan plan = plan_of({100000, 1e10}, 1);
    EXPECT_EQ(plan.decomposition.chunk_rows, 80);
    EXPECT_DOUBLE_EQ(plan.chunk_seconds, 100);
}

TEST(StreamPlan, GivesEachLaneTwoChunksWhereOneTakesLongEnough) {
    EXPECT_EQ(plan_of({960, 1e8}, 1).decomposition.chunk_rows, 120); // four lanes
    EXPECT_EQ(plan_of({960, 1e5}, 1).decomposition.chunk_rows, 400); // 4 ms
    EXPECT_EQ(plan_of({960, 1e5}, 1).lanes, 4);
    EXPECT_EQ(plan_of({400, 1e10 / 4 / 400}, 1).decomposition.chunk_rows, 400); // 0.25 s, no halo
    PlanRequest request;
    request.host_memory = 8 * GiB;
    request.ranks = 2;
    EXPECT_EQ(make_plan(SlowJob(1920, 1e8), request).decomposition.chunk_rows, 120);
}

TEST(StreamPlan, CutsASlowJobAtMultiplesOfItsSteps) {
    // With 420, 360 and 300 lines, the last and 20 of the halo take 4 s.
    PlanRequest request;
    request.host_memory = 8 * GiB;
    request.alignment = 60;
    EXPECT_EQ(make_plan(SlowJob(100000, 4e10 / 320), request).decomposition.chunk_rows, 300);
}

TEST(StreamPlan, CutsASlowJobOnlyWhereItSaysHowFar) {
    StreamShape shape = SlowJob::shape_of(100000);
    shape.enough_rows = 0;
    EXPECT_EQ(plan_of({shape, 1e10}, 1).decomposition.chunk_rows, 400);
    shape.enough_rows = 1;
    EXPECT_EQ(plan_of({shape, 1e10}, 1).decomposition.chunk_rows, 1);
}

TEST(StreamPlan, SaysHowLongAChunkTakesWhereItIsFelt) {
    const auto says = [](double seconds) {
        const std::string text = plan_of({400, seconds * 1e10 / 400}, 1).text();
        return text.find("computing a chunk takes about") != std::string::npos;
    };
    EXPECT_TRUE(says(0.1));
    EXPECT_TRUE(says(0.2));
    EXPECT_FALSE(says(0.05));
}

/// Notes the block that operations are asked of.
class Asked : public ShapeOnly {
  public:
    using ShapeOnly::ShapeOnly;
    double operations(const RowBlock& block) const override {
        last = block;
        return 0;
    }
    mutable RowBlock last;
};

TEST(StreamPlan, TimesAChunkInTheMiddleOfAFrame) {
    PlanRequest request;
    request.host_memory = 8 * GiB;
    request.chunk_rows = 40;
    const Asked job({{ElementType::uint8, {100, 64}}, 1, 100, 64, 64, 25});
    make_plan(job, request);
    EXPECT_EQ(job.last, (RowBlock{1, 5, 90, 30, 40}));
    request.alignment = 8; // row 30 is not one where chunks begin
    make_plan(job, request);
    EXPECT_EQ(job.last, (RowBlock{1, 0, 89, 24, 40}));
    const Asked frames({{ElementType::uint8, {10, 8, 64}}, 10, 8, 64, 64, 1});
    make_plan(frames, request);
    EXPECT_EQ(frames.last, (RowBlock{5, 0, 8, 0, 8}));
}

TEST(StreamPlan, TakesTheChunkRowsItIsGivenHoweverLongTheyTake) {
    const StreamPlan plan = plan_of({1000, 1e10}, 1, 500);
    EXPECT_EQ(plan.decomposition.chunk_rows, 500);
    EXPECT_DOUBLE_EQ(plan.chunk_seconds, 520);
    EXPECT_DOUBLE_EQ(plan_of({1000, 1e10}, 0, 500).chunk_seconds, 520); // on one core at least
    PlanRequest request;
    request.backend = Backend::cuda;
    request.host_memory = request.device_memory = 8 * GiB;
    request.chunk_rows = 500;
    EXPECT_DOUBLE_EQ(make_plan(SlowJob(1000, 1e10), request).chunk_seconds, 0.65); // 8e12 a second
}

} // namespace
} // namespace runner
