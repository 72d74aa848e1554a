// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/median/median_network.hpp"

#include <algorithm>
#include <random>
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

TEST(MedianNetwork, AreAsSmallAsDocumented) {
    EXPECT_EQ(sorting_network(3).steps, 6);
    EXPECT_LE(sorting_network(9).steps, 60);
    EXPECT_LE(pair_network(3, 3).steps, 34);
    EXPECT_LE(pair_network(9, 3).steps, 100);
    EXPECT_LE(pair_network(5, 5).steps, 170);
}

} // namespace
} // namespace runner
