// SPDX-License-Identifier: BSD-3-Clause
#include "io/rows/placement.hpp"

#include <gtest/gtest.h>

namespace runner {
namespace {

/// The placement of an array [t, z, y, x].
Placement example() {
    Placement made;
    made.axes = {{2, "s", 1}, {4, "mm", 0}, {0.5, "mm", 10}, {0, "", 0}};
    made.sform = {2, {{0, 0, 0}, {0, 0, 4}, {0, 0.5, 0}, {-0.5, 0, 0}}, {}, {7, 8, 9}};
    made.qform = made.sform;
    return made;
}

TEST(Placement, OfAPartBeginsElsewhere) {
    const Placement part = placed(example(), {{0, 3, 2}, {1, 1, 1}, {2, 0, 1}, {3, 5, 1}});
    EXPECT_EQ(part.axes[0], (Placement::Axis{4, "s", 7}));
    EXPECT_EQ(part.axes[1], (Placement::Axis{4, "mm", 4}));
    EXPECT_EQ(part.axes[3], (Placement::Axis{0, "", 0}));
    EXPECT_EQ(part.sform->origin, (Placement::Vector{7 - 2.5, 8, 9 + 4}));
    EXPECT_EQ(part.sform->steps, example().sform->steps);
}

TEST(Placement, OfBlocksIsInTheirMiddle) {
    const Placement binned = placed(example(), {{0, 0, 1}, {1, 1, 3}, {2, 0.5, 2}, {3, 0, 1}});
    EXPECT_EQ(binned.axes[1], (Placement::Axis{12, "mm", 4}));
    EXPECT_EQ(binned.axes[2], (Placement::Axis{1, "mm", 10.25}));
    EXPECT_EQ(binned.sform->steps[1], (Placement::Vector{0, 0, 12}));
    EXPECT_EQ(binned.sform->origin, (Placement::Vector{7, 8.25, 13}));
}

TEST(Placement, OfOtherAxesHasTheirColumns) {
    const Placement turned = placed(example(), {{3, 0, 1}, {1, 0, 1}, {-1, 0, 1}});
    EXPECT_EQ(turned.axes.size(), 3U);
    EXPECT_EQ(turned.axes[1].spacing, 4);
    EXPECT_EQ(turned.axes[2], Placement::Axis());
    EXPECT_EQ(turned.sform->steps,
              (std::vector<Placement::Vector>{{-0.5, 0, 0}, {0, 0, 4}, {0, 0, 0}}));
    EXPECT_EQ(turned.sform->beside, (std::vector<Placement::Vector>{{0, 0.5, 0}}));
}

TEST(Placement, OfUnevenElementsHasNoAffine) {
    EXPECT_FALSE(placed(example(), {{0, 0, 1}, {1, 0, 0}, {2, 0, 1}, {3, 0, 1}}).sform);
    EXPECT_TRUE(placed(example(), {{0, 0, 0}, {1, 0, 1}, {2, 0, 1}, {3, 0, 1}}).sform);
    EXPECT_EQ(placed(example(), {{0, 0, 0}}).axes[0].spacing, 0);
    EXPECT_FALSE(placed({}, {{0, 0, 1}}).known());
}

TEST(Placement, HasATextThatSaysTheSame) {
    EXPECT_EQ(placement_of(to_text(example()), 4), example());
    EXPECT_EQ(placement_of(to_text({}), 3), Placement());
    EXPECT_FALSE(placement_of(to_text(example()), 3));
    EXPECT_FALSE(placement_of("[]", 0));
    EXPECT_FALSE(placement_of("nothing", 4));
    Placement negative = example();
    negative.axes[0].spacing = -1;
    EXPECT_FALSE(placement_of(to_text(negative), 4));
    Placement few = example();
    few.sform->steps.pop_back();
    EXPECT_FALSE(placement_of(to_text(few), 4));
    EXPECT_EQ(spacing_text(example()), "2 s × 4 × 0.5 mm × ?, sform 2, qform 2");
    EXPECT_EQ(spacing_text({}), "");
}

TEST(Placement, KnowsUnitsOfLength) {
    EXPECT_EQ(metres_in("mm"), 1e-3);
    EXPECT_EQ(metres_in("µm"), 1e-6);
    EXPECT_EQ(metres_in("Å"), metres_in("angstrom"));
    for (const char* unit : {"", "s", "deg", "m metre", " "}) {
        EXPECT_FALSE(metres_in(unit)) << unit;
    }
}

} // namespace
} // namespace runner
