// SPDX-License-Identifier: BSD-3-Clause
// What jobs count on their queue while they run, and how counting ends them early.
#include "jobs/denoise/bm4d_job.hpp"
#include "jobs/denoise/nlm_job.hpp"
#include "jobs/match/match_job.hpp"
#include "tests/support/queues.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace runner {
namespace {

const Volume volume{ElementType::uint8, {29, 13, 17}};

Match usual_match(std::int64_t step) {
    Match match;
    match.volume = volume.shape;
    match.patch = {3, 3, 3};
    match.window = {5, 5, 5};
    match.count = 6;
    match.step = step;
    return match;
}

NoiseKeys usual_noise() {
    NoiseKeys noise;
    noise.sigma = 20;
    return noise;
}

/// The jobs that count, by name.
std::unique_ptr<StreamJob> make_job(const std::string& name) {
    const std::vector<std::int64_t> shape(volume.shape.begin(), volume.shape.end());
    if (name == "nlm") {
        return std::make_unique<NlmJob>(volume, NlmKeys{usual_match(1), usual_noise(), 0.6}, shape);
    }
    if (name == "bm4d") {
        return std::make_unique<Bm4dJob>(volume, Bm4dKeys{usual_match(2), usual_noise()}, shape);
    }
    Match match = usual_match(name == "match by steps" ? 3 : 1);
    if (name == "serial match") {
        match.selection = MatchSelection::serial;
    }
    return std::make_unique<MatchJob>(volume, match);
}

constexpr std::array names = {"match", "match by steps", "serial match", "nlm", "bm4d"};

/// Layers [first, first + layers) with all that is around them.
RowBlock block_of(std::int64_t first, std::int64_t layers) {
    const std::int64_t lines = volume.shape[1];
    return {1, 0, volume.rows(), first * lines, layers * lines};
}

/// A job's memory for any block, zeros.
template <class Q> class JobRun {
  public:
    JobRun(Q& queue, const StreamJob& job, const RowBlock& block)
        : job_(job), block_(block), in_(queue, bytes(volume.rows() * volume.row_bytes())),
          out_(queue, bytes(volume.rows() * volume.shape[2] * 100)),
          scratch_(queue, bytes(job.scratch_bytes(
                              Q::shares_host_memory ? Backend::cpu : Backend::cuda, block))) {}

    void operator()(Queue& queue) const {
        job_.run(queue, block_, in_.data(), out_.data(), {scratch_.data()});
    }

  private:
    static std::vector<std::byte> bytes(std::int64_t count) {
        return std::vector<std::byte>(static_cast<std::size_t>(count));
    }

    const StreamJob& job_;
    RowBlock block_;
    DeviceBytes<Q> in_;
    DeviceBytes<Q> out_;
    DeviceBytes<Q> scratch_;
};

template <class Q> class WorkMeterTest : public QueueTest<Q> {
  protected:
    static Queue make() {
        return make_queue(Q::shares_host_memory ? Backend::cpu : Backend::cuda, 0, 2);
    }
};

TYPED_TEST_SUITE(WorkMeterTest, TestQueues);

TYPED_TEST(WorkMeterTest, CountsTheOperationsThatTheJobSays) {
    for (const std::string name : names) {
        const auto job = make_job(name);
        for (const RowBlock& block : {block_of(0, 29), block_of(0, 1), block_of(12, 9)}) {
            Queue queue = this->make();
            auto& own = std::get<TypeParam>(queue);
            const JobRun<TypeParam> run(own, *job, block);
            const double before = own.meter()->done();
            run(queue);
            own.synchronize();
            own.settle();
            const double counted = own.meter()->done() - before;
            const double said = job->operations(block);
            EXPECT_GT(said, 0) << name;
            EXPECT_NEAR(counted, said, 1e-9 * said) << name << ", lines from " << block.out_first;
        }
    }
}

TYPED_TEST(WorkMeterTest, DroppedWorkIsGivenUp) {
    for (const std::string name : names) {
        const auto job = make_job(name);
        const RowBlock block = block_of(0, 29);
        Queue queue = this->make();
        auto& own = std::get<TypeParam>(queue);
        const JobRun<TypeParam> run(own, *job, block);
        own.meter()->drop();
        EXPECT_THROW(run(queue), WorkDropped) << name;
        own.synchronize();
        EXPECT_LT(own.meter()->done(), job->operations(block) / 2) << name;
    }
}

/// Another thread sees the work move before it is done, and drops it.
TEST(WorkMeter, IsSeenWhileTheWorkGoesOn) {
    const auto job = make_job("bm4d");
    const RowBlock block = block_of(0, 29);
    Queue queue = make_queue(Backend::cpu, 0, 1);
    auto& own = std::get<CpuQueue>(queue);
    const JobRun<CpuQueue> run(own, *job, block);
    const std::shared_ptr<WorkMeter> meter = own.meter();
    std::atomic<bool> ended{false};
    std::thread watching([&] {
        while (meter->done() == 0 && !ended) {
            std::this_thread::yield();
        }
        meter->drop();
    });
    double counted = 0;
    try {
        for (;;) { // until the other thread was given time
            run(queue);
            counted += job->operations(block);
        }
    } catch (const WorkDropped&) {
        ended = true;
    }
    watching.join();
    EXPECT_GT(meter->done(), 0);
    EXPECT_LE(meter->done() - counted, 1.001 * job->operations(block));
}

} // namespace
} // namespace runner
