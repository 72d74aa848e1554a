// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/bin/bin_job.hpp"

#include "base/error.hpp"
#include "tests/support/table_values.hpp"

#include <gtest/gtest.h>

namespace runner {
namespace {

std::unique_ptr<Job> make(const TableEntries& entries, const ArrayInfo& input,
                          std::optional<int> channels = {}) {
    return parsed("bin", parse_bin, entries)->make({input, {}, channels}, std::nullopt);
}

StreamShape shape_of(const std::unique_ptr<Job>& job) {
    return dynamic_cast<const StreamJob&>(*job).shape();
}

TEST(BinJob, OutputsHaveTheBlocks) {
    const TableEntries planes = {{"factors", integers({3, 2})}};
    const auto job = make(planes, {ElementType::uint16, {4, 10, 7}});
    EXPECT_EQ(job->output(), (ArrayInfo{ElementType::uint16, {4, 3, 3}}));
    const StreamShape shape = shape_of(job);
    EXPECT_EQ(shape.frames, 4);
    EXPECT_EQ(shape.rows, 10);
    EXPECT_EQ(shape.made.layer, 3);
    EXPECT_EQ(shape.made.before(9), 3);
    EXPECT_EQ(shape.made.before(10), 3);

    const TableEntries volume = {{"factors", integers({2, 2, 2})},
                                 {"edge", of(std::string("partial"))},
                                 {"value", of(std::string("sum"))}};
    const auto sums = make(volume, {ElementType::uint16, {5, 10, 7}});
    EXPECT_EQ(sums->output(), (ArrayInfo{ElementType::float64, {3, 5, 4}}));
    EXPECT_EQ(shape_of(sums).frames, 1);
    EXPECT_EQ(shape_of(sums).made.layer, 20);
    EXPECT_EQ(shape_of(sums).made.before(20), 5);
    EXPECT_EQ(shape_of(sums).made.before(50), 15);
}

TEST(BinJob, ColourIsNoAxisOfTheImage) {
    const auto job = make({{"factors", integers({2, 2})}}, {ElementType::uint8, {6, 8, 3}}, 3);
    EXPECT_EQ(job->output(), (ArrayInfo{ElementType::uint8, {3, 4, 3}}));
    EXPECT_EQ(job->channels(), 3);
    EXPECT_EQ(shape_of(job).rows, 48);
    EXPECT_EQ(shape_of(job).made.layer, 16);
    EXPECT_EQ(shape_of(job).made.each, 4);
}

TEST(BinJob, RefusesWhatHasNoBlocks) {
    using Texts = std::vector<std::string>;
    EXPECT_EQ(complaints_of("bin", parse_bin, {}),
              (Texts{"bin.factors is missing: write [z, y, x] or [y, x], as [1, 2, 2]"}));
    EXPECT_EQ(
        complaints_of("bin", parse_bin, {{"factors", integers({2})}}),
        (Texts{
            "bin.factors: expected [z, y, x], [y, x] or one number for y and x, got 1 numbers"}));
    EXPECT_EQ(complaints_of("bin", parse_bin, {{"factors", integers({2, 70000})}}),
              (Texts{"bin.factors: must be at most 65536, got [2, 70000]"}));
    EXPECT_EQ(complaints_of("bin", parse_bin, {{"factors", integers({0, 2})}}).size(), 1U);
    const auto failure = [](const TableEntries& entries, const ArrayInfo& input) {
        try {
            make(entries, input);
            return std::pair(0, std::string());
        } catch (const Error& error) {
            return std::pair(static_cast<int>(error.code()), error.text().where);
        }
    };
    using Failure = std::pair<int, std::string>;
    const TableEntries volume = {{"factors", integers({2, 2, 2})}};
    EXPECT_EQ(failure(volume, {ElementType::uint8, {1, 9, 9}}), (Failure{2, "bin.factors"}));
    EXPECT_EQ(failure(volume, {ElementType::uint8, {9, 9}}), (Failure{3, "input.dataset"}));
    EXPECT_EQ(failure(volume, {ElementType::uint8, {9, 0, 9}}), (Failure{3, "input.dataset"}));
}

} // namespace
} // namespace runner
