// SPDX-License-Identifier: BSD-3-Clause
#include "runner/ranks/kept_rates.hpp"

#include "base/error.hpp"
#include "kernels/queue/devices.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace runner {
namespace {

/// With a cache of its own.
class KeptRatesTest : public testing::Test {
  protected:
    void SetUp() override {
        root_ = testing::TempDir() + "kept_rates_" +
                testing::UnitTest::GetInstance()->current_test_info()->name();
        std::filesystem::remove_all(root_);
        ::setenv("XDG_CACHE_HOME", root_.c_str(), 1);
    }
    void TearDown() override { std::filesystem::remove_all(root_); }

    void put(const std::string& text) const {
        std::filesystem::create_directories(root_ + "/runner");
        std::ofstream(rates_file()) << text;
    }

    std::string root_;
};

DeviceRates rates_of(const std::string& uuid, double copy) {
    return {uuid, "H200", cuda_versions(),  "2026-11-23T00:00:00Z", copy, 3e13, 1.5e13, 5e10,
            6e10, 1e11,   {{"GPU-9", 2e11}}};
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST_F(KeptRatesTest, AreKeptByDevice) {
    keep_rates({rates_of("GPU-1", 1e12), rates_of("GPU-2", 2e12)});
    keep_rates({rates_of("GPU-1", 4e12)});
    const auto [one, why] = kept_rates("GPU-1");
    EXPECT_EQ(why, "");
    EXPECT_EQ(one.copy_bytes, 4e12);
    EXPECT_EQ(one.float64_multiply_adds, 1.5e13);
    EXPECT_EQ(one.name, "H200");
    ASSERT_EQ(one.peers.size(), 1U);
    EXPECT_EQ(one.peers[0].uuid, "GPU-9");
    EXPECT_EQ(one.peers[0].bytes, 2e11);
    EXPECT_EQ(kept_rates("GPU-2").rates.copy_bytes, 2e12);
    EXPECT_EQ(all_kept_rates().size(), 2U);
    EXPECT_FALSE(kept_rates("GPU-3").rates.known());
    EXPECT_EQ(kept_rates("GPU-3").why, "not measured: runner devices --measure");
}

TEST_F(KeptRatesTest, AreNotThereBeforeTheyAreMeasured) {
    const auto [rates, why] = kept_rates("GPU-1");
    EXPECT_FALSE(rates.known());
    EXPECT_EQ(rates.uuid, "GPU-1");
    EXPECT_EQ(why, "not measured: runner devices --measure");
}

TEST_F(KeptRatesTest, DamagedOnesAreNotUsedAndAreMadeAgain) {
    const std::string good = rates_text({rates_of("GPU-1", 1e12)});
    std::string negative = good;
    negative.replace(negative.find("1000000000000.0"), 1, "-");
    for (const std::string& text :
         {std::string(), std::string("{"), std::string("[]"), good.substr(0, good.size() / 2),
          std::string(R"({"format": "runner device rates 2", "devices": []})"),
          std::string(R"({"format": "runner device rates 1", "devices": [{"uuid": 5}]})"),
          negative}) {
        put(text);
        const auto [rates, why] = kept_rates("GPU-1");
        EXPECT_FALSE(rates.known()) << text;
        EXPECT_TRUE(has(why, "damaged") && has(why, rates_file()) && has(why, "--measure"))
            << text << ": " << why;
        EXPECT_EQ(why.find('\n'), std::string::npos) << why;
        keep_rates({rates_of("GPU-2", 2e12)});
        EXPECT_EQ(kept_rates("GPU-2").rates.copy_bytes, 2e12) << text;
    }
}

TEST_F(KeptRatesTest, OfAnotherDriverAreNotUsed) {
    DeviceRates rates = rates_of("GPU-1", 1e12);
    rates.versions = "CUDA 1.0, driver 1.0";
    keep_rates({rates});
    const KeptRates kept = kept_rates("GPU-1");
    EXPECT_FALSE(kept.rates.known());
    EXPECT_EQ(kept.why, "measured with CUDA 1.0, driver 1.0: runner devices --measure again");
}

TEST_F(KeptRatesTest, AFileThatCannotBeIsAnError) {
    put("x");
    ::setenv("XDG_CACHE_HOME", (root_ + "/runner/devices.json").c_str(), 1);
    EXPECT_THROW(keep_rates({rates_of("GPU-1", 1e12)}), Error);
    std::filesystem::remove(root_ + "/runner/devices.json");
    ::setenv("XDG_CACHE_HOME", root_.c_str(), 1);
    std::filesystem::create_directories(rates_file()); // a folder has its name
    EXPECT_FALSE(kept_rates("GPU-1").rates.known());
    EXPECT_NE(kept_rates("GPU-1").why, "");
}

TEST_F(KeptRatesTest, AreInHomeWithoutACacheOfTheUser) {
    ::unsetenv("XDG_CACHE_HOME");
    ::setenv("HOME", "/home/a", 1);
    EXPECT_EQ(rates_file(), "/home/a/.cache/runner/devices.json");
    ::unsetenv("HOME");
    EXPECT_EQ(rates_file(), "");
    EXPECT_FALSE(kept_rates("GPU-1").rates.known());
    EXPECT_THROW(keep_rates({rates_of("GPU-1", 1e12)}), Error);
}

} // namespace
} // namespace runner
