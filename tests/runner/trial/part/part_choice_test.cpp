// SPDX-License-Identifier: BSD-3-Clause
#include "runner/trial/part/part_choice.hpp"

#include "base/error.hpp"
#include "jobs/job.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace runner::trial {
namespace {

WholeInput whole_of(std::vector<std::int64_t> shape, const Locality& locality = {}) {
    WholeInput whole{std::move(shape), {}};
    whole.axes.resize(whole.shape.size());
    const std::size_t least = std::min<std::size_t>(3, whole.axes.size());
    for (std::size_t i = 0; i < least; ++i) {
        whole.axes[whole.axes.size() - 1 - i] = {locality.reach.at(2 - i), locality.step.at(2 - i),
                                                 locality.block.at(2 - i), locality.wraps};
    }
    return whole;
}

TEST(PartChoice, TakesRowsOfAnImageFromItsMiddle) {
    const WholeInput whole = whole_of({1000, 2000}, {.reach = {0, 8, 4}});
    const Box part = choose_part(whole, 400 * 2000, PartPlace::central);
    EXPECT_EQ(part, (Box{{300, 0}, {700, 2000}}));
    // Columns are whole, so that only rows lie at a cut.
    EXPECT_EQ(exact_part(whole, part), (Box{{308, 0}, {692, 2000}}));
    EXPECT_EQ(choose_part(whole, 400 * 2000, PartPlace::first), (Box{{0, 0}, {400, 2000}}));
}

TEST(PartChoice, CutsColumnsOnlyWhereRowsAreFew) {
    // At least 64 rows between borders of 8.
    const Box part =
        choose_part(whole_of({1000, 2000}, {.reach = {0, 8, 4}}), 80 * 100, PartPlace::central);
    EXPECT_EQ(part, (Box{{460, 950}, {540, 1050}}));
}

TEST(PartChoice, TakesNoMoreThanThereIs) {
    const WholeInput whole = whole_of({20, 30, 40}, {.reach = {9, 9, 9}});
    const Box part = choose_part(whole, 1'000'000, PartPlace::central);
    EXPECT_EQ(part, (Box{{0, 0, 0}, {20, 30, 40}}));
    EXPECT_EQ(exact_part(whole, part), part);
}

TEST(PartChoice, LiesAroundASlice) {
    const WholeInput whole = whole_of({100, 30, 40});
    const auto part = [&](std::int64_t around) {
        return choose_part(whole, 10 * 30 * 40, PartPlace::central, PartMiddle{0, around});
    };
    EXPECT_EQ(part(70), (Box{{65, 0, 0}, {75, 30, 40}}));
    EXPECT_EQ(part(2), (Box{{0, 0, 0}, {10, 30, 40}}));
    EXPECT_EQ(part(1000), (Box{{90, 0, 0}, {100, 30, 40}}));
}

TEST(PartChoice, BeginsAtStepsAndEndsAtBlocks) {
    const WholeInput whole =
        whole_of({1000, 100}, {.reach = {0, 5, 0}, .step = {1, 6, 1}, .block = {1, 3, 1}});
    const Box part = choose_part(whole, 200 * 100, PartPlace::central);
    EXPECT_EQ(part, (Box{{396, 0}, {594, 100}})); // 198 rows; (1000 − 198) / 2 = 401
    EXPECT_EQ(exact_part(whole, part), (Box{{402, 0}, {588, 100}})); // 401 and 589 to blocks
}

TEST(PartChoice, WrappingReachesTheWholesOwnEnds) {
    WholeInput whole = whole_of({100, 100}, {.reach = {0, 2, 3}, .wraps = true});
    const Box part{{0, 0}, {50, 100}};
    EXPECT_EQ(exact_part(whole, part), (Box{{2, 0}, {48, 100}}));
    whole.axes = {{2}, {3}};
    EXPECT_EQ(exact_part(whole, part), (Box{{0, 0}, {48, 100}}));
    whole.axes[0].reach = 30;
    EXPECT_EQ(exact_part(whole, Box{{20, 0}, {70, 100}}), std::nullopt);
}

TEST(PartChoice, FramesAreIndependent) {
    const WholeInput whole = whole_of({5, 6, 7, 8}, {.reach = {1, 1, 1}});
    const Box part = choose_part(whole, 2 * 6 * 7 * 8, PartPlace::central);
    EXPECT_EQ(part, (Box{{1, 0, 0, 0}, {3, 6, 7, 8}}));
    EXPECT_EQ(exact_part(whole, part), part);
}

TEST(PartChoice, ReadsRanges) {
    WholeInput whole = whole_of({50, 60, 70}, {.step = {1, 2, 1}});
    EXPECT_EQ(parse_part(whole, "10:20,4:,:"), (Box{{10, 4, 0}, {20, 60, 70}}));
    EXPECT_EQ(parse_part(whole, ":30"), (Box{{0, 0, 0}, {50, 60, 30}}));
    for (const char* bad : {"", "5", "1:2:3", "a:b", "9:9,:,:", ":,:,:71",
                            ":,:,:,:", "3:9,:", "-5:,:", ":,", "99999999999999999999:"}) {
        EXPECT_THROW(static_cast<void>(parse_part(whole, bad)), Error) << bad;
    }
    whole.axes[0].is_cut = false;
    EXPECT_THROW(static_cast<void>(parse_part(whole, "1:2,:,:")), Error);
}

} // namespace
} // namespace runner::trial
