// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/job.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

using Generations = std::vector<std::uint64_t>;

Generations all(const Snapshots& snapshots) {
    Generations generations;
    for (std::int64_t i = 0; i < snapshots.count(); ++i) {
        generations.push_back(snapshots.generation(i));
    }
    return generations;
}

TEST(Snapshots, AreTheMultiplesAndTheLast) {
    EXPECT_EQ(all({0, 10, 0}), (Generations{10}));
    EXPECT_EQ(all({0, 10, 5}), (Generations{5, 10}));
    EXPECT_EQ(all({0, 10, 4}), (Generations{4, 8, 10}));
    EXPECT_EQ(all({0, 3, 1}), (Generations{1, 2, 3}));
    EXPECT_EQ(all({0, 3, 100}), (Generations{3}));
    EXPECT_EQ(all({8, 9, 4}), (Generations{12, 16, 17}));
    EXPECT_EQ(all({7, 9, 4}), (Generations{8, 12, 16}));
    EXPECT_EQ(all({5, 0, 4}), (Generations{5}));
    EXPECT_EQ(all({8, 0, 4}), (Generations{8}));
    const std::uint64_t most = ~std::uint64_t{0};
    EXPECT_EQ(all({most - 3, 3, 2}), (Generations{most - 1, most}));
}

TEST(Snapshots, AreCountedUntilAGeneration) {
    for (const Snapshots& snapshots :
         {Snapshots{0, 10, 4}, {7, 9, 4}, {8, 9, 4}, {3, 20, 0}, {0, 6, 1}, {5, 0, 2}}) {
        const Generations generations = all(snapshots);
        for (std::uint64_t g = snapshots.first; g <= snapshots.last(); ++g) {
            const auto until =
                std::count_if(generations.begin(), generations.end(),
                              [g](std::uint64_t generation) { return generation <= g; });
            EXPECT_EQ(snapshots.count_until(g), until) << g << " of " << snapshots.first;
        }
    }
}

} // namespace
} // namespace runner
