// SPDX-License-Identifier: BSD-3-Clause
// The stream engine on a stand-in for the CUDA runtime in which any call can fail.
#include "kernels/queue/devices.hpp"
#include "tests/fake_cuda/fake_cuda.hpp"
#include "tests/support/child.hpp"
#include "tests/support/copy_stream.hpp"

#include <array>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

/// Sizes of one run.
struct Shape {
    std::int64_t frames;
    std::int64_t rows;
    std::int64_t row_bytes;
    std::int64_t halo;
    std::int64_t alignment;
    std::int64_t chunk_rows;
    int lanes;
    RowBorder border = RowBorder::inside;
};

constexpr Shape one_frame{1, 37, 13, 3, 1, 9, 3};
constexpr Shape aligned{1, 61, 7, 2, 4, 24, 2};
constexpr Shape whole_frames{5, 11, 9, 1, 1, 22, 3};
constexpr Shape wrapped{1, 29, 5, 4, 1, 10, 2, RowBorder::periodic};
constexpr Shape wrapped_frames{5, 12, 9, 2, 1, 25, 3, RowBorder::periodic};
constexpr std::array shapes = {one_frame, aligned, whole_frames, wrapped, wrapped_frames};

class GpuRun {
  public:
    explicit GpuRun(const Shape& shape)
        : job_(shape.frames, shape.rows, shape.row_bytes, shape.halo, shape.border),
          plan_(plan(job_, shape)), stream_(job_, plan_) {}

    RunTimes operator()() {
        return stream_.run([] { return make_queue(Backend::cuda, 0, 1); });
    }

    const CopyJob& job() const { return job_; }
    const StreamPlan& plan() const { return plan_; }
    const CopyStream& stream() const { return stream_; }
    bool right() const { return stream_.writer().right(job_.expected(stream_.in())); }
    /// Every row of the output is there, and every row of the input was read once.
    bool complete() const {
        const StreamShape shape = job_.shape();
        return right() && stream_.writer().complete() &&
               stream_.reader().rows_read() == shape.frames * shape.rows;
    }

  private:
    static StreamPlan plan(const CopyJob& job, const Shape& shape) {
        PlanRequest request;
        request.backend = Backend::cuda;
        request.cores = 2;
        request.host_memory = std::int64_t{1} << 40;
        request.device_memory = std::int64_t{1} << 40;
        request.alignment = shape.alignment;
        request.chunk_rows = shape.chunk_rows;
        request.lanes = shape.lanes;
        return make_plan(job, request);
    }

    CopyJob job_;
    StreamPlan plan_;
    CopyStream stream_;
};

/// Each function of CUDA that a run calls, and how often.
std::vector<std::pair<std::string, std::int64_t>> calls_of(const Shape& shape) {
    fake_cuda::reset();
    GpuRun run(shape);
    (void)run();
    EXPECT_TRUE(run.complete());
    std::vector<std::pair<std::string, std::int64_t>> calls;
    for (const std::string& name : fake_cuda::called()) {
        calls.emplace_back(name, fake_cuda::calls(name));
    }
    return calls;
}

/// Functions whose failure may leave the rows whole: they give back what the rows need no more.
bool gives_back(const std::string& function) {
    static const std::set<std::string> names = {"cudaFree", "cudaFreeHost", "cudaEventDestroy",
                                                "cudaStreamDestroy", "cudaSetDevice"};
    return names.contains(function);
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// What is wrong with a run in which a call gives `error`; empty if nothing is. `hint` must be in
/// the message.
std::string complaint(const Shape& shape, const std::string& function, std::int64_t nth, int error,
                      const std::string& hint) {
    fake_cuda::reset();
    fake_cuda::fail(function, nth, error);
    std::string wrong;
    {
        GpuRun run(shape);
        try {
            (void)run();
            wrong += gives_back(function) ? "" : "no error; ";
            wrong += run.complete() ? "" : "rows are missing; ";
        } catch (const Error& thrown) {
            const std::string text = thrown.what();
            wrong += thrown.code() == ExitCode::gpu ? "" : "exit code; ";
            wrong += contains(text, "CUDA error " + std::to_string(error) + ",") ? "" : text + "; ";
            wrong += contains(text, hint) ? "" : "no hint in: " + text + "; ";
        }
        wrong += run.right() ? "" : "wrong rows; ";
    }
    for (const std::string& violation : fake_cuda::violations()) {
        wrong += violation + "; ";
    }
    return wrong;
}

TEST(GpuFailures, NoneGivesTheJobsBytes) {
    for (const Shape& shape : shapes) {
        fake_cuda::reset();
        GpuRun run(shape);
        const RunTimes times = run();
        EXPECT_TRUE(run.complete());
        EXPECT_TRUE(times.halvings.empty());
        EXPECT_EQ(times.chunk_rows, shape.chunk_rows);
        EXPECT_EQ(run.stream().said(), "");
        EXPECT_EQ(fake_cuda::live(), 0);
        EXPECT_EQ(fake_cuda::violations(), std::vector<std::string>{});
    }
}

TEST(GpuFailures, NoOrderOfTheStreamsWorkChangesAByte) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        for (const Shape& shape : shapes) {
            fake_cuda::reset();
            fake_cuda::run_at_random(seed);
            GpuRun run(shape);
            (void)run();
            EXPECT_TRUE(run.complete()) << "seed " << seed;
            EXPECT_EQ(fake_cuda::violations(), std::vector<std::string>{}) << seed;
        }
    }
}

