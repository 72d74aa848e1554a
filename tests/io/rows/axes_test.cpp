// SPDX-License-Identifier: BSD-3-Clause
#include "base/units.hpp"
#include "io/rows/axes.hpp"

#include <gtest/gtest.h>

namespace runner {
namespace {

/// The axes of an array [t, z, y, x].
Axes example() {
    Axes made;
    made.each = {{"t", "s", 2.0, 1.0}, {"z", "mm", 4.0}, {"y", "mm", 0.5, 10.0}, {"x"}};
    made.sform = {2, {{0, 0, 0}, {0, 0, 4}, {0, 0.5, 0}, {-0.5, 0, 0}}, {}, {7, 8, 9}};
    made.qform = made.sform;
    return made;
}

TEST(Axes, OfAPartBeginsElsewhere) {
    const Axes part = moved_axes(example(), {{0, 3, 2}, {1, 1, 1}, {2, 0, 1}, {3, 5, 1}});
    EXPECT_EQ(part.each[0], (Axis{"t", "s", 4.0, 7.0}));
    EXPECT_EQ(part.each[1], (Axis{"z", "mm", 4.0, 4.0}));
    EXPECT_EQ(part.each[3], (Axis{"x"}));
    EXPECT_EQ(part.sform->origin, (Affine::Vector{7 - 2.5, 8, 9 + 4}));
    EXPECT_EQ(part.sform->steps, example().sform->steps);
}

TEST(Axes, OfBlocksIsInTheirMiddle) {
    const Axes binned = moved_axes(example(), {{0, 0, 1}, {1, 1, 3}, {2, 0.5, 2}, {3, 0, 1}});
    EXPECT_EQ(binned.each[1], (Axis{"z", "mm", 12.0, 4.0}));
    EXPECT_EQ(binned.each[2], (Axis{"y", "mm", 1.0, 10.25}));
    EXPECT_EQ(binned.sform->steps[1], (Affine::Vector{0, 0, 12}));
    EXPECT_EQ(binned.sform->origin, (Affine::Vector{7, 8.25, 13}));
}

TEST(Axes, OfOtherAxesHasTheirColumns) {
    const Axes turned = moved_axes(example(), {{3, 0, 1}, {1, 0, 1}, {-1, 0, 1}});
    EXPECT_EQ(turned.each.size(), 3U);
    EXPECT_EQ(turned.each[1].spacing, 4);
    EXPECT_EQ(turned.each[2], Axis());
    EXPECT_EQ(turned.sform->steps,
              (std::vector<Affine::Vector>{{-0.5, 0, 0}, {0, 0, 4}, {0, 0, 0}}));
    EXPECT_EQ(turned.sform->beside, (std::vector<Affine::Vector>{{0, 0.5, 0}}));
}

TEST(Axes, OfUnevenElementsHasNoAffine) {
    EXPECT_FALSE(moved_axes(example(), {{0, 0, 1}, {1, 0, 0}, {2, 0, 1}, {3, 0, 1}}).sform);
    EXPECT_TRUE(moved_axes(example(), {{0, 0, 0}, {1, 0, 1}, {2, 0, 1}, {3, 0, 1}}).sform);
    EXPECT_EQ(moved_axes(example(), {{0, 0, 0}}).each[0].spacing, std::nullopt);
    EXPECT_FALSE(moved_axes(Axes(), {{0, 0, 1}}).known());
}

TEST(Axes, HasATextThatSaysTheSame) {
    EXPECT_EQ(axes_of_text(to_text(example()), 4), example());
    EXPECT_EQ(axes_of_text(to_text(Axes()), 3), Axes());
    EXPECT_FALSE(axes_of_text(to_text(example()), 3));
    EXPECT_FALSE(axes_of_text("[]", 0));
    EXPECT_FALSE(axes_of_text("nothing", 4));
    Axes negative = example();
    negative.each[0].spacing = -1;
    EXPECT_FALSE(axes_of_text(to_text(negative), 4));
    Axes few = example();
    few.sform->steps.pop_back();
    EXPECT_FALSE(axes_of_text(to_text(few), 4));
    EXPECT_EQ(example().text(), "t 2 s from 1, z 4 mm, y 0.5 mm from 10, x, sform 2, qform 2");
}

TEST(Axes, KnowsUnitsOfLength) {
    EXPECT_EQ(metres_in("mm"), 1e-3);
    EXPECT_EQ(metres_in("µm"), 1e-6);
    EXPECT_EQ(metres_in("Å"), metres_in("angstrom"));
    for (const char* unit : {"", "s", "deg", "m metre", " "}) {
        EXPECT_FALSE(metres_in(unit)) << unit;
    }
}

TEST(Axes, KnowsUnitsOfTime) {
    for (const char* unit : {"s", "sec", "second", "seconds"}) {
        EXPECT_EQ(seconds_in(unit), 1) << unit;
    }
    EXPECT_EQ(seconds_in("msec"), 1e-3);
    EXPECT_EQ(seconds_in("µs"), seconds_in("microsecond"));
    EXPECT_EQ(seconds_in("hour"), 3600);
    for (const char* unit : {"", "m", "deg", "days since 2000-01-01", " "}) {
        EXPECT_FALSE(seconds_in(unit)) << unit;
    }
}

TEST(Axes, KeepsWhatIsSaidOfSomeChannels) {
    Axes axes = axes_of_letters("cyx");
    axes.channels = {"DAPI", ""};
    axes.colours = {"", ""};
    const std::vector<std::int64_t> shape = {2, 3, 4};
    const Axes made = fitting_axes(axes, shape);
    EXPECT_EQ(made.channels, axes.channels);
    EXPECT_TRUE(made.colours.empty());
    EXPECT_EQ(made.text(), "c (DAPI, ?), y, x");
}

} // namespace
} // namespace runner
