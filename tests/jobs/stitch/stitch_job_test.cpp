// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/stitch/stitch_job.hpp"

#include "base/error.hpp"
#include "jobs/axis_work.hpp"
#include "jobs/stitch/stitch_angles.hpp"
#include "tests/support/table_values.hpp"

#include <gtest/gtest.h>

namespace runner {
namespace {

using Shape = std::vector<std::int64_t>;

TableEntries entries(std::int64_t overlap, const std::string& side, const std::string& order) {
    return {{"overlap", of(overlap)}, {"side", of(side)}, {"order", of(order)}};
}

std::unique_ptr<Job> make(const Shape& shape, const std::string& order = "projections",
                          std::optional<int> channels = {}, const std::string& side = "left") {
    return parsed("stitch", parse_stitch, entries(3, side, order))
        ->make({{ElementType::uint16, shape}, {}, channels}, {});
}

/// The frames, rows of a frame, rows of a layer and rows that it makes.
std::array<std::int64_t, 4> rows_of(const Job& job) {
    const StreamShape shape = dynamic_cast<const StreamJob&>(job).shape();
    return {shape.frames, shape.rows, shape.made.layer, shape.made.each};
}

using Rows = std::array<std::int64_t, 4>;

TEST(StitchJob, RowsOfPartnersAreReadInPairs) {
    const auto job = make({6, 5, 7});
    EXPECT_EQ(job->output(), (ArrayInfo{ElementType::uint16, {3, 5, 11}}));
    EXPECT_EQ(job->row_order(), (RowOrder{2, 15}));
    EXPECT_EQ(rows_of(*job), (Rows{3, 10, 2, 1}));
    EXPECT_TRUE(job->notes().empty());
    const auto odd = make({7, 5, 7});
    EXPECT_EQ(odd->output(), job->output());
    EXPECT_EQ(odd->row_order(), job->row_order());
    EXPECT_EQ(odd->notes().size(), 1U);
}

TEST(StitchJob, PixelsOfColourAreRows) {
    const auto job = make({6, 5, 7, 3}, "projections", 3);
    EXPECT_EQ(job->output().shape, (Shape{3, 5, 11, 3}));
    EXPECT_EQ(job->channels(), 3);
    EXPECT_EQ(job->row_order(), (RowOrder{2, 3 * 5 * 7}));
    EXPECT_EQ(rows_of(*job), (Rows{3, 2 * 5 * 7, 14, 11}));
    const auto sinograms = make({2, 6, 7, 3}, "sinograms", 3);
    EXPECT_EQ(sinograms->output().shape, (Shape{2, 3, 11, 3}));
    EXPECT_EQ(rows_of(*sinograms), (Rows{2, 6 * 7, 6 * 7, 3 * 11}));
}

TEST(StitchJob, ASinogramIsALayer) {
    const auto job = make({4, 7, 7}, "sinograms");
    EXPECT_EQ(job->output().shape, (Shape{4, 3, 11}));
    EXPECT_EQ(job->row_order(), std::nullopt);
    EXPECT_EQ(rows_of(*job), (Rows{4, 7, 7, 3}));
    EXPECT_EQ(make({6, 7}, "sinograms")->output().shape, (Shape{3, 11}));
    EXPECT_EQ(rows_of(*make({2, 6, 5, 7})), (Rows{2, 30, 30, 15}));
    EXPECT_EQ(make({1, 6, 5, 7})->row_order(), (RowOrder{2, 15}));
}

TEST(StitchJob, AxesBeginWhereTheirFirstElementIs) {
    Axes axes = axes_of_letters("zyx");
    axes.each[0] = {"rotation_angle", "degree", 60.0, 0.0};
    axes.each[2].spacing = 0.5;
    axes.each[2].origin = 10;
    const Axes left = axes_after(*make({6, 5, 7}), axes);
    EXPECT_EQ(left.each[0], axes.each[0]);
    EXPECT_EQ(left.each[2].spacing, 0.5);
    EXPECT_EQ(left.each[2].origin, 8.0); // four columns before
    EXPECT_EQ(axes_after(*make({6, 5, 7}, "projections", {}, "right"), axes).each[2].origin, 10.0);
    EXPECT_EQ(make({6, 5, 7})->axis_work(3),
              (std::vector<std::string>{"joined in pairs", each_by_itself, "joined"}));
}

TEST(StitchJob, PairsAreHalfATurnApart) {
    using Angles = std::vector<double>;
    EXPECT_EQ(wrong_angles(Angles{0, 90, 180, 270}, 2), std::nullopt);
    EXPECT_EQ(wrong_angles(Angles{0, -90, -180, -270}, 2), std::nullopt);
    EXPECT_EQ(wrong_angles(Angles{90, 135, 180, 225, 270, 315, 360, 405, 450}, 4), std::nullopt);
    EXPECT_EQ(wrong_angles(Angles{0, 1.5708, 3.1416, 4.7124}, 2), std::nullopt); // radians
    EXPECT_EQ(wrong_angles(Angles{0, 45, 90, 135}, 2), "those of frames 0 and 2 are 90 apart, not "
                                                       "180 degrees or pi");
    // Half a step is 45 degrees.
    EXPECT_EQ(wrong_angles(Angles{0, 90, 180, 314}, 2), std::nullopt);
    EXPECT_NE(wrong_angles(Angles{0, 90, 180, 316}, 2), std::nullopt);
    JobInput input{{ElementType::uint16, {6, 5, 7}}};
    EXPECT_EQ(wrong_angles(input, 0, 3), std::nullopt); // nobody knows
    input.axes = axes_of_letters("zyx");
    input.axes.each[0] = {"theta", "deg", 60.0, 0.0};
    EXPECT_EQ(wrong_angles(input, 0, 3), std::nullopt);
    input.axes.each[0].spacing = 30.0;
    EXPECT_NE(wrong_angles(input, 0, 3), std::nullopt);
}

TEST(StitchJob, WhatCannotBeJoinedIsRefused) {
    EXPECT_THROW(make({6, 7}), Error);
    EXPECT_THROW(make({1, 5, 7}), Error);
    EXPECT_THROW(make({6, 0, 7}), Error);
    EXPECT_THROW(make({6, 5, 2}), Error); // an overlap of three
    EXPECT_NO_THROW(make({6, 5, 3}));
    JobInput input{{ElementType::uint16, {6, 5, 7}}};
    input.axes = axes_of_letters("zyx");
    input.axes.each[1].name = "rotation_angle";
    const auto of_order = [&](const std::string& order) {
        return parsed("stitch", parse_stitch, entries(3, "left", order))->make(input, {});
    };
    EXPECT_THROW(of_order("projections"), Error);
    EXPECT_NO_THROW(of_order("sinograms"));
    input.axes = {};
    input.roles.frames.assign(6, FrameRole::projection);
    EXPECT_NO_THROW(of_order("projections"));
    input.roles.frames.insert(input.roles.frames.begin(), FrameRole::flat);
    input.part = DatasetPart{{1, 0, 0}, {6, 5, 7}};
    EXPECT_NO_THROW(of_order("projections"));
    input.part->first[0] = 0;
    EXPECT_THROW(of_order("projections"), Error);
    input.part->frames = {1, 2, 3, 4, 5, 6};
    EXPECT_NO_THROW(of_order("projections"));
    EXPECT_EQ(complaints_of("stitch", parse_stitch, {}).size(), 2U);
    EXPECT_EQ(complaints_of("stitch", parse_stitch, entries(-1, "middle", "lines")).size(), 3U);
}

} // namespace
} // namespace runner
