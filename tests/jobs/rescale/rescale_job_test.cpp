// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/rescale/rescale_job.hpp"

#include "base/error.hpp"
#include "jobs/rescale/rescale_survey.hpp"
#include "kernels/elements/ordered_key.hpp"
#include "tests/support/table_values.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

std::vector<std::string> complaints(const TableEntries& entries) {
    return complaints_of("rescale", parse_rescale, entries);
}

std::unique_ptr<Job> make(const TableEntries& entries, const ArrayInfo& input,
                          std::optional<ElementType> output = std::nullopt) {
    return parsed("rescale", parse_rescale, entries)->make({input, {}}, output);
}

const RescaleJob& as_rescale(const std::unique_ptr<Job>& job) {
    return dynamic_cast<const RescaleJob&>(*job);
}

TEST(RescaleJob, ParsesTheThreeRanges) {
    EXPECT_TRUE(complaints({{"from", list({0, 1.2})}, {"to", list({5, -5})}}).empty());
    EXPECT_TRUE(complaints({{"from", of(std::string("extremes"))}}).empty());
    EXPECT_TRUE(complaints({{"from", table({{"percentiles", list({0.1, 99.9})}})}}).empty());
    using Texts = std::vector<std::string>;
    EXPECT_EQ(complaints({}),
              (Texts{"rescale.from is missing: write [low, high], \"extremes\", or { percentiles = "
                     "[0.1, 99.9] }"}));
    EXPECT_EQ(complaints({{"from", list({3, 2})}, {"to", list({1})}}),
              (Texts{"rescale.from: the first number must not be above the second, got [3.0, 2.0]",
                     "rescale.to: expected two numbers, got 1"}));
    EXPECT_EQ(
        complaints({{"from", of(std::string("extreme"))}}),
        (Texts{"rescale.from: expected [low, high], \"extremes\" or { percentiles = … }, got a "
               "string, \"extreme\""}));
    EXPECT_EQ(
        complaints({{"from", of(2.0)}}),
        (Texts{"rescale.from: expected [low, high], \"extremes\" or { percentiles = … }, got a "
               "float"}));
    EXPECT_EQ(complaints({{"from", table({{"percentiles", list({-1, 101})}})}}),
              (Texts{"rescale.from.percentiles: must be from 0 to 100, got [-1.0, 101.0]"}));
    EXPECT_EQ(
        complaints({{"from", table({{"percentile", list({1, 2})}})}}).front(),
        "rescale.from.percentiles is missing: write two numbers from 0 to 100, as [0.1, 99.9]");
}

TEST(RescaleJob, DefaultsFollowTheOutputsType) {
    const TableEntries entries = {{"from", list({0, 2})}};
    const auto bytes = make(entries, {ElementType::float32, {2, 3}}, ElementType::int8);
    EXPECT_EQ(as_rescale(bytes).rescale().to_low, -128);
    EXPECT_EQ(as_rescale(bytes).rescale().to_high, 127);
    EXPECT_EQ(bytes->output(), (ArrayInfo{ElementType::int8, {2, 3}}));
    const auto floats = make(entries, {ElementType::float32, {4, 2, 3}});
    EXPECT_EQ(as_rescale(floats).rescale().to_high, 1);
    const StreamShape shape = as_rescale(floats).shape();
    EXPECT_EQ(shape.frames, 4);
    EXPECT_EQ(shape.rows, 2);
    EXPECT_EQ(shape.in_row_bytes, 12);
    EXPECT_EQ(as_rescale(make(entries, {ElementType::uint8, {9}})).shape().rows, 9);
}

TEST(RescaleJob, RefusesWhatHasNoMap) {
    const auto failure = [](const TableEntries& entries, const ArrayInfo& input) {
        try {
            make(entries, input);
            return 0;
        } catch (const Error& error) {
            return static_cast<int>(error.code());
        }
    };
    EXPECT_EQ(failure({{"from", list({0, 1})}}, {ElementType::uint8, {3, 0}}), 3);
    EXPECT_EQ(failure({{"from", list({-1e308, 1e308})}, {"to", list({-1e308, 1e308})}},
                      {ElementType::float64, {3, 3}}),
              2);
    EXPECT_EQ(failure({{"from", list({-1e308, 1e308})}}, {ElementType::float64, {3, 3}}), 2);
    EXPECT_EQ(failure({{"from", list({0, 1e-320})}}, {ElementType::float64, {3, 3}}), 2);
}

