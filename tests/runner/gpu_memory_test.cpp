// SPDX-License-Identifier: BSD-3-Clause
// Permuting and evolving on a stand-in for the CUDA runtime that runs out of memory; the stream's
// part is in gpu_failures_test.cpp.
#include "base/sizes.hpp"
#include "kernels/queue/queue.hpp"
#include "tests/fake_cuda/fake_cuda.hpp"
#include "tests/support/copy_jobs.hpp"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

constexpr std::int64_t launch_room = 64 * MiB;

PlanRequest request(std::int64_t chunk_rows, int lanes) {
    PlanRequest request;
    request.backend = Backend::cuda;
    request.cores = 2;
    request.host_memory = request.device_memory = std::int64_t{1} << 40;
    request.chunk_rows = chunk_rows;
    request.lanes = lanes;
    return request;
}

/// Boxes of 6 × 6 rows of 13 bytes.
struct Permuting {
    using Plan = PermutePlan;
    CopyPermutation job{{17, 15, 13}};
    Plan plan = make_permute_plan(job, request(36, 3));
    CopyRun run{17 * 15, 17 * 15, 13};

    RunTimes operator()() {
        return run.run(job, plan, [] { return make_queue(Backend::cuda, 0, 1); });
    }
};

/// Chunks of 8 rows of a state of 30.
struct Evolving {
    using Plan = EvolvePlan;
    CopyEvolution job{30, 11, {7, 9, 2}};
    Plan plan = make_evolve_plan(job, request(8, 3));
    CopyRun run{30, 30 * job.shape().snapshots.count(), 11};

    RunTimes operator()() {
        return run.run(job, plan, [] { return make_queue(Backend::cuda, 0, 1); });
    }
};

/// A state of 90 rows, for which there is too little memory on the device, or on the host too:
/// bands of a few rows, sweeps of 4 generations.
template <StateHome home> struct Sweeping {
    using Plan = EvolvePlan;
    CopyEvolution job{90, 11, {7, 29, 13}};
    Plan plan = make_plan();
    CopyRun run{90, 90 * job.shape().snapshots.count(), 11};

    EvolvePlan make_plan() const {
        PlanRequest small = request(8, 3);
        small.device_memory = 1500;
        small.halo_depth = 4;
        if (home == StateHome::disk) {
            // Chunks, the state's rows for them, and the windows of three bands; not the state.
            small.host_memory = 264 + 264 + 3 * 13 * 11;
        }
        return make_evolve_plan(job, small);
    }

    RunTimes operator()() {
        EXPECT_EQ(plan.home, home);
        EXPECT_LT(plan.sweep.band_rows, 15);
        const RunTimes times = run.run(job, plan, [] { return make_queue(Backend::cuda, 0, 1); });
        EXPECT_EQ(times.state_home, name_of(home));
        return times;
    }
};

template <class Engine> class GpuMemory : public testing::Test {
  protected:
    void SetUp() override { fake_cuda::reset(); }

    void expect_right(const Engine& engine, const std::string& what) {
        EXPECT_TRUE(engine.run.writer().complete()) << what;
        EXPECT_TRUE(engine.run.writer().right(engine.job.expected(engine.run.in()))) << what;
    }
};

using Engines =
    testing::Types<Permuting, Evolving, Sweeping<StateHome::host>, Sweeping<StateHome::disk>>;
TYPED_TEST_SUITE(GpuMemory, Engines);

TYPED_TEST(GpuMemory, EnoughGivesTheJobsBytes) {
    TypeParam engine;
    const RunTimes times = engine();
    this->expect_right(engine, "");
    EXPECT_TRUE(times.halvings.empty());
    EXPECT_EQ(times.chunk_rows, engine.plan.chunk_rows());
    EXPECT_EQ(engine.run.said(), "");
    EXPECT_EQ(fake_cuda::violations(), std::vector<std::string>{});
}

TYPED_TEST(GpuMemory, AnyOrderOfTheStreamsGivesTheJobsBytes) {
    for (unsigned seed = 1; seed <= 40; ++seed) {
        fake_cuda::reset();
        fake_cuda::run_at_random(seed);
        TypeParam engine;
        (void)engine();
        this->expect_right(engine, "seed " + std::to_string(seed));
        EXPECT_EQ(fake_cuda::violations(), std::vector<std::string>{}) << seed;
    }
}

