// SPDX-License-Identifier: BSD-3-Clause
// Failures of a real GPU: kernels that fail, memory that another program holds.
#include "base/sizes.hpp"
#include "kernels/queue/devices.hpp"
#include "tests/support/copy_stream.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace runner {
namespace {

namespace fs = std::filesystem;

/// A program beside this one.
std::string program(const std::string& name) {
    return (fs::read_symlink("/proc/self/exe").parent_path() / name).string();
}

struct Ended {
    int status = 0; ///< the exit code, or -1
    std::string output;
};

/// Runs a shell's command line; its output and errors together.
Ended run_command(const std::string& line) {
    std::FILE* pipe = ::popen(("exec 2>&1; timeout 600 " + line).c_str(), "r");
    Ended ended;
    std::array<char, 4096> part{};
    for (std::size_t got = 0; (got = std::fread(part.data(), 1, part.size(), pipe)) > 0;) {
        ended.output.append(part.data(), got);
    }
    const int status = ::pclose(pipe);
    ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return ended;
}

class GpuFaults : public testing::Test {
  protected:
    void SetUp() override {
        if (!visible_devices().empty()) {
            return;
        }
        const char* required = std::getenv("RUNNER_REQUIRE_GPU");
        ASSERT_TRUE(required == nullptr || std::string_view(required) != "1")
            << "RUNNER_REQUIRE_GPU is 1 and there is no GPU";
        GTEST_SKIP() << "no GPU to test on";
    }
};

TEST_F(GpuFaults, AKernelThatFailsEndsTheProcessWithOneMessage) {
    for (const char* fault : {"trap", "address", "alignment"}) {
        for (const int chunk : {0, 3, 32}) {
            const Ended ended =
                run_command(program("faulting_run") + " " + fault + " " + std::to_string(chunk));
            EXPECT_EQ(ended.status, 5) << fault << " " << chunk << ": " << ended.output;
            EXPECT_TRUE(ended.output.starts_with("runner: error: the GPU failed")) << ended.output;
            EXPECT_EQ(std::count(ended.output.begin(), ended.output.end(), '\n'), 1)
                << ended.output;
            std::printf("%s at chunk %d: %s", fault, chunk, ended.output.c_str());
        }
    }
}

TEST_F(GpuFaults, TheEngineHalvesItsChunksBesideAMemoryHog) {
    const CopyJob job(1, 2049, 65537, 3);
    PlanRequest request;
    request.backend = Backend::cuda;
    request.cores = 4;
    request.host_memory = 4 * GiB;
    request.device_memory = 4 * GiB;
    request.chunk_rows = 512;
    request.lanes = 3;
    const StreamPlan plan = make_plan(job, request);
    CopyStream stream(job, plan);
    CudaQueue queue(0);
    const Buffer hog = allocate_device(queue, free_device_memory(0) - 100 * MiB);
    const RunTimes times = stream.run([] { return make_queue(Backend::cuda, 0, 1); });
    EXPECT_GE(times.halvings.size(), 1);
    EXPECT_LT(times.chunk_rows, 512);
    EXPECT_TRUE(stream.writer().complete());
    EXPECT_TRUE(stream.writer().right(job.expected(stream.in())));
    std::printf("%s", stream.said().c_str());
}

void write_job(const fs::path& file, const std::string& run, const std::string& output) {
    std::ofstream(file) << R"(kind = "convolve"
[input]
file = "in.h5"
dataset = "/image"
generate = { pattern = "noise", shape = [8193, 8191], dtype = "float32" }
[output]
sync = false
file = ")" << output << R"("
[run]
)" << run << R"(
[convolve]
row_taps = { gaussian = { sigma = 2.0, radius = 8 } }
column_taps = { gaussian = { sigma = 2.0, radius = 8 } }
)";
}

TEST_F(GpuFaults, ARunHalvesItsChunksBesideAMemoryHog) {
    const fs::path folder =
        fs::temp_directory_path() / ("gpu_faults." + std::to_string(::getpid()));
    fs::create_directories(folder);
    const std::string runner = "env -C " + folder.string() + " " + program("runner") + " ";
    write_job(folder / "cpu.toml", "backend = 'cpu'", "cpu.h5");
    // Four lanes of the whole image take 2 GiB.
    write_job(folder / "gpu.toml",
              "backend = 'cuda'\ndevice_memory = '1TiB'\nchunk_rows = 8193\nlanes = 4", "gpu.h5");
    const Ended plain = run_command(runner + "cpu.toml --quiet");
    EXPECT_EQ(plain.status, 0) << plain.output;
    {
        CudaQueue queue(0);
        // What is left is for the other process' context too.
        const Buffer hog = allocate_device(queue, free_device_memory(0) - 1200 * MiB);
        const Ended beside = run_command(runner + "gpu.toml --quiet --report report.json");
        EXPECT_EQ(beside.status, 0) << beside.output;
        EXPECT_TRUE(beside.output.starts_with("rank 0: cannot take device memory"))
            << beside.output;
        std::printf("%s", beside.output.c_str());
    }
    std::ifstream file(folder / "report.json");
    const std::string report((std::istreambuf_iterator<char>(file)), {});
    EXPECT_NE(report.find("\"cannot take device memory"), std::string::npos);
    const Ended same = run_command(runner + "compare cpu.h5:/image gpu.h5:/image");
    EXPECT_EQ(same.status, 0) << same.output;
    fs::remove_all(folder);
}

} // namespace
} // namespace runner
