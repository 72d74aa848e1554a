// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/sand/sand.hpp"

#include "tests/support/sand_cases.hpp"

#include <array>

namespace runner {
namespace {

using sand_reference::Cells;

template <class Q> class SandTest : public QueueTest<Q> {
  protected:
    /// Some generations from `generation`, in calls of `generations_a_call`.
    void expect_reference(const Sand& job, const Cells& cells, std::uint64_t generation,
                          std::int64_t calls, std::int64_t generations_a_call) {
        SandState<Q> state(this->queue(), job, {0, job.rows}, cells);
        Cells expected = cells;
        for (std::int64_t i = 0; i < calls; ++i) {
            state.advance(generation, generations_a_call);
            expected = sand_reference::advance(job, generation, generations_a_call, expected);
            generation += static_cast<std::uint64_t>(generations_a_call);
            ASSERT_EQ("", first_difference(job.columns, expected, state.cells()))
                << describe(job) << ", generation " << generation << ", call " << i << " of "
                << generations_a_call;
        }
    }

    /// Bands advance by `depth` generations and then take the rows they lost from their neighbours.
    void expect_bands_alike(const Sand& job, Cells cells, std::uint64_t generation,
                            std::int64_t bands, std::int64_t depth, std::int64_t exchanges) {
        for (std::int64_t e = 0; e < exchanges; ++e) {
            const Cells expected = sand_reference::advance(job, generation, depth, cells);
            Cells together(cells.size(), 9);
            for (std::int64_t i = 0; i < bands; ++i) {
                const std::int64_t own = job.rows * i / bands;
                const std::int64_t own_end = job.rows * (i + 1) / bands;
                const std::int64_t first = std::max<std::int64_t>(0, own - depth);
                const std::int64_t end = std::min(job.rows, own_end + depth);
                const SandBand held{first, end - first};
                SandState<Q> state(this->queue(), job, held, rows_of(job, cells, held));
                state.advance(generation, depth);
                const Cells after = state.cells();
                const SandBand right = sand_rows_after(job, held, depth);
                ASSERT_LE(right.first_row, own);
                ASSERT_GE(right.first_row + right.rows, own_end);
                std::copy(after.begin() + (right.first_row - first) * job.columns,
                          after.begin() + (right.first_row + right.rows - first) * job.columns,
                          together.begin() + right.first_row * job.columns);
                // Right rows beside this band's own are right too.
                ASSERT_EQ("", first_difference(job.columns, rows_of(job, expected, right),
                                               rows_of(job, together, right)))
                    << describe(job) << ", band " << i << " of " << bands << ", depth " << depth;
            }
            cells = together;
            ASSERT_EQ("", first_difference(job.columns, expected, cells)) << describe(job);
            generation += static_cast<std::uint64_t>(depth);
        }
    }
};

TYPED_TEST_SUITE(SandTest, TestQueues);

TYPED_TEST(SandTest, PackingAndUnpackingGivesTheSameCells) {
    SandCases cases(1);
    for (const std::int64_t columns :
         {1, 2, 3, 31, 32, 33, 63, 64, 65, 127, 128, 129, 1000, 2049}) {
        for (const std::int64_t rows : {1, 2, 7}) {
            const Sand job{rows, columns};
            const Cells cells = cases.noise(job);
            SandState<TypeParam> state(this->queue(), job, {0, rows}, cells);
            EXPECT_EQ(rows * columns, state.first_wrong());
            EXPECT_EQ("", first_difference(columns, cells, state.cells()));
        }
    }
}

TYPED_TEST(SandTest, TheFirstWrongCellIsFound) {
    SandCases cases(2);
    const Sand job{37, 203};
    SandState<TypeParam> state(this->queue(), job, {0, job.rows}, cases.noise(job));
    for (int i = 0; i < 30; ++i) {
        Cells cells = cases.noise(job);
        const std::int64_t first = cases.number(0, job.rows * job.columns - 1);
        cells[static_cast<std::size_t>(first)] = static_cast<std::uint8_t>(cases.number(4, 255));
        cells[static_cast<std::size_t>(cases.number(first, job.rows * job.columns - 1))] |= 128;
        state.put(cells);
        EXPECT_EQ(first, state.first_wrong());
    }
}

TYPED_TEST(SandTest, SmallAndOddGridsInEveryPhase) {
    SandCases cases(3);
    for (const std::int64_t rows : {1, 2, 3, 4, 5, 8, 17}) {
        for (const std::int64_t columns : {1, 2, 3, 4, 5, 31, 33, 64, 65, 127}) {
            const Sand job = cases.job(rows, columns);
            this->expect_reference(job, cases.scene(job),
                                   static_cast<std::uint64_t>(cases.number(0, 3)), 6, 1);
        }
    }
}

TYPED_TEST(SandTest, LongThinGrids) {
    SandCases cases(4);
    for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{1, 5000},
                                        {2, 3001},
                                        {3, 4097},
                                        {5000, 1},
                                        {3001, 2},
                                        {2500, 3},
                                        {257, 65}}) {
        const Sand job = cases.job(rows, columns);
        this->expect_reference(job, cases.noise(job),
                               static_cast<std::uint64_t>(cases.number(0, 1000)), 2, 9);
    }
}

