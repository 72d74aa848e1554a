// SPDX-License-Identifier: BSD-3-Clause
#include "runner/ranks/host_memory.hpp"

#include "base/sizes.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace runner {
namespace {

/// A small /proc and /sys in a folder of its own; Slurm's variables unset.
class HostMemoryTest : public testing::Test {
  protected:
    void SetUp() override {
        for (const char* name : {"SLURM_MEM_PER_NODE", "SLURM_MEM_PER_CPU", "SLURM_CPUS_ON_NODE"}) {
            ::unsetenv(name);
        }
        root_ = testing::TempDir() + "host_memory_" +
                testing::UnitTest::GetInstance()->current_test_info()->name();
        std::filesystem::remove_all(root_);
        put("/proc/meminfo", "MemTotal: 9000 kB\nMemAvailable:   8192 kB\n");
    }
    void TearDown() override { std::filesystem::remove_all(root_); }

    void put(const std::string& path, const std::string& text) const {
        std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
        std::ofstream(root_ + path) << text;
    }

    std::string root_;
};

TEST_F(HostMemoryTest, TakesTheMachineWhereNothingElseLimits) {
    EXPECT_EQ(available_host_memory(root_).bytes, 8192 * KiB);
    EXPECT_EQ(available_host_memory(root_).source, "machine");
}

TEST_F(HostMemoryTest, TakesTheTightestCgroupOfTheBranch) {
    put("/proc/self/cgroup", "0::/job/step\n");
    put("/sys/fs/cgroup/job/step/memory.max", "max\n");
    put("/sys/fs/cgroup/job/step/memory.current", "100\n");
    put("/sys/fs/cgroup/job/memory.max", "4194304\n");
    put("/sys/fs/cgroup/job/memory.current", "1048576\n");
    put("/sys/fs/cgroup/job/memory.stat", "anon 5\ninactive_file 524288\nactive_file 0\n");
    EXPECT_EQ(available_host_memory(root_).bytes, 4 * MiB - 512 * KiB);
    EXPECT_EQ(available_host_memory(root_).source, "cgroup");
}

TEST_F(HostMemoryTest, ReadsVersionOneToo) {
    put("/proc/self/cgroup", "7:memory:/job\n3:cpu,cpuacct:/job\n");
    put("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "2097152\n");
    put("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "1048576\n");
    EXPECT_EQ(available_host_memory(root_).bytes, 1 * MiB);
}

TEST_F(HostMemoryTest, TakesSlurmsGrant) {
    ::setenv("SLURM_MEM_PER_CPU", "2", 1);
    ::setenv("SLURM_CPUS_ON_NODE", "3", 1);
    EXPECT_EQ(available_host_memory(root_).bytes, 6 * MiB);
    EXPECT_EQ(available_host_memory(root_).source, "Slurm");
    ::setenv("SLURM_MEM_PER_NODE", "1", 1);
    EXPECT_EQ(available_host_memory(root_).bytes, 1 * MiB);
    ::unsetenv("SLURM_MEM_PER_NODE");
    for (const auto& [text, bytes] : {std::pair("1024K", 3 * MiB), std::pair("2M", 6 * MiB),
                                      std::pair("1.5m", 9 * MiB / 2), std::pair("2Mc", 6 * MiB)}) {
        ::setenv("SLURM_MEM_PER_CPU", text, 1);
        EXPECT_EQ(available_host_memory(root_).bytes, bytes) << text;
    }
    for (const char* text : {"4P5", "many", "", "-3G", "0"}) {
        ::setenv("SLURM_MEM_PER_CPU", text, 1);
        EXPECT_NE(available_host_memory(root_).source, "Slurm") << text;
    }
}

TEST(PeakResidentMemory, IsMoreThanThisProgram) { EXPECT_GT(peak_resident_memory(), MiB); }

} // namespace
} // namespace runner
