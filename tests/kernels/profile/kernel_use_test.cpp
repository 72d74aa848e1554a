// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/profile/kernel_use.hpp"

#include <gtest/gtest.h>

namespace runner {
namespace {

KernelUse use_of(const std::string& name, std::int64_t blocks, double seconds) {
    KernelUse use;
    use.name = name;
    use.grid = {blocks, 1, 1};
    use.block = {64, 1, 1};
    use.launches = 2;
    use.timed = 1;
    use.seconds = seconds;
    use.bytes = 100;
    use.operations = 10;
    return use;
}

TEST(KernelUse, AddsWhatIsOfTheSameKernelAndBlock) {
    std::vector<KernelUse> all = {use_of("a", 5, 1)};
    KernelUse other_block = use_of("a", 5, 0.5);
    other_block.block = {32, 1, 1};
    add_uses(all, {use_of("b", 1, 2), use_of("a", 7, 4), other_block});
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[0].name, "a"); // the longest first
    EXPECT_EQ(all[0].grid[0], 7);
    EXPECT_EQ(all[0].launches, 4);
    EXPECT_EQ(all[0].timed, 2);
    EXPECT_EQ(all[0].seconds, 5);
    EXPECT_EQ(all[0].bytes, 200);
    EXPECT_EQ(all[0].operations, 20);
    EXPECT_EQ(all[1].name, "b");
    EXPECT_EQ(all[2].block[0], 32);
    EXPECT_EQ(all[2].seconds, 0.5);
}

TEST(KernelUse, TimesFewOfManyLaunchesAndEachStandsForThoseBeforeIt) {
    std::int64_t timed = 0;
    std::int64_t stood_for = 0;
    constexpr std::int64_t launches = 1 << 20;
    for (std::int64_t nth = 1; nth <= launches; ++nth) {
        if (is_timed(nth)) {
            ++timed;
            stood_for += launches_timed_by(nth);
        }
        if (nth == 31) {
            EXPECT_EQ(timed, 31);
        }
    }
    EXPECT_EQ(timed, 32 + 15 * 16); // 32, and 16 of each doubling up to 2^20
    EXPECT_NEAR(static_cast<double>(stood_for) / launches, 1, 0.07);
}

TEST(KernelUse, TheShareIsOfWhatTakesLonger) {
    DeviceRates rates;
    rates.copy_bytes = 1000;
    rates.float32_multiply_adds = 50;
    rates.float64_multiply_adds = 25;
    KernelUse use = use_of("a", 1, 0.2); // 100 bytes take 0.1 s, 5 multiply-adds too
    auto share = share_of_limit(use, rates);
    ASSERT_TRUE(share);
    EXPECT_DOUBLE_EQ(share->share, 0.5);
    EXPECT_EQ(share->limit, "copy");
    use.doubles = true; // these take 0.2 s
    share = share_of_limit(use, rates);
    ASSERT_TRUE(share);
    EXPECT_DOUBLE_EQ(share->share, 1);
    EXPECT_EQ(share->limit, "multiply-add");
    EXPECT_FALSE(share_of_limit(use, {}));
    use.bytes = 0;
    use.operations = 0;
    EXPECT_FALSE(share_of_limit(use, rates));
    EXPECT_FALSE(share_of_limit(use_of("a", 1, 0), rates));
}

TEST(KernelUse, ALinkIsBoundByOneWayOrByBoth) {
    DeviceRates rates;
    rates.upload_bytes = 10;
    rates.download_bytes = 5;
    rates.both_ways_bytes = 12;
    EXPECT_DOUBLE_EQ(least_link_seconds(rates, 100, 0), 10);
    EXPECT_DOUBLE_EQ(least_link_seconds(rates, 0, 100), 20);
    EXPECT_DOUBLE_EQ(least_link_seconds(rates, 70, 50), 10);
    EXPECT_EQ(least_link_seconds({}, 70, 50), 0);
}

TEST(KernelUse, NamesAreAsTheSourceHasThem) {
    EXPECT_EQ(kernel_name("_ZN6runner11copy_kernelILi4EEEvPK5uint4PS1_l"), "copy_kernel<4>");
    EXPECT_EQ(kernel_name("_ZN6runner53_GLOBAL__N__ac14ab80_20_convolve_channels_cu_f60cf42315"
                          "channels_kernelImLNS0_9DirectionE1EEEvlliPKT_PS3_"),
              "channels_kernel<unsigned long, (Direction)1>");
    EXPECT_EQ(kernel_name("_ZN6runner51_GLOBAL__N__0073085b_18_transpose_boxes_cu_ae5ece2310"
                          "box_kernelI5uint4EEvNS_14transpose_cuda7BoxCallE"),
              "box_kernel<uint4>");
    EXPECT_EQ(kernel_name("_ZN6runner18elementwise_kernelIdfNS_43_GLOBAL__N__3d25c124_10_rescale_cu"
                          "_3f55b29b3MapIdfEEEEvPKT_PT0_lbT1_"),
              "elementwise_kernel<double, float, Map<double, float> >");
    EXPECT_EQ(kernel_name("_ZN6runner12_GLOBAL__N_110set_kernelEPyy"), "set_kernel");
    EXPECT_EQ(kernel_name("no symbol"), "no symbol");
    EXPECT_EQ(kernel_name(std::string(500, 'x')).size(), 123U);
}

} // namespace
} // namespace runner