TYPED_TEST(SandTest, EveryBlockOverEveryFloor) {
    // Block b of floor f starts at column 2b + o, row 2f + o': all 256 states over 16 floors.
    Cells cells(static_cast<std::size_t>(66 * 515));
    SandCases cases(5);
    for (std::uint64_t phase = 0; phase < 4; ++phase) {
        const std::int64_t ox = sand_reference::Cells{0, 1, 0, 1}[phase];
        const std::int64_t oy = sand_reference::Cells{0, 1, 1, 0}[phase];
        for (std::int64_t floor = 0; floor < 16; ++floor) {
            for (std::int64_t block = 0; block < 256; ++block) {
                const auto at = [&](std::int64_t dx, std::int64_t dy) -> std::uint8_t& {
                    return cells[static_cast<std::size_t>((4 * floor + oy + dy) * 515 + ox +
                                                          2 * block + dx)];
                };
                for (std::int64_t i = 0; i < 4; ++i) {
                    at(i % 2, i / 2) = static_cast<std::uint8_t>(block >> (2 * i) & 3);
                }
                at(0, 2) = static_cast<std::uint8_t>(floor & 3);
                at(1, 2) = static_cast<std::uint8_t>(floor >> 2);
            }
        }
        for (int i = 0; i < 8; ++i) {
            Sand job = cases.job(66, 515);
            job.thresholds = i == 0 ? SandThresholds{} : job.thresholds;
            this->expect_reference(job, cells, phase + 4 * static_cast<std::uint64_t>(i), 1, 1);
        }
    }
}

TYPED_TEST(SandTest, ManyGenerationsInOneCall) {
    SandCases cases(6);
    for (const std::int64_t generations : {0, 2, 3, 7, 8, 9, 16, 17, 31, 32, 33, 50}) {
        const Sand job = cases.job(cases.number(60, 300), cases.number(60, 700));
        this->expect_reference(job, cases.scene(job),
                               static_cast<std::uint64_t>(cases.number(0, 3)), 2, generations);
    }
}

TYPED_TEST(SandTest, AWideSceneSettles) {
    SandCases cases(7);
    const Sand job{211, 2500, 7};
    this->expect_reference(job, cases.noise(job), 0, 3, 40);
}

TYPED_TEST(SandTest, GenerationNumbersPast32Bits) {
    SandCases cases(8);
    const Sand job = cases.job(50, 190);
    for (const std::uint64_t generation :
         {0xFFFFFFFAULL, 0x100000000ULL, 0x123456789ABCDEFULL, 0xFFFFFFFFFFFFFFF0ULL}) {
        this->expect_reference(job, cases.noise(job), generation, 1, 11);
    }
}

TYPED_TEST(SandTest, BandsOfAnyDepthMakeTheWhole) {
    SandCases cases(9);
    for (std::int64_t bands = 1; bands <= 5; ++bands) {
        for (const std::int64_t depth : {1, 2, 3, 4, 5, 8, 13, 16}) {
            const Sand job = cases.job(cases.number(1, 90), cases.number(1, 200));
            this->expect_bands_alike(job, cases.scene(job),
                                     static_cast<std::uint64_t>(cases.number(0, 9)), bands, depth,
                                     2);
        }
    }
}

TYPED_TEST(SandTest, ThinBandsOfATallGrid) {
    SandCases cases(10);
    const Sand job = cases.job(1003, 70);
    this->expect_bands_alike(job, cases.noise(job), 1, 4, 6, 1);
}

TYPED_TEST(SandTest, RandomJobs) {
    SandCases cases(11);
    for (int i = 0; i < 60; ++i) {
        const Sand job = cases.job(cases.number(1, 150), cases.number(1, 300));
        this->expect_reference(job, cases.scene(job), cases.bits(), 1, cases.number(1, 20));
    }
}

TEST(SandTables, AreGivenUpWhenTheirWorkIsDropped) {
    const Sand job = SandCases(12).job(3, 100000);
    CpuQueue queue(2);
    const Buffer tables = allocate_device(queue, sand_table_bytes(Backend::cpu, job));
    queue.meter()->drop();
    EXPECT_THROW(make_sand_tables(queue, job, tables.data()), WorkDropped);
}

} // namespace
} // namespace runner