TEST(Percentile, RankIsExact) {
    EXPECT_EQ(percentile_rank(0, 10), 1U);
    EXPECT_EQ(percentile_rank(100, 10), 10U);
    EXPECT_EQ(percentile_rank(50, 10), 5U);
    EXPECT_EQ(percentile_rank(50, 11), 6U);
    EXPECT_EQ(percentile_rank(7, 100), 7U);      // 7 / 100 · 100 in float64 is above 7
    EXPECT_EQ(percentile_rank(0.1, 10000), 10U); // as is float64's 0.1
    EXPECT_EQ(percentile_rank(0.1, 10001), 11U);
    EXPECT_EQ(percentile_rank(99.9, 1000), 999U);
    EXPECT_EQ(percentile_rank(1e-300, 1000), 1U);
    EXPECT_EQ(percentile_rank(100, ~std::uint64_t{0}), ~std::uint64_t{0});
    EXPECT_EQ(percentile_rank(25, std::uint64_t{1} << 62U), std::uint64_t{1} << 60U);
}

/// What a survey of `values` in parts of some rows finds.
template <class T>
std::optional<std::array<double, 2>> surveyed(const std::vector<T>& values,
                                              TwoPercentiles percentiles, bool extremes) {
    const std::int64_t row = 7;
    const auto rows = static_cast<std::int64_t>(values.size()) / row;
    const std::unique_ptr<Survey> survey = make_range_survey(
        element_type_of<T>(), row,
        extremes ? std::nullopt : std::optional<std::array<double, 2>>(percentiles.percent));
    CpuQueue queue(2);
    do {
        for (std::int64_t first = 0; first < rows; first += 5) {
            survey->add(queue, first, std::min<std::int64_t>(5, rows - first),
                        reinterpret_cast<const std::byte*>(values.data() + first * row));
        }
    } while (survey->needs_another_pass());
    return found_range(element_type_of<T>(), survey->findings());
}

template <class T> void expect_ranges(const std::vector<T>& values) {
    std::vector<T> sorted;
    std::copy_if(values.begin(), values.end(), std::back_inserter(sorted),
                 [](T value) { return !is_nan(value); });
    std::sort(sorted.begin(), sorted.end());
    const auto at = [&](double percent) {
        return static_cast<double>(sorted[percentile_rank(percent, sorted.size()) - 1]);
    };
    using Ends = std::array<double, 2>;
    for (const Ends ends : {Ends{0, 100}, Ends{1, 99.5}, Ends{50, 50}, Ends{0.1, 33.3}}) {
        EXPECT_EQ(surveyed(values, {ends}, false), (Ends{at(ends[0]), at(ends[1])}))
            << name_of(element_type_of<T>()) << " " << ends[0] << " " << ends[1];
    }
    EXPECT_EQ(surveyed(values, {}, true), (Ends{at(0), at(100)}));
}

TEST(RangeSurvey, FindsPercentilesAndExtremesOfEveryType) {
    std::mt19937_64 random(1);
    for (const ElementType type : all_element_types) {
        visit_element_type(type, [&](auto zero) {
            using T = decltype(zero);
            std::vector<T> values(7 * 143);
            for (T& value : values) {
                if constexpr (std::is_integral_v<T>) {
                    value = static_cast<T>(random());
                } else {
                    value = static_cast<T>(std::normal_distribution<double>(0, 1e5)(random));
                    value = random() % 9 == 0 ? std::numeric_limits<T>::quiet_NaN() : value;
                }
            }
            expect_ranges(values);
            for (T& value : values) {
                value = static_cast<T>(value > 0 ? 3 : 2);
            }
            expect_ranges(values);
        });
    }
}

TEST(RangeSurvey, AnInputOfNanHasNoRange) {
    const std::vector<float> values(14, std::numeric_limits<float>::quiet_NaN());
    EXPECT_EQ(surveyed(values, {{1, 99}}, false), std::nullopt);
    EXPECT_EQ(surveyed(values, {}, true), std::nullopt);
    const auto job = make({{"from", of(std::string("extremes"))}}, {ElementType::float32, {2, 7}});
    EXPECT_THROW((void)job->surveyed({{},
                                      std::numeric_limits<std::int64_t>::min(),
                                      std::numeric_limits<std::int64_t>::max()}),
                 Error);
}

} // namespace
} // namespace runner
