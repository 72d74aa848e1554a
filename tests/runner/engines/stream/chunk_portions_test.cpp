// SPDX-License-Identifier: BSD-3-Clause
// Chunks larger than the page-locked memory that they pass through, on a queue that does its work
// as late as it may.
#include "runner/engines/stream/chunk_input.hpp"
#include "runner/engines/stream/chunk_output.hpp"

#include "base/sizes.hpp"
#include "tests/runner/plan/shape_only.hpp"

#include <cstring>
#include <functional>
#include <numeric>

#include <gtest/gtest.h>

namespace runner::stream {
namespace {

/// A device with memory of its own. Work waits until somebody waits for it.
class LateQueue {
  public:
    static constexpr bool shares_host_memory = false;

    class Event {
      public:
        explicit Event(const LateQueue& /*queue*/) {}
        void record(LateQueue& queue) {
            queue_ = &queue;
            place_ = queue.work_.size();
        }
        void wait() const { queue_->run_to(place_); }
        double seconds_since(const Event& /*earlier*/) const { return 0; }

      private:
        LateQueue* queue_ = nullptr;
        std::size_t place_ = 0;
    };

    void add(std::function<void()> work) { work_.push_back(std::move(work)); }

  private:
    void run_to(std::size_t place) {
        for (; done_ < place; ++done_) {
            work_[done_]();
        }
    }
    std::vector<std::function<void()>> work_;
    std::size_t done_ = 0;
};

std::int64_t staging_taken = 0;

Buffer take(std::int64_t bytes) {
    return {new std::byte[static_cast<std::size_t>(bytes)], bytes, 0,
            [](std::byte* data, std::int64_t, int) { delete[] data; }};
}
Buffer allocate_staging(LateQueue& /*queue*/, std::int64_t bytes) {
    staging_taken += bytes;
    return take(bytes);
}
Buffer allocate_device(LateQueue& /*queue*/, std::int64_t bytes) { return take(bytes); }
void copy_on_device(LateQueue& queue, std::byte* to, const std::byte* from, std::int64_t bytes) {
    queue.add([=] { std::memcpy(to, from, static_cast<std::size_t>(bytes)); });
}
void upload(LateQueue& queue, std::byte* to, const std::byte* from, std::int64_t bytes) {
    copy_on_device(queue, to, from, bytes);
}
void download(LateQueue& queue, std::byte* to, const std::byte* from, std::int64_t bytes) {
    copy_on_device(queue, to, from, bytes);
}

constexpr std::int64_t row_bytes = MiB / 2 + 3;

/// `frames` frames of 211 rows, halo 5, in chunks of `chunk_rows`.
StreamPlan plan_of(std::int64_t frames, std::int64_t chunk_rows, std::int64_t alignment) {
    PlanRequest request;
    request.backend = Backend::cuda;
    request.host_memory = request.device_memory = 64 * GiB;
    request.chunk_rows = chunk_rows;
    request.alignment = alignment;
    request.lanes = 2;
    return make_plan(ShapeOnly({{ElementType::uint8, {frames, 211, row_bytes}},
                                frames,
                                211,
                                row_bytes,
                                row_bytes,
                                5,
                                RowBorder::inside}),
                     request);
}

void mark(std::byte* row, std::int64_t number) {
    std::memset(row, static_cast<int>(number * 7 % 251), row_bytes);
}
bool is_marked(const std::byte* row, std::int64_t number) {
    const auto wanted = static_cast<std::byte>(number * 7 % 251);
    return row[0] == wanted && row[row_bytes / 2] == wanted && row[row_bytes - 1] == wanted;
}

class ChunkPortions : public testing::TestWithParam<std::array<std::int64_t, 3>> {
  protected:
    StreamPlan plan = plan_of(GetParam()[0], GetParam()[1], GetParam()[2]);
    LateQueue queue;
    void SetUp() override { staging_taken = 0; }
};

TEST_P(ChunkPortions, LeaveInOrderAndWhole) {
    ChunkOutput<LateQueue> output(plan, queue);
    EXPECT_EQ(staging_taken, plan.most_out_portion() * plan.out_portions_a_lane());
    std::int64_t next = 0;
    ChunkCursor cursor(plan.decomposition, {0, plan.decomposition.total_rows()});
    while (const auto chunk = cursor.next()) {
        const std::int64_t first = chunk->frame * 211 + chunk->block.out_first;
        const RowRange rows{first, first + chunk->out_rows()};
        queue.add([&output, rows] {
            for (std::int64_t row = rows.first; row < rows.last; ++row) {
                mark(output.data() + (row - rows.first) * row_bytes, row);
            }
        });
        output.start(rows, queue);
        for (bool last = false; !last;) {
            const auto run = output.fetch();
            ASSERT_TRUE(run);
            last = run->last;
            ASSERT_EQ(run->out.first, next);
            ASSERT_EQ(run->out.first % 211 % plan.decomposition.alignment, 0);
            ASSERT_LE(run->out.count() * row_bytes, plan.most_out_portion());
            for (; next < run->out.last; ++next) {
                ASSERT_TRUE(is_marked(run->data + (next - run->out.first) * row_bytes, next));
            }
            ASSERT_EQ(run->last, next == rows.last);
            output.written(*run, queue);
        }
        ASSERT_EQ(next, rows.last);
    }
    EXPECT_EQ(next, plan.decomposition.total_rows());
}

TEST_P(ChunkPortions, ArriveWithTheRowsOfTheChunkBefore) {
    ChunkInput<LateQueue> input(plan, queue);
    EXPECT_EQ(staging_taken, plan.most_in_portion() * plan.input_slots());
    RunTimes times;
    RunProgress progress;
    StageRecorder recorder(times, progress, nullptr);
    const LateQueue::Event origin(queue);
    input.record_to(recorder, origin);
    std::int64_t filled = 0;
    std::int64_t in_all = 0;
    RowRange before{0, 0};
    ChunkCursor cursor(plan.decomposition, {0, plan.decomposition.total_rows()});
    for (std::int64_t number = 0; const auto chunk = cursor.next(); ++number) {
        const std::int64_t first = chunk->frame * 211 + chunk->block.in_first;
        const std::int64_t rows = chunk->in_rows();
        const std::int64_t carried = std::clamp<std::int64_t>(before.last - first, 0, rows);
        input.load({number, 0, rows, carried, first - before.first},
                   [&](std::int64_t row, std::int64_t count, std::byte* to) {
                       EXPECT_LE(count * row_bytes, plan.most_in_portion());
                       for (std::int64_t i = 0; i < count; ++i) {
                           mark(to + i * row_bytes, first + row + i);
                       }
                       filled += count;
                   });
        input.loaded(number).wait();
        for (std::int64_t row = 0; row < rows; ++row) {
            ASSERT_TRUE(is_marked(input.data(number) + row * row_bytes, first + row)) << row;
        }
        before = {first, first + rows};
        in_all += rows - carried;
    }
    input.record_uploads();
    EXPECT_EQ(filled, in_all);
    EXPECT_EQ(times[Stage::upload].bytes, filled * row_bytes);
}

INSTANTIATE_TEST_SUITE_P(Shapes, ChunkPortions,
                         testing::Values(std::array<std::int64_t, 3>{2, 97, 1},
                                         std::array<std::int64_t, 3>{2, 105, 21},
                                         std::array<std::int64_t, 3>{3, 422, 1},
                                         std::array<std::int64_t, 3>{1, 104, 52},
                                         std::array<std::int64_t, 3>{2, 3, 1}));

TEST(ChunkPortionsPlan, LocksNoMoreForLargerChunks) {
    const StreamPlan small = plan_of(1, 80, 1);
    const StreamPlan large = plan_of(1, 160, 1);
    EXPECT_EQ(small.need.staging, large.need.staging);
    EXPECT_LE(large.need.staging, 2 * 32 * MiB + 2 * 2 * 16 * MiB);
    EXPECT_GT(large.need.device, small.need.device);
}

} // namespace
} // namespace runner::stream