TEST(GpuFailures, AfterTheDeviceIsLostNoCallIsMade) {
    // Each call of a run with one of these; over all calls of a function, with each of them.
    constexpr std::array errors = {700, 719, 214, 702, 46, 715};
    std::int64_t runs = 0;
    for (const auto& [name, count] : calls_of(one_frame)) {
        for (std::int64_t nth = 1; nth <= count; ++nth) {
            const int error = errors[static_cast<std::size_t>(runs++) % errors.size()];
            const std::string wrong = in_child([&, function = name] {
                std::string found = complaint(one_frame, function, nth, error,
                                              "the same command resumes with the others");
                found += device_lost() ? "" : "the loss was not noticed; ";
                const std::int64_t before = fake_cuda::calls("cudaSetDevice");
                try {
                    (void)make_queue(Backend::cuda, 0, 1);
                    found += "a queue could be made; ";
                } catch (const Error&) {
                    found += fake_cuda::calls("cudaSetDevice") == before ? "" : "a call after; ";
                }
                return found;
            });
            EXPECT_EQ(wrong, "") << name << " call " << nth << " error " << error;
        }
    }
    EXPECT_GT(runs, 200);
}

TEST(GpuFailures, OtherErrorsEndTheRunAndGiveAllBack) {
    constexpr std::array errors = {1, 9, 98, 701};
    std::size_t runs = 0;
    for (const auto& [name, count] : calls_of(one_frame)) {
        for (std::int64_t nth = 1; nth <= count; ++nth) {
            const int error = errors[runs++ % errors.size()];
            EXPECT_EQ(complaint(one_frame, name, nth, error, "a defect of the program"), "")
                << name << " call " << nth << " error " << error;
            EXPECT_EQ(fake_cuda::live(), 0) << name << " call " << nth;
        }
    }
    EXPECT_FALSE(device_lost());
}

/// The plans that a run may come down to, the first one first.
std::vector<StreamPlan> steps_of(const GpuRun& run) {
    std::vector<StreamPlan> plans = {run.plan()};
    while (const std::optional<StreamPlan> next = halved(run.job(), plans.back())) {
        plans.push_back(*next);
    }
    return plans;
}

TEST(GpuFailures, AnAllocationThatFailsOnceHalvesTheChunks) {
    for (const Shape& shape : shapes) {
        for (const char* name : {"cudaMalloc", "cudaHostAlloc", "cudaEventCreateWithFlags"}) {
            fake_cuda::reset();
            GpuRun whole(shape);
            (void)whole();
            const std::int64_t count = fake_cuda::calls(name);
            ASSERT_GT(count, 3);
            for (std::int64_t nth = 1; nth <= count; ++nth) {
                fake_cuda::reset();
                fake_cuda::fail(name, nth, 2);
                GpuRun run(shape);
                const RunTimes times = run();
                EXPECT_TRUE(run.complete()) << name << " call " << nth;
                ASSERT_EQ(times.halvings.size(), 1) << name << " call " << nth;
                EXPECT_EQ(times.chunk_rows, steps_of(run)[1].decomposition.chunk_rows);
                EXPECT_EQ(times.chunk_rows, times.halvings[0].chunk_rows);
                EXPECT_TRUE(contains(run.stream().said(), "rank 0: cannot take "))
                    << run.stream().said();
                EXPECT_TRUE(contains(run.stream().said(),
                                     "chunks of " + std::to_string(times.chunk_rows) + " rows"))
                    << run.stream().said();
                EXPECT_EQ(fake_cuda::live(), 0) << name << " call " << nth;
                EXPECT_EQ(fake_cuda::violations(), std::vector<std::string>{})
                    << name << " call " << nth;
            }
        }
    }
}

TEST(GpuFailures, ChunksAreHalvedUntilTheyFitTheDevice) {
    constexpr std::int64_t room = std::int64_t{64} << 20; // what the engine leaves to launches
    for (const Shape& shape : shapes) {
        const std::vector<StreamPlan> steps = steps_of(GpuRun(shape));
        ASSERT_GE(steps.size(), 3);
        for (std::size_t step = 0; step < steps.size(); ++step) {
            fake_cuda::reset();
            fake_cuda::set_device_memory(steps[step].need.device + room);
            GpuRun run(shape);
            const RunTimes times = run();
            EXPECT_TRUE(run.complete());
            // Several steps may need the same.
            std::size_t first = 0;
            while (steps[first].need.device > steps[step].need.device) {
                ++first;
            }
            ASSERT_EQ(times.halvings.size(), first);
            for (std::size_t i = 0; i < first; ++i) {
                EXPECT_EQ(times.halvings[i].chunk_rows, steps[i + 1].decomposition.chunk_rows);
                EXPECT_EQ(times.halvings[i].lanes, steps[i + 1].lanes);
            }
            EXPECT_EQ(times.device_bytes, steps[first].need.device);
            EXPECT_EQ(fake_cuda::live(), 0);
        }
    }
}

/// A run in which memory is never there; what it ends with.
ExitCode ends_with(const char* function, int nth) {
    fake_cuda::reset();
    fake_cuda::fail(function, nth, 2, fake_cuda::Again::yes);
    GpuRun run(aligned);
    ExitCode code = ExitCode::ok;
    try {
        (void)run();
    } catch (const OutOfMemory& error) {
        code = error.code();
    }
    EXPECT_EQ(run.stream().reader().rows_read(), 0);
    EXPECT_EQ(run.stream().said(), "");
    EXPECT_EQ(fake_cuda::live(), 0);
    return code;
}

TEST(GpuFailures, NoMemoryAtAllIsAnErrorOfTheDeviceOrTheHost) {
    for (const int nth : {1, 2, 3}) {
        EXPECT_EQ(ends_with("cudaMalloc", nth), ExitCode::gpu);
        EXPECT_EQ(ends_with("cudaHostAlloc", nth), ExitCode::launch);
        EXPECT_EQ(ends_with("cudaStreamCreateWithFlags", nth), ExitCode::gpu);
    }
}

} // namespace
} // namespace runner
