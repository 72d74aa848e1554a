// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/hash.hpp"
#include "io/writers/row_hashes.hpp"

#include <gtest/gtest.h>

namespace runner {
namespace {

TEST(RowHasher, CutsRowsAlikeForAnyNumberOfThreads) {
    constexpr std::int64_t row_bytes = 400'001; // two rows a run, the last run shorter
    constexpr std::int64_t rows = 7;
    std::vector<std::byte> data(static_cast<std::size_t>(rows * row_bytes));
    for (std::size_t i = 0; i < data.size(); ++i) {
        data[i] = static_cast<std::byte>(i * i >> 7);
    }
    const std::vector<RowHash> alone = RowHasher(1, 1).hash(100, rows, row_bytes, data.data());
    ASSERT_EQ(alone.size(), 4U);
    std::int64_t next = 100;
    for (const RowHash& run : alone) {
        EXPECT_EQ(run.first, next);
        EXPECT_EQ(run.hash,
                  hash_bytes(data.data() + (next - 100) * row_bytes, run.rows * row_bytes));
        next += run.rows;
    }
    EXPECT_EQ(next, 107);
    for (const int threads : {2, 3, 8}) {
        EXPECT_EQ(RowHasher(threads, 1).hash(100, rows, row_bytes, data.data()), alone) << threads;
    }
}

TEST(RowHasher, HashesSeveralRunsOfRowsAsEachAlone) {
    constexpr std::int64_t row_bytes = 300'001; // three rows a run
    std::vector<std::byte> data(static_cast<std::size_t>(12 * row_bytes));
    for (std::size_t i = 0; i < data.size(); ++i) {
        data[i] = static_cast<std::byte>(i * i >> 9);
    }
    const std::vector<RowsInMemory> all = {{900, 4, data.data()},
                                           {7, 1, data.data() + 5 * row_bytes},
                                           {20, 0, data.data()},
                                           {400, 5, data.data() + 6 * row_bytes}};
    std::vector<RowHash> expected;
    for (const auto& [first, rows, from] : all) {
        const std::vector<RowHash> alone = RowHasher(1, 1).hash(first, rows, row_bytes, from);
        expected.insert(expected.end(), alone.begin(), alone.end());
    }
    ASSERT_EQ(expected.size(), 5U);
    for (const int threads : {1, 3, 8}) {
        EXPECT_EQ(RowHasher(threads, 1).hash(all, row_bytes), expected) << threads;
    }
}

TEST(RowHasher, TakesRowsLongerThanARunAndNoneAtAll) {
    RowHasher hasher(2, 1);
    RowHasher grouped(2, 3);
    const std::vector<std::byte> data(static_cast<std::size_t>(3 * RowHasher::run_bytes));
    const std::vector<RowHash> runs = hasher.hash(5, 2, RowHasher::run_bytes + 8, data.data());
    ASSERT_EQ(runs.size(), 2U);
    EXPECT_EQ(runs[1].first, 6);
    EXPECT_EQ(runs[1].rows, 1);
    EXPECT_TRUE(hasher.hash(5, 0, 8, data.data()).empty());
    EXPECT_TRUE(grouped.hash(5, 0, 8, data.data()).empty());
    const std::vector<RowHash> whole = grouped.hash(5, 2, RowHasher::run_bytes + 8, data.data());
    ASSERT_EQ(whole.size(), 1U);
    EXPECT_EQ(whole[0].rows, 2);
}

} // namespace
} // namespace runner
