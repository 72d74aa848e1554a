// SPDX-License-Identifier: BSD-3-Clause
#include "runner/trial/part/part_course.hpp"

#include <utility>

#include <gtest/gtest.h>

namespace runner::trial {
namespace {

/// A step that has nothing but its axes and how far it goes.
class Step : public Job {
  public:
    Step(Likeness like, std::optional<Locality> near) : like_(std::move(like)), near_(near) {}

    ArrayInfo output() const override { return {ElementType::uint8, like_.shape}; }
    std::string computation() const override { return ""; }
    std::vector<Likeness> likeness() const override { return {like_}; }
    std::optional<Locality> locality() const override { return near_; }

  private:
    Likeness like_;
    std::optional<Locality> near_;
};

/// An output of this shape, whose axes are these of its input.
Likeness along(const std::vector<std::int64_t>& axes, std::vector<std::int64_t> shape) {
    Likeness like{Likeness::Values::same, {}, std::move(shape)};
    for (const std::int64_t axis : axes) {
        like.axes.push_back({axis});
    }
    return like;
}

TEST(PartCourse, AddsReachesAlongTheAxesThatStepsFind) {
    PartCourse course({30, 40, 50});
    course.add(Step(along({0, 1, 2}, {30, 20, 50}),
                    Locality{.reach = {0, 1, 2}, .step = {1, 2, 1}, .block = {1, 2, 1}}));
    course.add(Step(along({1, 0, 2}, {20, 30, 50}), Locality{}));
    course.add(Step(along({0, 1, 2}, {20, 30, 50}),
                    Locality{.reach = {3, 4, 5}, .wraps = true})); // rows, frames, columns
    const std::vector<InputAxis> axes = {{4, 1, 1, true}, {1 + 2 * 3, 2, 2, true}, {7, 1, 1, true}};
    EXPECT_EQ(course.input().axes, axes);
    const std::vector<MadeAxis> made = {{1, 2, 20}, {0, 1, 30}, {2, 1, 50}};
    EXPECT_EQ(course.made(), made);
    EXPECT_EQ(made_box(made, Box{{0, 10, 0}, {30, 30, 50}}, Box{{3, 14, 7}, {9, 18, 50}}),
              (Box{{2, 3, 7}, {4, 9, 50}}));
}

TEST(PartCourse, KeepsAxesWholeThatAreJoined) {
    PartCourse joined({30, 40, 50});
    joined.add(Step(along({0, 1, 2}, {15, 40, 90}), Locality{.joins = {true, false, true}}));
    EXPECT_FALSE(joined.input().axes[0].is_cut);
    EXPECT_TRUE(joined.input().axes[1].is_cut);
    const std::vector<MadeAxis> made = {{{}, 1, 15}, {1, 1, 40}, {{}, 1, 90}};
    EXPECT_EQ(joined.made(), made);
    EXPECT_EQ(made_box(made, Box{{0, 5, 0}, {30, 9, 50}}, Box{{0, 6, 0}, {30, 8, 50}}),
              (Box{{0, 1, 0}, {15, 3, 90}}));

    PartCourse reduced({6, 30, 40, 50}); // also an axis before the last three
    reduced.add(Step(along({1, 2, -1}, {30, 40, 8}), Locality{.joins = {false, false, true}}));
    EXPECT_FALSE(reduced.input().axes[0].is_cut);
    EXPECT_TRUE(reduced.input().axes[1].is_cut);
    EXPECT_FALSE(reduced.input().axes[3].is_cut);
    EXPECT_EQ(reduced.made(), (std::vector<MadeAxis>{{1, 1, 30}, {2, 1, 40}, {{}, 1, 8}}));
    EXPECT_FALSE(along_same_axes(reduced.made(), joined.made()));
}

TEST(PartCourse, CutsNothingForAStepOfWhichNoPartIsKnown) {
    PartCourse course({30, 40});
    course.add(Step(along({0, 1}, {30, 40}), std::nullopt));
    EXPECT_FALSE(course.input().axes[0].is_cut);
    EXPECT_FALSE(course.input().axes[1].is_cut);
    EXPECT_EQ(course.made(), (std::vector<MadeAxis>{{0, 1, 30}, {1, 1, 40}}));
}

} // namespace
} // namespace runner::trial
