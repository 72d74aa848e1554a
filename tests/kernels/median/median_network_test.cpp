// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/median/median_network.hpp"

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

std::vector<int> run(const MedianNetwork& net, std::vector<int> values) {
    for (int i = 0; i < net.steps; ++i) {
        const MedianStep step = net.step[static_cast<std::size_t>(i)];
        const int a = values[static_cast<std::size_t>(step.a)];
        const int b = values[static_cast<std::size_t>(step.b)];
        values.push_back(step.is_max ? std::max(a, b) : std::min(a, b));
    }
    std::vector<int> outputs;
    for (int i = 0; i < net.outputs; ++i) {
        outputs.push_back(
            values[static_cast<std::size_t>(net.output[static_cast<std::size_t>(i)])]);
    }
    return outputs;
}

TEST(MedianNetwork, SortsEveryInputOfZerosAndOnes) {
    // By the zero-one principle it then sorts any.
    for (int count = 1; count <= 9; ++count) {
        const MedianNetwork net = sorting_network(count);
        for (unsigned bits = 0; bits < 1U << static_cast<unsigned>(count); ++bits) {
            std::vector<int> values;
            for (int i = 0; i < count; ++i) {
                values.push_back(static_cast<int>(bits >> static_cast<unsigned>(i) & 1U));
            }
            const std::vector<int> sorted = run(net, values);
            EXPECT_TRUE(std::is_sorted(sorted.begin(), sorted.end())) << count << " " << bits;
        }
    }
}

/// Sorted lists of zeros and ones are given by how many ones each has.
TEST(MedianNetwork, FindsBothMediansOfEveryListsOfZerosAndOnes) {
    for (int lines = 1; lines <= 5; lines += 2) {
        for (int count = 1; count <= 9; count += 2) {
            if (!has_networks(count, lines)) {
                continue;
            }
            const MedianNetwork net = pair_network(count, lines);
            std::vector<int> ones(static_cast<std::size_t>(lines) + 1, 0);
            for (bool more = true; more;) {
                std::vector<int> values;
                int total = 0;
                for (const int n : ones) {
                    values.insert(values.end(), static_cast<std::size_t>(count - n), 0);
                    values.insert(values.end(), static_cast<std::size_t>(n), 1);
                    total += n;
                }
                const int most = count * lines / 2; // zeros below the middle
                const auto median = [&](int without) { return total - without > most ? 1 : 0; };
                ASSERT_EQ(run(net, values),
                          (std::vector<int>{median(ones.back()), median(ones.front())}))
                    << count << " x " << lines;
                more = false;
                for (int& n : ones) {
                    n = n < count ? n + 1 : 0;
                    if (n != 0) {
                        more = true;
                        break;
                    }
                }
            }
        }
    }
}

TEST(MedianNetwork, RowsOfColumnsSideBySideAreSorted) {
    for (const auto& [z, x] : {std::pair{1, 3}, {1, 5}, {3, 3}}) {
        for (const int columns : {1, 2, 4}) {
            const MedianNetwork net = row_network(z, x, columns);
            ASSERT_EQ(net.outputs, columns * z * x);
            for (unsigned bits = 0; bits < 1U << static_cast<unsigned>(net.inputs); ++bits) {
                std::vector<int> values;
                for (int i = 0; i < net.inputs; ++i) {
                    values.push_back(static_cast<int>(bits >> static_cast<unsigned>(i) & 1U));
                }
                std::vector<int> expected;
                for (int c = 0; c < columns; ++c) {
                    std::vector<int> window(values.begin() + c * z, values.begin() + (c + x) * z);
                    std::sort(window.begin(), window.end());
                    expected.insert(expected.end(), window.begin(), window.end());
                }
                ASSERT_EQ(run(net, values), expected) << z << " x " << x << " " << columns;
            }
        }
    }
}

/// Zeros, then ones.
std::vector<int> sorted_ones(int count, int ones) {
    std::vector<int> values(static_cast<std::size_t>(count - ones), 0);
    values.insert(values.end(), static_cast<std::size_t>(ones), 1);
    return values;
}

