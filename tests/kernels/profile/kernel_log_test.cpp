// SPDX-License-Identifier: BSD-3-Clause
// What the log of launches keeps, on a stand-in for the CUDA runtime: each timed launch takes 1 ms.
#include "kernels/convolve/convolve_channels.hpp"
#include "kernels/profile/kernel_log.hpp"
#include "tests/fake_cuda/fake_cuda.hpp"

#include <gtest/gtest.h>

namespace runner {
namespace {

/// 70 pixels of 3 channels: one block.
void split(CudaQueue& queue, std::int64_t frames) {
    split_channels(queue, {frames, 70, 3, 1}, nullptr, nullptr);
}

TEST(KernelLog, CountsAndTimesLaunches) {
    fake_cuda::reset();
    {
        Queue queue = make_queue(Backend::cuda, 0, 1);
        auto& own = std::get<CudaQueue>(queue);
        split(own, 1);
        EXPECT_EQ(fake_cuda::calls("cudaEventRecord"), 0);
        const KernelLog log;
        log.watch(queue);
        for (int i = 0; i < 39; ++i) {
            split(own, 1);
        }
        split(own, 20);
        const std::vector<KernelUse> uses = log.uses();
        ASSERT_EQ(uses.size(), 1U);
        EXPECT_EQ(uses[0].name, "channels_kernel<unsigned char, (Direction)0>");
        EXPECT_EQ(uses[0].launches, 40);
        EXPECT_EQ(uses[0].timed, 36); // 32, and every second one from there on
        EXPECT_NEAR(uses[0].seconds, 0.04, 1e-6);
        EXPECT_EQ(uses[0].grid[0], 17); // 4200 samples by 256
        EXPECT_EQ(uses[0].block[0], 256);
        EXPECT_EQ(uses[0].registers, 40);
        EXPECT_EQ(uses[0].shared_bytes, 16);
        EXPECT_DOUBLE_EQ(uses[0].occupancy, 256.0 / 65536); // one block a multiprocessor
        EXPECT_EQ(uses[0].bytes, 2 * 210 * (39 + 20));
        EXPECT_EQ(fake_cuda::calls("cudaEventRecord"), 2 * 36);
        EXPECT_EQ(fake_cuda::calls("cudaFuncGetName"), 1);
    }
    EXPECT_EQ(fake_cuda::live(), 0);
    EXPECT_TRUE(fake_cuda::violations().empty());
}

TEST(KernelLog, IsOfAllQueuesItWatchesAndOutlivesThem) {
    fake_cuda::reset();
    {
        const KernelLog log;
        for (int i = 0; i < 2; ++i) {
            Queue queue = make_queue(Backend::cuda, 0, 1);
            log.watch(queue);
            split(std::get<CudaQueue>(queue), 1);
            std::get<CudaQueue>(queue).synchronize();
        }
        Queue cpu = make_queue(Backend::cpu, 0, 1);
        log.watch(cpu);
        const std::vector<KernelUse> uses = log.uses();
        ASSERT_EQ(uses.size(), 1U);
        EXPECT_EQ(uses[0].launches, 2);
        EXPECT_NEAR(uses[0].seconds, 0.002, 1e-8);
    }
    EXPECT_EQ(fake_cuda::live(), 0);
}

TEST(KernelLog, MeasuresRatesAndGivesAllBack) {
    fake_cuda::reset();
    fake_cuda::set_device_memory(std::int64_t{16} << 20); // buffers of 2 MiB
    const std::vector<DeviceRates> all = measure_rates(visible_devices());
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].name, "fake GPU");
    EXPECT_NEAR(all[0].copy_bytes, 2 * 2097152 / 1e-3, 1e3);
    EXPECT_NEAR(all[0].upload_bytes, 2097152 / 1e-3, 1e3);
    EXPECT_NEAR(all[0].download_bytes, 2097152 / 1e-3, 1e3);
    EXPECT_GT(all[0].both_ways_bytes, 0);
    EXPECT_NEAR(all[0].float32_multiply_adds, 48.0 * 256 * 16 * 4096 / 1e-3, 1e6);
    EXPECT_TRUE(all[0].peers.empty());
    EXPECT_EQ(fake_cuda::live(), 0);
    EXPECT_TRUE(fake_cuda::violations().empty());
}

} // namespace
} // namespace runner
