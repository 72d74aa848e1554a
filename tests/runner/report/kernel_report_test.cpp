// SPDX-License-Identifier: BSD-3-Clause
#include "runner/report/report_values.hpp"

#include <gtest/gtest.h>

namespace runner {
namespace {

RankReport rank_on(const std::string& uuid, const std::string& kernel, double seconds) {
    RankReport rank;
    rank.device = "H200";
    rank.uuid = uuid;
    rank.rates.rates.uuid = uuid;
    rank.rates.why = "not measured";
    KernelUse use;
    use.name = kernel;
    use.grid = {3, 2, 1};
    use.block = {64, 1, 1};
    use.launches = 2;
    use.timed = 2;
    use.seconds = seconds;
    use.bytes = 100;
    rank.times.kernels = {use};
    return rank;
}

TEST(KernelReport, SumsTheRanksOfADevice) {
    std::vector<RankReport> ranks = {rank_on("GPU-1", "a", 1), rank_on("GPU-2", "a", 4),
                                     rank_on("GPU-1", "a", 2), rank_on("GPU-1", "b", 8)};
    const Json kernels = kernels_value(ranks);
    ASSERT_EQ(kernels.values().size(), 3U);
    const auto line = [&](std::size_t i) {
        const Json& kernel = kernels.at(i);
        return kernel.at("uuid").get<std::string>() + " " + kernel.at("name").get<std::string>() +
               " " + std::to_string(kernel.at("launches").get<int>()) + " " +
               std::to_string(kernel.at("seconds").get<int>());
    };
    EXPECT_EQ(line(0), "GPU-1 b 2 8");
    EXPECT_EQ(line(1), "GPU-1 a 4 3");
    EXPECT_EQ(line(2), "GPU-2 a 2 4");
    EXPECT_EQ(kernels.at(0).at("grid").text(), "[3,2,1]");
    EXPECT_EQ(kernels.at(0).find("share"), nullptr);
    EXPECT_EQ(rates_value(ranks).text(),
              R"([{"uuid":"GPU-1","device":"H200","why_unknown":"not measured"},)"
              R"({"uuid":"GPU-2","device":"H200","why_unknown":"not measured"}])");
}

TEST(KernelReport, SaysTheShareWhereTheRatesAreKnown) {
    std::vector<RankReport> ranks = {rank_on("GPU-1", "a", 1)};
    ranks[0].rates.rates.copy_bytes = 200;
    ranks[0].rates.rates.float32_multiply_adds = 7;
    const Json kernels = kernels_value(ranks);
    EXPECT_EQ(kernels.at(0).at("share").get<double>(), 0.5);
    EXPECT_EQ(kernels.at(0).at("limit").get<std::string>(), "copy");
    const Json rates = rates_value(ranks);
    EXPECT_EQ(rates.at(0).at("copy_bytes").get<double>(), 200);
    EXPECT_EQ(rates.at(0).find("why_unknown"), nullptr);
}

} // namespace
} // namespace runner
