// SPDX-License-Identifier: BSD-3-Clause
// On every vector set of this machine, against a slow reading of the definition.
#include "kernels/blocks/block_sums.hpp"

#include "tests/support/vector_sets.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

class OnVectors : public testing::TestWithParam<std::int64_t> {
  protected:
    OnlyTarget target_{GetParam()};
};

/// Rows of random elements; integers take all values, the least and the greatest often.
template <class T> std::vector<std::vector<T>> random_rows(int rows, std::int64_t columns) {
    std::mt19937_64 random(17);
    std::vector<std::vector<T>> made(static_cast<std::size_t>(rows));
    for (auto& row : made) {
        row.resize(static_cast<std::size_t>(columns));
        for (T& element : row) {
            if constexpr (std::is_floating_point_v<T>) {
                const auto bits = static_cast<std::int64_t>(random() % 2001) - 1000;
                element = static_cast<T>(std::ldexp(bits, static_cast<int>(random() % 60) - 30));
            } else {
                element = static_cast<T>(random());
                element = random() % 4 == 0 ? std::numeric_limits<T>::max() : element;
                element = random() % 4 == 0 ? std::numeric_limits<T>::min() : element;
            }
        }
    }
    return made;
}

template <class T> void check_sums(int rows, std::int64_t factor) {
    for (const std::int64_t blocks : {0, 1, 2, 3, 7, 8, 15, 16, 17, 33, 100}) {
        std::vector<std::vector<T>> elements = random_rows<T>(rows, blocks * factor);
        if constexpr (std::is_same_v<T, std::int32_t>) { // whose sums are no longer than it
            for (auto& row : elements) {
                std::transform(row.begin(), row.end(), row.begin(),
                               [](T each) { return each / 64; });
            }
        }
        std::vector<const T*> lines;
        std::transform(elements.begin(), elements.end(), std::back_inserter(lines),
                       [](const auto& row) { return row.data(); });
        std::vector<RowSum<T>> sums(static_cast<std::size_t>(blocks) + 1, 42);
        sum_rows<T>(lines, blocks, factor, sums.data());
        EXPECT_EQ(sums.back(), 42); // behind them
        for (std::int64_t block = 0; block < blocks; ++block) {
            RowSum<T> sum = 0;
            for (const auto& row : elements) {
                for (std::int64_t i = 0; i < factor; ++i) {
                    sum += row[static_cast<std::size_t>(block * factor + i)];
                }
            }
            ASSERT_EQ(sums[static_cast<std::size_t>(block)], sum)
                << "block " << block << " of " << blocks << ", " << rows << " rows";
        }
    }
}

TEST_P(OnVectors, SumsOfIntegers) {
    for (const int rows : {1, 2, 3, 4, 16}) {
        check_sums<std::int8_t>(rows, 2);
        check_sums<std::uint8_t>(rows, 2);
        check_sums<std::int16_t>(rows, 2);
        check_sums<std::uint16_t>(rows, 2);
        check_sums<std::int32_t>(rows, 2);
    }
}

TEST_P(OnVectors, SumsOfFloatsInTheirOrder) {
    for (const int rows : {1, 2, 3, 4, 16}) {
        for (const std::int64_t factor : {2, 4}) {
            check_sums<float>(rows, factor);
            check_sums<double>(rows, factor);
        }
    }
}

TEST_P(OnVectors, ASumOfNegativeZerosIsZero) {
    const std::vector<float> row(64, -0.0F);
    const std::vector<const float*> rows(2, row.data());
    std::vector<double> sums(32, 1);
    sum_rows<float>(rows, 32, 2, sums.data());
    EXPECT_TRUE(std::all_of(sums.begin(), sums.end(),
                            [](double sum) { return sum == 0 && !std::signbit(sum); }));
}

TEST_P(OnVectors, SumsOfTheMostElements) {
    const std::vector<std::uint16_t> row(64, 65535);
    const std::vector<const std::uint16_t*> rows(16384, row.data());
    std::vector<std::int32_t> sums(32);
    sum_rows<std::uint16_t>(rows, 32, 2, sums.data());
    EXPECT_EQ(sums, std::vector<std::int32_t>(32, 65535 * 32768));
    std::vector<std::uint16_t> means(32);
    divide_sums(sums.data(), 32, 15, means.data());
    EXPECT_EQ(means, std::vector<std::uint16_t>(32, 65535));
}

/// By long division: the quotient, and whether the rest is above, at or below a half.
std::int64_t mean_of(std::int64_t sum, std::int64_t count) {
    std::int64_t quotient = sum / count - (sum % count < 0 ? 1 : 0);
    const std::int64_t twice = 2 * (sum - quotient * count);
    quotient += twice > count || (twice == count && quotient % 2 != 0) ? 1 : 0;
    return quotient;
}

template <class T> void check_means() {
    for (const int shift : {0, 1, 2, 3, 7, 15}) {
        const std::int64_t count = std::int64_t{1} << shift;
        std::vector<std::int32_t> sums;
        for (const std::int64_t mean :
             {std::int64_t{std::numeric_limits<T>::min()},
              std::int64_t{std::numeric_limits<T>::min()} + 1, std::int64_t{0}, std::int64_t{5},
              std::int64_t{6}, std::int64_t{std::numeric_limits<T>::max()} - 1}) {
            for (const std::int64_t rest : {std::int64_t{0}, count / 4, count / 2, count / 2 + 1}) {
                sums.push_back(static_cast<std::int32_t>(mean * count + rest % count));
            }
        }
        std::vector<T> means(sums.size());
        divide_sums(sums.data(), std::ssize(sums), shift, means.data());
        for (std::size_t i = 0; i < sums.size(); ++i) {
            ASSERT_EQ(means[i], mean_of(sums[i], count)) << sums[i] << " / " << count;
        }
    }
}

TEST_P(OnVectors, MeansOfSums) {
    check_means<std::int8_t>();
    check_means<std::uint8_t>();
    check_means<std::int16_t>();
    check_means<std::uint16_t>();
}

INSTANTIATE_TEST_SUITE_P(BlockSums, OnVectors, testing::ValuesIn(usable_targets()));

TEST(Means, OfHalvesAreEven) {
    const std::vector<std::int32_t> sums = {1, 3, 5, -1, -3, 7};
    std::vector<std::int8_t> means(sums.size());
    divide_sums(sums.data(), std::ssize(sums), 1, means.data());
    EXPECT_EQ(means, (std::vector<std::int8_t>{0, 2, 2, 0, -2, 4}));
}

} // namespace
} // namespace runner
