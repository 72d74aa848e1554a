// SPDX-License-Identifier: BSD-3-Clause
// Rates and the log of launches on a GPU; skipped where there is none.
#include "kernels/convolve/convolve_channels.hpp"
#include "kernels/profile/kernel_log.hpp"

#include <cstdlib>

#include <gtest/gtest.h>

namespace runner {
namespace {

class RatesCuda : public testing::Test {
  protected:
    void SetUp() override {
        if (visible_devices().empty()) {
            ASSERT_EQ(std::getenv("RUNNER_REQUIRE_GPU"), nullptr) << "no GPU";
            GTEST_SKIP() << "no GPU";
        }
    }
};

TEST_F(RatesCuda, AreInOrder) {
    const std::vector<DeviceInfo> devices = visible_devices();
    const std::vector<DeviceRates> all = measure_rates(devices);
    ASSERT_EQ(all.size(), devices.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        const DeviceRates& rates = all[i];
        EXPECT_EQ(rates.uuid, devices[i].uuid);
        EXPECT_GT(rates.copy_bytes, rates.upload_bytes);
        EXPECT_GT(rates.copy_bytes, rates.download_bytes);
        EXPECT_GT(rates.both_ways_bytes, 0.5 * rates.upload_bytes);
        EXPECT_GE(rates.float32_multiply_adds, 0.9 * rates.float64_multiply_adds);
        EXPECT_EQ(rates.peers.size(), devices[i].peers.size());
        for (const PeerRate& peer : rates.peers) {
            EXPECT_GT(peer.bytes, 1e9);
            EXPECT_LT(peer.bytes, rates.copy_bytes);
        }
    }
}

TEST_F(RatesCuda, ALogKnowsWhatAKernelDid) {
    const DeviceRates rates = measure_rates({visible_devices().front()}).front();
    Queue queue = make_queue(Backend::cuda, 0, 1);
    auto& own = std::get<CudaQueue>(queue);
    constexpr std::int64_t bytes = std::int64_t{192} << 20;
    const Buffer from = allocate_device(own, bytes);
    const Buffer to = allocate_device(own, bytes);
    const KernelLog log;
    log.watch(queue);
    for (int i = 0; i < 5; ++i) {
        split_channels(own, {1, bytes / 12, 3, 4}, from.data(), to.data());
    }
    const std::vector<KernelUse> uses = log.uses();
    ASSERT_EQ(uses.size(), 1U);
    EXPECT_EQ(uses[0].name, "channels_kernel<unsigned int, (Direction)0>");
    EXPECT_EQ(uses[0].launches, 5);
    EXPECT_EQ(uses[0].bytes, 10.0 * bytes);
    EXPECT_GT(uses[0].registers, 0);
    EXPECT_GT(uses[0].occupancy, 0.1);
    EXPECT_LE(uses[0].occupancy, 1);
    const auto share = share_of_limit(uses[0], rates);
    ASSERT_TRUE(share);
    EXPECT_GT(share->share, 0.01);
    EXPECT_LT(share->share, 1.2);
}

} // namespace
} // namespace runner
