// SPDX-License-Identifier: BSD-3-Clause
// Cases worked by hand; oracle.verbs compares with numpy and scikit-image.
#include "views/compare.hpp"

#include "base/error.hpp"
#include "io/input/open_rows.hpp"
#include "tests/io/dataset_file.hpp"
#include "tests/io/scratch_folder.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace runner {
namespace {

OwnFiles& own_files() {
    static OwnFiles files;
    return files;
}

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

class Compare : public testing::Test {
  protected:
    template <class A, class B>
    Comparison of(const std::vector<std::int64_t>& shape, const std::vector<A>& a,
                  const std::vector<B>& b, double tolerance = 0) {
        write_dataset(folder_ / "a.h5", "/x", shape, a);
        write_dataset(folder_ / "b.h5", "/y", shape, b);
        return compare(own_files(), {folder_ / "a.h5", "/x", folder_ / "b.h5", "/y", tolerance, 1});
    }

    ScratchFolder folder_;
};

TEST_F(Compare, EqualIsEqualWithNaNsAndSignedZeros) {
    const auto result =
        of<double, double>({2, 2}, {1, nan_value, 0.0, infinity}, {1, -nan_value, -0.0, infinity});
    EXPECT_EQ(result.elements, 4);
    EXPECT_EQ(result.different, 0);
    EXPECT_FALSE(result.differs());
    EXPECT_EQ(result.rmse, 0);
    EXPECT_FALSE(result.psnr);
    EXPECT_EQ(result.ssim, 1.0);
    EXPECT_NE(comparison_text(result).find("equal: all 4 elements"), std::string::npos);
}

TEST_F(Compare, BytesWorkedByHand) {
    // Differences 0, 3, 4, 0 of 2 × 2: mean square 25/4, RMSE 2.5, PSNR 20 log10(255 / 2.5).
    const auto result =
        of<std::uint8_t, std::uint8_t>({2, 2}, {10, 20, 30, 0}, {10, 23, 26, 0}, 3.5);
    EXPECT_EQ(result.different, 2);
    EXPECT_EQ(result.first.value, 3);
    EXPECT_EQ(result.first.position, (std::vector<std::int64_t>{0, 1}));
    EXPECT_NE(comparison_text(result).find("first difference  3 at [0, 1]: 20 and 23\n"),
              std::string::npos);
    EXPECT_EQ(result.absolute.value, 4);
    EXPECT_EQ(result.absolute.position, (std::vector<std::int64_t>{1, 0}));
    EXPECT_EQ(result.absolute.a, 30);
    EXPECT_EQ(result.absolute.b, 26);
    EXPECT_DOUBLE_EQ(result.relative.value, 4.0 / 30); // 3/23 is less
    EXPECT_EQ(result.rmse, 2.5);
    EXPECT_EQ(result.peak, 255);
    ASSERT_TRUE(result.psnr);
    EXPECT_NEAR(*result.psnr, 40.1720, 0.0001);
    EXPECT_FALSE(result.ssim); // smaller than a window
    EXPECT_EQ(result.decades, (std::map<int, std::int64_t>{{0, 2}}));
    EXPECT_TRUE(result.differs());
    EXPECT_FALSE(
        (of<std::uint8_t, std::uint8_t>({2, 2}, {10, 20, 30, 0}, {10, 23, 26, 0}, 4)).differs());
}

TEST_F(Compare, FloatsTakeTheirRangeAsPeakAndCountDecades) {
    // Range of A: 6 - -2 = 8; differences .25, 2, 30: mean square (.0625 + 4 + 900) / 4.
    const auto result = of<float, float>({4}, {-2, 6, 1, 4}, {-1.75F, 4, 31, 4});
    EXPECT_EQ(result.peak, 8);
    EXPECT_DOUBLE_EQ(result.rmse, std::sqrt(904.0625 / 4));
    EXPECT_DOUBLE_EQ(*result.psnr, 20 * std::log10(8 / std::sqrt(904.0625 / 4)));
    EXPECT_EQ(result.decades, (std::map<int, std::int64_t>{{-1, 1}, {0, 1}, {1, 1}}));
    EXPECT_EQ(result.absolute.position, (std::vector<std::int64_t>{2}));
    EXPECT_DOUBLE_EQ(result.relative.value, 30.0 / 31);
}

TEST_F(Compare, DifferencesAreDividedByAThird) {
    write_dataset(folder_ / "a.h5", "/x", {5}, std::vector<double>{1, 2, 3, 4, 5});
    write_dataset(folder_ / "b.h5", "/y", {5}, std::vector<double>{1, 4, 2, 8, 6});
    write_dataset(folder_ / "c.h5", "/z", {5}, std::vector<double>{0, -4, 1, 0, 8});
    const auto result = compare(own_files(), {folder_ / "a.h5", "/x", folder_ / "b.h5", "/y", 0, 1,
                                              folder_ / "c.h5", "/z"});
    ASSERT_TRUE(result.divided); // 0, 0.5, 1, 4 / 0, 0.125
    EXPECT_EQ(result.divided->decades, (std::map<int, std::int64_t>{{-1, 2}, {0, 1}}));
    EXPECT_EQ(result.divided->infinite, 1);
    EXPECT_DOUBLE_EQ(result.divided->mean, 1.625 / 4);
    EXPECT_NE(comparison_text(result).find("differences divided by"), std::string::npos);
    EXPECT_EQ(nlohmann::json::parse(comparison_json(result))["divided"]["infinite"], 1);
}

TEST_F(Compare, DecadesBeginAtPowersOfTen) {
    const auto result = of<double, double>({5}, {0, 0, 0, 0, 0}, {1, 9.99, 10, 1000, 0.001});
    EXPECT_EQ(result.decades, (std::map<int, std::int64_t>{{-3, 1}, {0, 2}, {1, 1}, {3, 1}}));
}

TEST_F(Compare, OneNaNIsInfinitelyFar) {
    const auto result =
        of<float, float>({3}, {1, 2, 3}, {1, static_cast<float>(nan_value), 4}, 1e9);
    EXPECT_EQ(result.different, 2);
    EXPECT_EQ(result.infinite, 1);
    EXPECT_EQ(result.absolute.value, infinity);
    EXPECT_EQ(result.absolute.position, (std::vector<std::int64_t>{1}));
    EXPECT_EQ(result.rmse, infinity);
    EXPECT_FALSE(result.psnr);
    EXPECT_TRUE(result.differs());
    const auto json = nlohmann::json::parse(comparison_json(result));
    EXPECT_TRUE(json["rmse"].is_null());
    EXPECT_TRUE(json["largest_absolute"]["value"].is_null());
    EXPECT_EQ(json["differs"], true);
}

TEST_F(Compare, TypesMayDiffer) {
    EXPECT_FALSE((of<std::uint8_t, double>({3}, {1, 2, 3}, {1, 2, 3}).differs()));
    EXPECT_EQ((of<std::int8_t, std::uint16_t>({2}, {-1, 5}, {65535, 5}).absolute.value), 65536);
}

TEST_F(Compare, LargeIntegersAreExact) {
    constexpr std::int64_t large = (std::int64_t{1} << 62) + 1;
    const auto result = of<std::int64_t, std::uint64_t>({2}, {large, -1}, {large + 1, ~0ULL});
    EXPECT_EQ(result.different, 2);
    EXPECT_EQ(result.absolute.value, 0x1p64);
    EXPECT_EQ(result.decades, (std::map<int, std::int64_t>{{0, 1}, {19, 1}}));
    EXPECT_EQ((of<std::int64_t, double>({1}, {large}, {0x1p62}).different), 1);
}

TEST_F(Compare, SsimOfOneWindowWorkedByHand) {
    // A constant 100, B constant 110, one window: variances 0, so only the means' factor is left:
    // (2·100·110 + c1) / (100² + 110² + c1) with c1 = (0.01·255)².
    const auto result = of<std::uint8_t, std::uint8_t>({7, 7}, std::vector<std::uint8_t>(49, 100),
                                                       std::vector<std::uint8_t>(49, 110));
    constexpr double c1 = 2.55 * 2.55;
    ASSERT_TRUE(result.ssim);
    EXPECT_NEAR(*result.ssim, (22000 + c1) / (22100 + c1), 1e-12);
}

TEST_F(Compare, SsimLeavesOutWindowsThatAreNotFinite) {
    // 7 × 8: two windows; the NaN is in the first column, so the second window alone counts.
    std::vector<double> a(56);
    std::vector<double> b(56);
    for (std::size_t i = 0; i < 56; ++i) {
        a[i] = static_cast<double>(i % 5);
        b[i] = a[i] + 1;
    }
    std::vector<double> right_a;
    std::vector<double> right_b;
    for (std::size_t i = 0; i < 56; ++i) {
        if (i % 8 != 0) {
            right_a.push_back(a[i]);
            right_b.push_back(b[i]);
        }
    }
    const auto expected = of<double, double>({7, 7}, right_a, right_b);
    a[16] = nan_value;
    const auto result = of<double, double>({7, 8}, a, b);
    ASSERT_TRUE(expected.ssim && result.ssim);
    EXPECT_EQ(expected.peak, result.peak);
    EXPECT_NEAR(*result.ssim, *expected.ssim, 1e-12);
}

TEST_F(Compare, DifferentShapesAreAnErrorOfTheirOwn) {
    write_dataset<float>(folder_ / "a.h5", "x", {2, 3}, std::vector<float>(6));
    write_dataset<float>(folder_ / "b.h5", "x", {3, 2}, std::vector<float>(6));
    const auto error = error_of([&] {
        (void)compare(own_files(), {folder_ / "a.h5", "x", folder_ / "b.h5", "x", 0, 1});
    });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ExitCode::differs);
    EXPECT_NE(error->text().why.find("[2, 3]"), std::string::npos);
    EXPECT_NE(error->text().why.find("[3, 2]"), std::string::npos);
}

} // namespace
} // namespace runner
