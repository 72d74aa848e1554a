// SPDX-License-Identifier: BSD-3-Clause
#include "runner/memory/memory_job.hpp"

#include "base/error.hpp"

#include <cstring>
#include <future>
#include <numeric>
#include <thread>

#include <gtest/gtest.h>

namespace runner {
namespace {

const MemoryJob::Place on_cpu{BackendChoice::cpu};

std::string job_text(const std::string& kind, const std::string& run = "") {
    return kind +
           "\n[input]\nfile = \"a.h5\"\ndataset = \"/a\"\n[output]\nfile = \"b.h5\"\n[run]\n" + run;
}

const std::byte* bytes(const auto& values) {
    return reinterpret_cast<const std::byte*>(values.data());
}
std::byte* bytes(auto& values) { return reinterpret_cast<std::byte*>(values.data()); }

TEST(MemoryJob, StreamsByHand) {
    for (const std::string run : {"", "chunk_rows = 1\nlanes = 1\n", "chunk_rows = 2\n"}) {
        MemoryJob job(job_text("kind = \"convolve\"", run) +
                          "[convolve]\nrow_taps = [1.0]\ncolumn_taps = [1.0, 2.0, 0.0]\n"
                          "boundary = \"constant\"\n",
                      "job", {ElementType::float32, {3, 2}}, {});
        ASSERT_EQ(job.outputs(), (std::vector<ArrayInfo>{{ElementType::float32, {3, 2}}}));
        const std::vector<float> input = {1, 2, 3, 4, 5, 6};
        std::vector<float> output(6);
        std::byte* const to = bytes(output);
        Stop stop({});
        EXPECT_TRUE(job.run(bytes(input), {&to, 1}, on_cpu, stop));
        EXPECT_EQ(output, (std::vector<float>{5, 8, 11, 14, 10, 12})) << run;
        EXPECT_EQ(job.progress().done, 3);
        EXPECT_EQ(job.progress().total, 3);
    }
}

TEST(MemoryJob, PermutesByHand) {
    for (const std::string run : {"", "chunk_rows = 1\n"}) {
        MemoryJob job(job_text("kind = \"transpose\"", run) +
                          "[transpose]\npermutation = [2, 0, 1]\n",
                      "job", {ElementType::bytes2, {1, 2, 3}}, {});
        const std::vector<std::uint16_t> input = {1, 2, 3, 4, 5, 6};
        std::vector<std::uint16_t> output(6);
        std::byte* const to = bytes(output);
        Stop stop({});
        EXPECT_TRUE(job.run(bytes(input), {&to, 1}, on_cpu, stop));
        EXPECT_EQ(job.outputs().front().shape, (std::vector<std::int64_t>{3, 1, 2}));
        EXPECT_EQ(output, (std::vector<std::uint16_t>{1, 4, 2, 5, 3, 6})) << run;
    }
}

/// Sand above nothing falls; a wall stays.
TEST(MemoryJob, EvolvesWithoutAJournal) {
    MemoryJob job(job_text("kind = \"sand\"") + "[sand]\ngenerations = 60\nsnapshot_every = 20\n",
                  "job", {ElementType::uint8, {40, 30}}, {});
    ASSERT_EQ(job.outputs().front().shape, (std::vector<std::int64_t>{3, 40, 30}));
    std::vector<std::uint8_t> input(1200, 0);
    std::fill_n(input.begin(), 300, std::uint8_t{2});
    std::vector<std::uint8_t> output(3600);
    std::byte* const to = bytes(output);
    Stop stop({});
    EXPECT_TRUE(job.run(bytes(input), {&to, 1}, on_cpu, stop));
    for (int frame = 0; frame < 3; ++frame) {
        const auto begin = output.begin() + frame * 1200;
        EXPECT_EQ(std::count(begin, begin + 1200, 2), 300) << frame;
        EXPECT_LT(std::count(begin, begin + 300, 2), 300) << frame;
    }
}

/// One chunk that would take minutes: what it has begun is not finished.
TEST(MemoryJob, DropsWhatIsInFlight) {
    MemoryJob job(job_text("kind = \"match\"", "chunk_rows = 1000000\n") +
                      "[match]\npatch = [3, 3, 3]\nwindow = [3, 31, 31]\ncount = 4\n",
                  "job", {ElementType::float32, {64, 128, 128}}, {});
    std::vector<float> input(64 * 128 * 128);
    std::iota(input.begin(), input.end(), 0.0F);
    std::vector<std::vector<std::byte>> outputs;
    std::vector<std::byte*> to;
    for (const ArrayInfo& each : job.outputs()) {
        to.push_back(outputs.emplace_back(static_cast<std::size_t>(byte_count(each))).data());
    }
    Stop stop({});
    std::future<bool> whole =
        std::async(std::launch::async, [&] { return job.run(bytes(input), to, on_cpu, stop); });
    while (job.progress().total == 0) {
        std::this_thread::yield(); // the engine has not begun
    }
    stop.ask_to_drop("the test");
    job.drop();
    EXPECT_FALSE(whole.get());
    EXPECT_LT(job.progress().done, job.progress().total);
}

/// index, distance and count of patches of one voxel in a row of four: by hand.
TEST(MemoryJob, WritesSeveralArrays) {
    MemoryJob job(job_text("kind = \"match\"") +
                      "[match]\npatch = [1, 1, 1]\nwindow = [1, 1, 3]\ncount = 2\n",
                  "job", {ElementType::float32, {1, 1, 4}}, {});
    ASSERT_EQ(job.outputs().size(), 3U);
    const std::vector<float> input = {1, 3, 4, 8};
    std::vector<std::uint64_t> index(8);
    std::vector<float> distance(8);
    std::vector<std::int32_t> count(4);
    const std::array<std::byte*, 3> to = {bytes(index), bytes(distance), bytes(count)};
    Stop stop({});
    EXPECT_TRUE(job.run(bytes(input), to, on_cpu, stop));
    EXPECT_EQ(index, (std::vector<std::uint64_t>{0, 1, 1, 2, 2, 1, 3, 2}));
    EXPECT_EQ(distance, (std::vector<float>{0, 4, 0, 1, 0, 1, 0, 16}));
    EXPECT_EQ(count, (std::vector<std::int32_t>{2, 2, 2, 2}));
}

/// A survey of the whole input ends a pass, whose output the next one reads.
TEST(MemoryJob, RunsPassesOneAfterTheOther) {
    MemoryJob job(job_text("") + "[[step]]\nkind = \"bin\"\nfactors = [1, 2]\n"
                                 "[[step]]\nkind = \"rescale\"\nfrom = \"extremes\"\n"
                                 "dtype = \"uint8\"\n",
                  "job", {ElementType::float64, {2, 4}}, {});
    const std::vector<double> input = {0, 2, 4, 6, 8, 10, 12, 14};
    std::vector<std::uint8_t> output(4);
    std::byte* const to = bytes(output);
    Stop stop({});
    EXPECT_TRUE(job.run(bytes(input), {&to, 1}, on_cpu, stop));
    EXPECT_EQ(output, (std::vector<std::uint8_t>{0, 85, 170, 255}));
}

TEST(MemoryJob, RefusesToSaveAStep) {
    const std::string step = "[[step]]\nkind = \"convolve\"\nrow_taps = [1.0]\n"
                             "column_taps = [1.0]\n";
    try {
        const MemoryJob job(job_text("") + step + "save = \"kept.h5\"\n" + step, "job",
                            {ElementType::float32, {3, 2}}, {});
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::usage);
        EXPECT_NE(std::string(error.what()).find("save = kept.h5"), std::string::npos);
    }
}

TEST(MemoryJob, StopsAndFails) {
    MemoryJob job(job_text("kind = \"median\"") + "[median]\nsize = [3, 3]\n", "job",
                  {ElementType::uint8, {9, 9}}, {});
    const std::vector<std::uint8_t> input(81, 1);
    std::vector<std::uint8_t> output(81);
    std::byte* const to = bytes(output);
    Stop stop({});
    stop.ask_to_drop("a test");
    EXPECT_FALSE(job.run(bytes(input), {&to, 1}, on_cpu, stop));
    EXPECT_THROW(MemoryJob(job_text("kind = \"median\"") + "[median]\nsize = [2, 3]\n", "job",
                           {ElementType::uint8, {9, 9}}, {}),
                 Error);
    EXPECT_THROW(MemoryJob(job_text("kind = \"sand\"") + "[sand]\ngenerations = 1\n", "job",
                           {ElementType::float32, {9, 9}}, {}),
                 Error);
}

} // namespace
} // namespace runner
