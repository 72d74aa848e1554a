// SPDX-License-Identifier: BSD-3-Clause
#include "runner/trial/prediction.hpp"

#include <array>

#include <gtest/gtest.h>

namespace runner::trial {
namespace {

/// read, upload, compute, exchange, download, hash, write
using Busy = std::array<double, stage_count>;

MeasuredRun run_of(const PassWork& work, double stream, const Busy& busy, double start = 0.1,
                   double finish = 0.01) {
    return {start, finish, 0, {{work, stream, busy}}};
}

TEST(Prediction, ScalesEachStageByItsOwnWork) {
    // Ten times the bytes read, five times those written, twenty times the operations.
    const MeasuredRun part = run_of({100, 200, 1000}, 3, {1, 0, 2, 0, 0, 0.5, 0.25});
    const std::array whole = {PassWork{1000, 1000, 20000}};
    const Prediction found = predict(part, part, whole);
    EXPECT_EQ(found.passes[0].busy_seconds, (Busy{10, 0, 40, 0, 0, 2.5, 1.25}));
    EXPECT_EQ(found.passes[0].bound, Stage::compute);
    EXPECT_DOUBLE_EQ(found.passes[0].idle_seconds, 1); // as on the part
    EXPECT_DOUBLE_EQ(found.seconds(), 0.1 + 40 + 1 + 0.01);
}

TEST(Prediction, AnotherStageMayBoundTheWhole) {
    // Computing took longest on the part, but the whole has more to read for what it computes.
    const MeasuredRun part = run_of({100, 100, 1000}, 2, {1.5, 0, 2, 0, 0, 0, 0});
    const std::array whole = {PassWork{1000, 1000, 5000}};
    const Prediction found = predict(part, part, whole);
    EXPECT_EQ(found.passes[0].bound, Stage::read);
    EXPECT_DOUBLE_EQ(found.passes[0].seconds(), 15);
}

TEST(Prediction, ComputingWithoutOperationsGoesByBytes) {
    const MeasuredRun part = run_of({100, 100, 0}, 1, {0, 0, 1, 0, 0, 0, 0});
    const std::array whole = {PassWork{300, 500, 0}};
    EXPECT_DOUBLE_EQ(predict(part, part, whole).passes[0].seconds(), 4);
}

TEST(Prediction, ASurveyGrowsWithWhatIsReadAndTheStartDoesNot) {
    MeasuredRun small = run_of({500, 500, 0}, 0.5, {0.5, 0, 0, 0, 0, 0, 0}, 0.5);
    MeasuredRun large = run_of({1000, 1000, 0}, 1, {1, 0, 0, 0, 0, 0, 0}, 0.9); // by other programs
    small.survey_seconds = 0.125;
    large.survey_seconds = 0.25;
    const std::array whole = {PassWork{5000, 9000, 0}};
    const Prediction found = predict(small, large, whole);
    EXPECT_DOUBLE_EQ(found.start_seconds, 0.5);
    EXPECT_DOUBLE_EQ(found.survey_seconds, 1.25);
    EXPECT_DOUBLE_EQ(found.seconds(), 0.5 + 1.25 + 5 + 0.01);
    EXPECT_EQ(prediction_lines(found).back(),
              "start 500 ms, survey of the input 1.25 s, end 10 ms");
}

TEST(Prediction, AsMuchOfASurveyAsOnThePartIsBesideTheStart) {
    MeasuredRun part = run_of({1000, 1000, 0}, 1, {1, 0, 0, 0, 0, 0, 0}, 0.5);
    part.survey_seconds = 0.25;
    part.survey_hidden_seconds = 0.25;
    const std::array whole = {PassWork{5000, 9000, 0}};
    EXPECT_DOUBLE_EQ(predict(part, part, whole).survey_seconds, 1);
    const std::array smaller = {PassWork{500, 900, 0}};
    EXPECT_DOUBLE_EQ(predict(part, part, smaller).survey_seconds, 0);
}

TEST(Prediction, TheEndGrowsWithWhatMayWaitForTheDisk) {
    constexpr double mib = 1 << 20;
    const MeasuredRun small = run_of({0, 16 * mib, 0}, 1, {}, 0.1, 0.25);
    const MeasuredRun large = run_of({0, 48 * mib, 0}, 1, {}, 0.1, 0.5);
    const std::array whole = {PassWork{0, 112 * mib, 0}};
    EXPECT_DOUBLE_EQ(predict(small, large, whole).finish_seconds, 1);
    const std::array huge = {PassWork{0, 1e6 * mib, 0}};
    EXPECT_DOUBLE_EQ(predict(small, large, huge).finish_seconds, 2.5); // 256 MiB more than the part
    const MeasuredRun steady = run_of({0, 48 * mib, 0}, 1, {}, 0.1, 0.26); // by less than the noise
    EXPECT_DOUBLE_EQ(predict(small, steady, huge).finish_seconds, 0.26);
}

TEST(Prediction, IdleTimeGrowsButNotItsShare) {
    // The longest stage waited 0.1 s of 1.1, then 0.4 s of 2.4: 0.3 s for each second of work.
    const MeasuredRun small = run_of({100, 0, 0}, 1.1, {1, 0, 0, 0, 0, 0, 0});
    const MeasuredRun large = run_of({200, 0, 0}, 2.4, {2, 0, 0, 0, 0, 0, 0});
    const std::array whole = {PassWork{1000, 0, 0}};
    // By the line 0.4 + 0.3 · 8 = 2.8; by the share of the larger part 0.4 · 10 / 2 = 2.
    EXPECT_DOUBLE_EQ(predict(small, large, whole).passes[0].idle_seconds, 2);
}

TEST(Prediction, PassesAddUp) {
    const MeasuredPass pass{{10, 10, 0}, 1, {1, 0, 0, 0, 0, 0, 0}};
    const MeasuredRun run{0.25, 0.5, 0, {pass, pass}};
    const std::array whole = {PassWork{20, 20, 0}, PassWork{70, 70, 0}};
    EXPECT_DOUBLE_EQ(predict(run, run, whole).seconds(), 0.25 + 2 + 7 + 0.5);
}

} // namespace
} // namespace runner::trial