TEST(MedianNetwork, TwoSortedListsBecomeOne) {
    for (int count = 1; count <= 9; ++count) {
        const MedianNetwork net = merge_network(count);
        for (int a = 0; a <= count; ++a) {
            for (int b = 0; b <= count; ++b) {
                std::vector<int> values = sorted_ones(count, a);
                const std::vector<int> other = sorted_ones(count, b);
                values.insert(values.end(), other.begin(), other.end());
                EXPECT_EQ(run(net, values), sorted_ones(2 * count, a + b)) << count;
            }
        }
    }
}

TEST(MedianNetwork, HalvesOfTheSharedRowsGiveBothMedians) {
    for (const auto& [count, lines] : {std::pair{3, 3}, {9, 3}, {5, 5}}) {
        const MedianNetwork net = half_network(count, lines);
        const int half = count * (lines - 1) / 2;
        for (int n = 0; n < (count + 1) * (count + 1) * (half + 1) * (half + 1); ++n) {
            const int first = n % (count + 1);
            const int last = n / (count + 1) % (count + 1);
            const int a = n / (count + 1) / (count + 1) % (half + 1);
            const int b = n / (count + 1) / (count + 1) / (half + 1);
            std::vector<int> values;
            for (const auto& [size, ones] :
                 {std::pair{count, first}, {half, a}, {half, b}, {count, last}}) {
                const std::vector<int> list = sorted_ones(size, ones);
                values.insert(values.end(), list.begin(), list.end());
            }
            const int most = count * lines / 2;
            EXPECT_EQ(run(net, values),
                      (std::vector<int>{a + b + first > most ? 1 : 0, a + b + last > most ? 1 : 0}))
                << count << " x " << lines;
        }
    }
}

TEST(MedianNetwork, AreAsSmallAsDocumented) {
    EXPECT_LE(row_network(1, 3, 4).steps + 2 * half_network(3, 3).steps, 4 * 17);
    EXPECT_LE(row_network(3, 3, 2).steps + half_network(9, 3).steps, 2 * 84);
    EXPECT_LE(row_network(1, 5, 2).steps + merge_network(5).steps + half_network(5, 5).steps,
              2 * 54);
    EXPECT_EQ(sorting_network(3).steps, 6);
    EXPECT_LE(sorting_network(9).steps, 60);
    EXPECT_LE(pair_network(3, 3).steps, 34);
    EXPECT_LE(pair_network(9, 3).steps, 100);
    EXPECT_LE(pair_network(5, 5).steps, 170);
}

/// The rows have zeros and ones, or any numbers.
TEST(MedianNetwork, WindowsOfTwoRowsHaveTheirMedians) {
    std::mt19937_64 random(1);
    for (int extent = 5; extent <= 15; extent += 2) {
        const MedianNetwork net = window_network(extent);
        for (int trial = 0; trial < 200; ++trial) {
            const int values = trial % 2 == 0 ? 2 : 1000;
            std::vector<std::vector<int>> rows;
            for (int row = 0; row <= extent; ++row) {
                std::vector<int>& list = rows.emplace_back();
                for (int i = 0; i < extent; ++i) {
                    list.push_back(static_cast<int>(random() % static_cast<unsigned>(values)));
                }
                std::sort(list.begin(), list.end());
            }
            const auto joined = [&](int first, int last) {
                std::vector<int> all;
                for (int row = first; row < last; ++row) {
                    const std::vector<int>& list = rows[static_cast<std::size_t>(row)];
                    all.insert(all.end(), list.begin(), list.end());
                }
                std::sort(all.begin(), all.end());
                return all;
            };
            std::vector<int> inputs = joined(0, 1);
            for (int row = 1; row < extent; row += 2) {
                const std::vector<int> pair = joined(row, row + 2);
                inputs.insert(inputs.end(), pair.begin(), pair.end());
            }
            const std::vector<int> last = joined(extent, extent + 1);
            inputs.insert(inputs.end(), last.begin(), last.end());
            const auto half = static_cast<std::size_t>(extent * extent / 2);
            EXPECT_EQ((std::vector<int>{joined(0, extent)[half], joined(1, extent + 1)[half]}),
                      run(net, inputs))
                << extent;
        }
    }
}

} // namespace
} // namespace runner