TYPED_TEST(GpuMemory, PiecesAreHalvedUntilTheyFitTheDevice) {
    typename TypeParam::Plan plan = TypeParam{}.plan;
    std::size_t steps = 0;
    for (;; ++steps) {
        SCOPED_TRACE("step " + std::to_string(steps));
        fake_cuda::reset();
        fake_cuda::set_device_memory(plan.need.device + launch_room);
        TypeParam engine;
        const RunTimes times = engine();
        this->expect_right(engine, "");
        ASSERT_EQ(times.halvings.size(), steps);
        EXPECT_EQ(times.chunk_rows, plan.chunk_rows());
        EXPECT_EQ(times.lanes, plan.lanes);
        EXPECT_EQ(times.device_bytes, plan.need.device);
        if (steps > 0) {
            EXPECT_TRUE(engine.run.said().starts_with("rank 0: cannot take device memory"));
            EXPECT_NE(engine.run.said().find("chunks of " + std::to_string(plan.chunk_rows())),
                      std::string::npos)
                << engine.run.said();
        }
        EXPECT_EQ(fake_cuda::live(), 0);
        const auto next = halved(plan);
        if (!next) {
            break;
        }
        plan = *next;
    }
    EXPECT_GE(steps, 4);
    fake_cuda::reset();
    fake_cuda::set_device_memory(plan.need.device + launch_room - 1);
    TypeParam engine;
    EXPECT_THROW((void)engine(), OutOfMemory);
    EXPECT_EQ(engine.run.reader().rows_read(), 0);
    EXPECT_EQ(fake_cuda::live(), 0);
}

TYPED_TEST(GpuMemory, AnAllocationThatFailsOnceHalvesThePieces) {
    for (const char* name : {"cudaMalloc", "cudaHostAlloc"}) {
        fake_cuda::reset();
        TypeParam whole;
        (void)whole();
        const std::int64_t count = fake_cuda::calls(name);
        ASSERT_GT(count, 3);
        std::int64_t halved_runs = 0;
        for (std::int64_t nth = 1; nth <= count; ++nth) {
            const std::string what = std::string(name) + " call " + std::to_string(nth);
            fake_cuda::reset();
            fake_cuda::fail(name, nth, 2);
            TypeParam engine;
            try {
                const RunTimes times = engine();
                this->expect_right(engine, what);
                halved_runs += std::ssize(times.halvings);
            } catch (const OutOfMemory&) { // of what cannot be smaller
                EXPECT_EQ(engine.run.said(), "") << what;
            }
            EXPECT_EQ(fake_cuda::live(), 0) << what;
            EXPECT_EQ(fake_cuda::violations(), std::vector<std::string>{}) << what;
        }
        EXPECT_GE(halved_runs, TypeParam{}.plan.lanes) << name;
    }
}

/// Runs an engine with staging memory of `pool`; returns how often it locked pages.
std::int64_t locked(const std::shared_ptr<StagingPool>& pool) {
    const std::int64_t before = fake_cuda::calls("cudaHostAlloc");
    Permuting engine;
    (void)engine.run.run(engine.job, engine.plan,
                         [&] { return make_queue(Backend::cuda, 0, 1, pool); });
    EXPECT_TRUE(engine.run.writer().right(engine.job.expected(engine.run.in())));
    return fake_cuda::calls("cudaHostAlloc") - before;
}

TEST(StagingMemory, IsKeptForTheNextRun) {
    fake_cuda::reset();
    const auto pool = std::make_shared<StagingPool>(1 * GiB);
    EXPECT_GT(locked(pool), 0);
    EXPECT_EQ(pool->kept_bytes(), Permuting{}.plan.need.staging);
    EXPECT_EQ(locked(pool), 0);
    EXPECT_EQ(pool->kept_bytes(), Permuting{}.plan.need.staging);
    pool->clear();
    EXPECT_EQ(fake_cuda::live(), 0);
    EXPECT_EQ(fake_cuda::violations(), std::vector<std::string>{});
}

TEST(StagingMemory, WhatWasKeptLongestIsFreedBeyondTheLimit) {
    fake_cuda::reset();
    CudaQueue queue(0);
    const auto pool = std::make_shared<StagingPool>(100);
    queue.use_staging(pool);
    (void)allocate_staging(queue, 60);
    (void)allocate_staging(queue, 30);
    EXPECT_EQ(pool->kept_bytes(), 90);
    (void)allocate_staging(queue, 50);
    EXPECT_EQ(pool->kept_bytes(), 80);
    EXPECT_EQ(pool->take(60).data(), nullptr);
    EXPECT_NE(pool->take(30).data(), nullptr);
    (void)allocate_staging(queue, 101);
    EXPECT_EQ(pool->kept_bytes(), 0);
}

TEST(StagingMemory, IsFreedWhereTheHostHasNoMore) {
    fake_cuda::reset();
    CudaQueue queue(0);
    const auto pool = std::make_shared<StagingPool>(1 * GiB);
    queue.use_staging(pool);
    (void)allocate_staging(queue, 60);
    fake_cuda::fail("cudaHostAlloc", 1, 2);
    const Buffer buffer = allocate_staging(queue, 70);
    EXPECT_NE(buffer.data(), nullptr);
    EXPECT_EQ(pool->kept_bytes(), 0);
}

} // namespace
} // namespace runner
