// SPDX-License-Identifier: BSD-3-Clause
// The rows of chains that are small enough to be worked by hand.
#include "jobs/pipeline/step_chain.hpp"

#include "tests/jobs/pipeline/step_shape.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace runner {
namespace {

using Shapes = std::vector<StreamShape>;

constexpr RowBorder inside = RowBorder::inside;
constexpr RowBorder periodic = RowBorder::periodic;

void expect_made(const Shapes& steps, const OutputRows& made) {
    ASSERT_TRUE(StepChain::is_chain(steps));
    const StepChain chain(steps);
    EXPECT_EQ(chain.made().layer, made.layer);
    EXPECT_EQ(chain.made().each, made.each);
    EXPECT_EQ(chain.made().step, made.step);
    for (std::int64_t row = 0; row <= chain.rows(); row += made.layer) {
        EXPECT_EQ(chain.made().before(row), made.before(row)) << "row " << row;
    }
}

bool idle(const std::vector<StepWork>& works) {
    return std::all_of(works.begin(), works.end(),
                       [](const StepWork& work) { return work.calls.empty(); });
}

TEST(StepChainMade, IsRowByRowWhereStepsKeepTheRowsOfEachFrame) {
    expect_made({shape(3, 7, 1), shape(3, 7, 2)}, {1, 1});
    expect_made({shape(1, 1, 0)}, {1, 1});
}

TEST(StepChainMade, TakesAFrameWholeThatIsShorterThanALayer) {
    // From 5 rows, 3 and 2 make one each, and both of these one.
    expect_made({shape(2, 5, 0, inside, {3, 1, 1, 1}), shape(2, 2, 0, inside, {2, 1, 1, 0})},
                {5, 1});
    // From 2 rows, 4, of which 3 make one and the last none: two rows for half of a layer's two.
    expect_made({shape(2, 2, 0, inside, {1, 2}), shape(2, 4, 0, inside, {3, 1, 1, 0})}, {2, 1});
    // From 3 rows, 6, a whole layer, of which only the first 3 make one.
    expect_made({shape(1, 3, 0, inside, {1, 2}), shape(1, 6, 0, inside, {3, 1, 1, 0})}, {3, 1});
}

TEST(StepChainMade, LeavesLayersOutInTheLastStepOnly) {
    // Layers 0, 2 and 4 of six.
    const OutputRows thinned{10, 1, 2, 4};
    expect_made({shape(1, 60, 0, inside, thinned)}, thinned);
    expect_made({shape(1, 60, 3), shape(1, 60, 0, inside, thinned)}, thinned);
    EXPECT_FALSE(StepChain::is_chain(Shapes{shape(1, 60, 0, inside, thinned), shape(1, 3, 0)}));

    const StepChain chain(Shapes{shape(1, 60, 3), shape(1, 60, 0, inside, thinned)});
    EXPECT_TRUE(idle(chain.work({1, 7, 16, 10, 10})));
    const std::vector<StepWork> works = chain.work({1, 17, 26, 20, 20});
    ASSERT_EQ(works[1].calls.size(), 1U);
    EXPECT_EQ(works[1].calls[0].out_row, 0);
    EXPECT_EQ(works[1].calls[0].out_rows, 1);
}

TEST(StepChainBorder, IsNotPeriodicWithoutAHalo) {
    EXPECT_EQ(StepChain(Shapes{shape(1, 7, 0, periodic), shape(1, 7, 2)}).border(), inside);
    EXPECT_EQ(StepChain(Shapes{shape(1, 7, 1, periodic), shape(1, 7, 2)}).border(), periodic);
}

TEST(StepChainBorder, NeedsNoMoreRowsOfAShortLayerThatNoLaterStepReadsAcross) {
    // 10 rows are layers of 3, 3, 3 and 1.
    const StepChain chain(Shapes{shape(1, 10, 3, periodic, {3, 1, 1, 3}), shape(1, 4, 0)});
    EXPECT_EQ(chain.halo(), 3);
}

TEST(StepChainWork, HoldsNoRowUnderAnotherNumberWhereTheWholeFrameIsThere) {
    // The second step takes rows -4 ... 9; the first makes -4 ... -1 of rows 5 ... 10.
    const StepChain chain(Shapes{shape(1, 10, 1, periodic), shape(1, 10, 4, periodic)});
    const std::vector<StepWork> works = chain.work({1, -5, 16, 0, 6});
    EXPECT_EQ(works[0].held, 16);
    ASSERT_EQ(works[0].calls.size(), 2U);
    EXPECT_EQ(works[0].calls[0].block, (RowBlock{1, 5, 6, 6, 4}));
    EXPECT_EQ(works[0].calls[0].in_row, 0);
    EXPECT_EQ(works[0].calls[1].block, (RowBlock{1, 0, 10, 0, 10}));
    EXPECT_EQ(works[0].calls[1].in_row, 5);
    EXPECT_EQ(works[1].held, 14);
    EXPECT_EQ(works[1].calls.front().block, (RowBlock{1, -4, 14, 0, 6}));
}

TEST(StepChainWork, TakesAWholePeriodicFrameOnlyWhereItReadsAcrossItsEnd) {
    // The first step needs a whole frame for any row, so the second takes no extended rows.
    const StepChain chain(Shapes{shape(1, 10, 10), shape(1, 10, 2, periodic)});
    const auto last_block = [&](std::int64_t first) {
        return chain.work({1, 0, 10, first, 3})[1].calls.front().block;
    };
    EXPECT_EQ(last_block(1), (RowBlock{1, 0, 10, 1, 3}));
    EXPECT_EQ(last_block(2), (RowBlock{1, 0, 7, 2, 3}));
    EXPECT_EQ(last_block(5), (RowBlock{1, 3, 7, 5, 3}));
    EXPECT_EQ(last_block(6), (RowBlock{1, 0, 10, 6, 3}));
    const std::vector<StepWork> works = chain.work({1, 0, 10, 2, 3});
    EXPECT_EQ(works[0].calls.front().block, (RowBlock{1, 0, 10, 0, 7}));
}

TEST(StepChainWork, HasNoCallsForRowsOfWhichNothingIsMade) {
    // The rows behind the only whole layer make none, whether or not they are counted.
    const StepChain first(Shapes{shape(1, 15, 0, inside, {10, 1, 1, 0}), shape(1, 1, 0)});
    EXPECT_TRUE(idle(first.work({1, 10, 5, 10, 5}, 2)));

    const StepChain second(Shapes{shape(1, 15, 0), shape(1, 15, 0, inside, {10, 1, 1, 0})});
    EXPECT_TRUE(idle(second.work({1, 10, 5, 10, 5})));
    const std::vector<StepWork> works = second.work({1, 10, 5, 10, 5}, 1);
    ASSERT_EQ(works[0].calls.size(), 1U);
    EXPECT_EQ(works[0].calls[0].block, (RowBlock{1, 10, 5, 10, 5}));
    EXPECT_EQ(works[0].calls[0].own.count(), 5);
    EXPECT_TRUE(works[1].calls.empty());
}

TEST(StepChainWork, MakesRowsThatTheNextStepDropsOnlyWhereTheyAreCounted) {
    // From 25 rows, two layers of 10 make one each and 5 rows are left over.
    const StepChain chain(
        Shapes{shape(1, 25, 0), shape(1, 25, 0, inside, {10, 1, 1, 1}), shape(1, 2, 0)});
    for (const std::size_t least : {0U, 1U, 2U, 3U}) {
        SCOPED_TRACE(least);
        const std::int64_t rows = least == 0 ? 10 : 15;
        const std::vector<StepWork> works = chain.work({1, 10, 15, 10, 15}, least);
        EXPECT_EQ(works[0].calls.front().block, (RowBlock{1, 10, rows, 10, rows}));
        EXPECT_EQ(works[0].calls.front().own.count(), rows);
        EXPECT_EQ(works[1].held, rows);
        EXPECT_EQ(works[1].calls.front().block, (RowBlock{1, 10, 10, 10, 10}));
        EXPECT_EQ(works[2].calls.front().block, (RowBlock{1, 1, 1, 1, 1}));
    }
}

TEST(StepChainWork, CountsOwnRowsInTheOutputOfAStepThatMakesTwoOfEach) {
    const StepChain chain(Shapes{shape(1, 6, 0, inside, {1, 2}), shape(1, 12, 0)});
    const std::vector<StepWork> works = chain.work({1, 2, 2, 2, 2}, 1);
    EXPECT_EQ(works[0].calls.front().block, (RowBlock{1, 2, 2, 2, 2}));
    EXPECT_EQ(works[0].calls.front().in_row, 0);
    EXPECT_EQ(works[0].calls.front().out_rows, 4);
    EXPECT_EQ(works[0].calls.front().own.count(), 4);
    EXPECT_EQ(works[1].calls.front().block, (RowBlock{1, 4, 4, 4, 4}));
}

struct Size {
    std::int64_t held;
    RowBlock block;
};

void expect_sizes(const Shapes& steps, const RowBlock& block, const std::vector<Size>& expected) {
    const std::vector<StepSize> sizes = StepChain(steps).sizes(block);
    ASSERT_EQ(sizes.size(), expected.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        SCOPED_TRACE("step " + std::to_string(i));
        EXPECT_EQ(sizes[i].held, expected[i].held);
        EXPECT_EQ(sizes[i].block, expected[i].block);
    }
}

TEST(StepChainSizes, AddTheHalosOfLaterStepsOnBothSides) {
    expect_sizes({shape(1, 101, 2), shape(1, 101, 5), shape(1, 101, 3)}, {1, 0, 40, 0, 20},
                 {{40, {1, 0, 40, 0, 36}}, {36, {1, 0, 36, 0, 26}}, {26, {1, 0, 26, 0, 20}}});
}

TEST(StepChainSizes, AreNoMoreThanAFrame) {
    expect_sizes({shape(1, 10, 1), shape(1, 10, 3)}, {1, 0, 10, 0, 6},
                 {{10, {1, 0, 10, 0, 10}}, {10, {1, 0, 10, 0, 6}}});
    expect_sizes({shape(1, 1, 0), shape(1, 1, 0)}, {1, 0, 1, 0, 1},
                 {{1, {1, 0, 1, 0, 1}}, {1, {1, 0, 1, 0, 1}}});
}

TEST(StepChainSizes, CountTheRowsThatLayersMake) {
    // Three layers of 3 rows, and one more on either side.
    expect_sizes({shape(1, 33, 0, inside, {3, 1}), shape(1, 11, 1)}, {1, 0, 15, 0, 9},
                 {{15, {1, 0, 15, 0, 15}}, {5, {1, 0, 5, 0, 3}}});
    // Rows in twos: of a halo of 3, four are held.
    const StepChain twos(Shapes{shape(1, 50, 3, inside, {1, 2}), shape(1, 100, 3)});
    const std::vector<StepSize> sizes = twos.sizes({1, 0, 20, 0, 10});
    EXPECT_EQ(sizes[0].block, (RowBlock{1, 0, 20, 0, 14}));
    EXPECT_EQ(sizes[1].held, 28);
    EXPECT_EQ(sizes[1].block.out_rows, 20);
}

TEST(StepChainSizes, AreOfWholeImagesWhereALaterStepTakesTheVolume) {
    expect_sizes({shape(6, 10, 3), shape(1, 60, 10, inside, {10, 10})}, {1, 0, 40, 0, 20},
                 {{40, {4, 0, 10, 0, 10}}, {40, {1, 0, 40, 0, 20}}});
    expect_sizes({shape(2, 7, 3), shape(1, 14, 0, inside, {7, 7})}, {1, 0, 14, 0, 14},
                 {{14, {2, 0, 7, 0, 7}}, {14, {1, 0, 14, 0, 14}}});
}

TEST(StepChainSizes, AreOfAWholeFrameWhereAPeriodicStepReadsAcrossItsEnd) {
    // For rows 0, 1 and 2 the second step takes rows 8 and 9 too, and with them all.
    expect_sizes({shape(1, 10, 10), shape(1, 10, 2, periodic)}, {1, 0, 10, 0, 3},
                 {{10, {1, 0, 10, 0, 10}}, {10, {1, 0, 10, 0, 3}}});
}

TEST(StepChainSizes, CountTheFramesOfABlock) {
    const Shapes steps = {shape(12, 5, 1), shape(6, 10, 0, inside, {5, 5})};
    expect_sizes(steps, {3, 0, 10, 0, 10}, {{30, {6, 0, 5, 0, 5}}, {30, {3, 0, 10, 0, 10}}});
    const std::vector<StepWork> works = StepChain(steps).work({3, 0, 10, 0, 10});
    EXPECT_EQ(works[0].calls.front().block, (RowBlock{6, 0, 5, 0, 5}));
    EXPECT_EQ(works[1].calls.front().block, (RowBlock{3, 0, 10, 0, 10}));
}

TEST(StepChainSizes, HaveRoomForSeveralFramesAndForPartOfOneWithALongBorder) {
    // Two whole frames are 20 rows, and 9 rows of one need 25.
    const StepChain chain(Shapes{shape(4, 10, 8, periodic)});
    const StepSize size = chain.sizes({1, 0, 25, 0, 10}).front();
    const RowBlock part = chain.work({1, -8, 25, 0, 9}).front().calls.front().block;
    EXPECT_EQ(part, (RowBlock{1, -8, 25, 0, 9}));
    EXPECT_EQ(size.held, 25);
    EXPECT_EQ(size.block.frames, 2);
    EXPECT_GE(size.block.in_rows, part.in_rows);
    EXPECT_GE(size.block.out_rows, 10);
}

/// The most that all blocks of up to so many rows ask for, tried one by one.
std::vector<Size> most_of_blocks(const StepChain& chain, std::size_t steps, std::int64_t most) {
    std::vector<Size> sizes(steps, Size{0, {1, 0, 0, 0, 0}});
    for (std::int64_t first = 0; first < chain.rows(); ++first) {
        for (std::int64_t last = first + 1; last <= std::min(first + most, chain.rows()); ++last) {
            const std::int64_t from = std::max<std::int64_t>(0, first - chain.halo());
            const std::int64_t to = std::min(chain.rows(), last + chain.halo());
            const std::vector<StepWork> works =
                chain.work({1, from, to - from, first, last - first});
            for (std::size_t i = 0; i < steps; ++i) {
                const RowBlock& block = works[i].calls.front().block;
                sizes[i].held = std::max(sizes[i].held, works[i].held);
                sizes[i].block.in_rows = std::max(sizes[i].block.in_rows, block.in_rows);
                sizes[i].block.out_rows = std::max(sizes[i].block.out_rows, block.out_rows);
            }
        }
    }
    return sizes;
}

TEST(StepChainSizes, AreTheMostOfAllBlocksThatKeepTheirRows) {
    for (const std::int64_t rows : {1, 2, 7, 13}) {
        for (const std::vector<std::int64_t>& halos :
             std::vector<std::vector<std::int64_t>>{{0}, {2, 0}, {1, 3}, {0, 2, 1}, {1, 0, 0, 4}}) {
            Shapes steps;
            std::int64_t halo = 0;
            for (const std::int64_t own : halos) {
                steps.push_back(shape(1, rows, own));
                halo += own;
            }
            if (halo >= rows) {
                continue; // some step takes whole frames
            }
            for (std::int64_t most = 1; most <= rows; ++most) {
                SCOPED_TRACE(testing::Message() << rows << " rows, halo " << halo << ", " << most);
                expect_sizes(steps, {1, 0, std::min(rows, most + 2 * halo), 0, most},
                             most_of_blocks(StepChain(steps), steps.size(), most));
            }
        }
    }
}

} // namespace
} // namespace runner
