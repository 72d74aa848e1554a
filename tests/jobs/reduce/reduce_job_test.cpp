// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/reduce/reduce_job.hpp"

#include "base/error.hpp"
#include "jobs/axis_work.hpp"
#include "tests/support/table_values.hpp"

#include <gtest/gtest.h>

namespace runner {
namespace {

using Shape = std::vector<std::int64_t>;

TableEntries entries(const std::string& operation, const std::string& over) {
    return {{"operation", of(operation)}, {"over", of(over)}};
}

std::unique_ptr<Job> make(const TableEntries& keys, const ArrayInfo& input,
                          std::optional<int> channels = {},
                          std::optional<ElementType> output = {}) {
    return parsed("reduce", parse_reduce, keys)->make({input, {}, channels}, output);
}

std::unique_ptr<Job> make_max(const std::string& over, const Shape& shape,
                              std::optional<int> channels = {}) {
    return make(entries("max", over), {ElementType::uint16, shape}, channels);
}

/// The frames, rows of a frame, rows of a layer and rows that it makes.
std::array<std::int64_t, 4> rows_of(const Job& job) {
    const StreamShape shape = dynamic_cast<const StreamJob&>(job).shape();
    EXPECT_EQ(shape.halo, 0);
    return {shape.frames, shape.rows, shape.made.layer, shape.made.each};
}

using Rows = std::array<std::int64_t, 4>;

TEST(ReduceJob, TheFirstAxisIsReadInOrder) {
    const auto job = make_max("z", {4, 5, 7});
    EXPECT_EQ(job->row_order(), (RowOrder{4, 5}));
    EXPECT_EQ(job->output().shape, (Shape{5, 7}));
    EXPECT_EQ(rows_of(*job), (Rows{1, 20, 4, 1}));
    const auto both = make_max("z,x", {4, 5, 7});
    EXPECT_EQ(both->row_order(), (RowOrder{4, 5}));
    EXPECT_EQ(both->output().shape, (Shape{5}));
    EXPECT_EQ(rows_of(*both), (Rows{1, 20, 4, 1}));
}

TEST(ReduceJob, LongStacksAreReadInLongRuns) {
    const auto wanted = [](const Shape& shape) {
        return dynamic_cast<const StreamJob&>(*make_max("z", shape)).shape().wanted_rows;
    };
    EXPECT_EQ(wanted({4096, 1024, 1024}), 4 * 4096); // runs of 8 KiB
    EXPECT_EQ(wanted({4099, 1021, 1021}), 4 * 4099); // as 32 MiB allow
    EXPECT_EQ(wanted({5000, 99, 64}), 52 * 5000);    // the same
    EXPECT_EQ(wanted({20000, 30, 1024}), 0);         // one row of each image is 39 MiB
    EXPECT_EQ(wanted({4096, 10, 4096}), 0);          // a row is that long
    EXPECT_EQ(wanted({4, 20000, 1024}), 0);          // the plan's chunks have longer runs
}

TEST(ReduceJob, AFrameIsALayer) {
    const auto job = make_max("frame", {4, 5, 7});
    EXPECT_EQ(job->row_order(), std::nullopt);
    EXPECT_EQ(job->output().shape, (Shape{4}));
    EXPECT_EQ(rows_of(*job), (Rows{1, 20, 5, 1}));
    EXPECT_EQ(make_max("x, y", {4, 5, 7})->output(), job->output());
}

TEST(ReduceJob, ARowOfTheOutputIsMadeWhole) {
    EXPECT_EQ(rows_of(*make_max("x", {4, 5, 7})), (Rows{1, 20, 5, 1}));
    EXPECT_EQ(rows_of(*make_max("x", {5, 7})), (Rows{1, 5, 1, 1}));
    EXPECT_EQ(rows_of(*make_max("x", {3, 4, 5, 7})), (Rows{3, 20, 5, 1}));
    EXPECT_EQ(rows_of(*make_max("y,x", {3, 4, 5, 7})), (Rows{1, 60, 20, 1}));
    // Along y each frame makes a row, along z each volume a frame.
    EXPECT_EQ(rows_of(*make_max("y", {4, 5, 7})), (Rows{1, 20, 5, 1}));
    EXPECT_EQ(rows_of(*make_max("z", {3, 4, 5, 7})), (Rows{3, 20, 20, 5}));
}

TEST(ReduceJob, AllAxesBecomeOneElement) {
    const auto job = make_max("z,y,x", {4, 5, 7});
    EXPECT_EQ(job->output().shape, (Shape{1}));
    EXPECT_EQ(rows_of(*job), (Rows{1, 20, 20, 1}));
    EXPECT_EQ(make_max("x", {7})->output().shape, (Shape{1}));
    EXPECT_EQ(rows_of(*make_max("x", {7})), (Rows{1, 7, 7, 1}));
    const auto columns = make_max("y", {5, 7}); // each element of the output is a row
    EXPECT_EQ(columns->output().shape, (Shape{7}));
    EXPECT_EQ(rows_of(*columns), (Rows{1, 5, 5, 7}));
}

TEST(ReduceJob, ColourIsReducedWhereItIsNamed) {
    const auto frames = make_max("frame", {4, 5, 7, 3}, 3);
    EXPECT_EQ(frames->output().shape, (Shape{4, 3}));
    EXPECT_EQ(frames->channels(), 3);
    EXPECT_EQ(make_max("y,x", {4, 5, 7, 3}, 3)->output(), frames->output());
    const auto grey = make_max("s", {5, 7, 3}, 3);
    EXPECT_EQ(grey->output().shape, (Shape{5, 7}));
    EXPECT_EQ(grey->channels(), 1);
}

TEST(ReduceJob, ResultsAreALastAxis) {
    TableEntries keys = entries("percentiles", "z");
    keys.push_back({"percentiles", list({1, 50, 99})});
    const auto job = make(keys, {ElementType::float32, {4, 5, 7}});
    EXPECT_EQ(job->output(), (ArrayInfo{ElementType::float32, {5, 7, 3}}));
    EXPECT_EQ(rows_of(*job), (Rows{5, 4, 4, 7}));
    keys = entries("histogram", "frame");
    keys.push_back({"bins", of(std::int64_t{16})});
    keys.push_back({"from", list({0, 256})});
    EXPECT_EQ(make(keys, {ElementType::uint8, {4, 5, 7}})->output(),
              (ArrayInfo{ElementType::uint64, {4, 16}}));
}

TEST(ReduceJob, MedianTakesTheScratchOfItsInput) {
    const auto job = make(entries("median", "frame"), {ElementType::uint16, {40, 5, 7}});
    const auto& stream = dynamic_cast<const StreamJob&>(*job);
    EXPECT_EQ(stream.scratch_bytes(Backend::cpu, {1, 0, 15, 0, 15}), 15 * 7 * 2);
    EXPECT_EQ(stream.scratch_bytes(Backend::cuda, {1, 0, 15, 0, 15}), 0);
}

TEST(ReduceJob, TypesFollowFromTheOperation) {
    const auto type = [](const std::string& operation, ElementType input) {
        return make(entries(operation, "x"), {input, {5, 7}})->output().type;
    };
    EXPECT_EQ(type("mean", ElementType::uint8), ElementType::float32);
    EXPECT_EQ(type("std", ElementType::float64), ElementType::float64);
    EXPECT_EQ(type("sum", ElementType::int16), ElementType::int64);
    EXPECT_EQ(type("sum", ElementType::uint8), ElementType::uint64);
    EXPECT_EQ(type("sum", ElementType::float32), ElementType::float64);
    EXPECT_EQ(type("min", ElementType::int8), ElementType::int8);
    EXPECT_THROW(make(entries("max", "x"), {ElementType::uint8, {5, 7}}, {}, ElementType::float32),
                 Error);
    EXPECT_EQ(make(entries("mean", "x"), {ElementType::uint8, {5, 7}}, {}, ElementType::uint8)
                  ->output()
                  .type,
              ElementType::uint8);
}

TEST(ReduceJob, AxesAreNamed) {
    JobInput input{{ElementType::uint8, {4, 5, 7}}};
    input.axes = axes_of_letters("tyx");
    const auto made = [&](const std::string& over) {
        return parsed("reduce", parse_reduce, entries("max", over))->make(input, {});
    };
    EXPECT_EQ(made("t")->output().shape, (Shape{5, 7}));
    EXPECT_THROW(made("z"), Error);
    EXPECT_EQ(axes_after(*made("y"), input.axes).names(), "t, x");
    EXPECT_EQ(made("frame")->output().shape, (Shape{4}));
    input.axes.each[0].name = "angle"; // called by its place too
    EXPECT_EQ(made("angle")->output().shape, (Shape{5, 7}));
    EXPECT_EQ(made("z")->output().shape, (Shape{5, 7}));
    input.axes.each[0].name = "frame"; // the axis, or each frame
    EXPECT_THROW(made("frame"), Error);
    EXPECT_THROW(make_max("z", {5, 7}), Error);
    EXPECT_THROW(make_max("frame", {7}), Error);
    EXPECT_THROW(make_max("z", {4, 0, 7}), Error);
    EXPECT_THROW(make_max("y, x", {65536, 65536}), Error);
    EXPECT_NO_THROW(make_max("y, x", {65536, 32768}));
}

TEST(ReduceJob, WrongKeysAreRefused) {
    const auto complaints = [](TableEntries keys) {
        return complaints_of("reduce", parse_reduce, keys);
    };
    EXPECT_EQ(complaints(entries("mean", "")).size(), 1U);
    EXPECT_EQ(complaints(entries("mean", "y,y")).front(), "reduce.over: names an axis twice");
    EXPECT_EQ(complaints(entries("percentiles", "y")).size(), 1U);
    EXPECT_EQ(complaints(entries("histogram", "y")).size(), 2U);
    TableEntries keys = entries("mean", "y");
    keys.push_back({"bins", of(std::int64_t{16})});
    EXPECT_EQ(complaints(keys).front(), "reduce.bins: belongs to operation = \"histogram\"");
    keys = entries("percentiles", "y");
    keys.push_back({"percentiles", list({50, 101})});
    EXPECT_EQ(complaints(keys).size(), 1U);
}

} // namespace
} // namespace runner
