// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/transpose/transpose_job.hpp"

#include "base/error.hpp"

#include <utility>

#include <gtest/gtest.h>

namespace runner {
namespace {

TableEntries permutation(std::initializer_list<std::int64_t> axes) {
    TableArray array;
    for (const std::int64_t axis : axes) {
        array.push_back({axis, {}, {}});
    }
    return {{"permutation", {array, {}, {}}}};
}

std::string complaint(const TableEntries& entries) {
    Diagnostics diagnostics;
    TableReader reader(entries, {1, 1}, "transpose", diagnostics);
    EXPECT_EQ(parse_transpose(reader), nullptr);
    return diagnostics.entries().empty() ? "" : diagnostics.entries().front().text;
}

std::unique_ptr<KindParameters> parse(const TableEntries& entries) {
    Diagnostics diagnostics;
    TableReader reader(entries, {1, 1}, "transpose", diagnostics);
    std::unique_ptr<KindParameters> parameters = parse_transpose(reader);
    EXPECT_TRUE(diagnostics.entries().empty());
    return parameters;
}

PermuteShape shape_of(const TableEntries& entries, const ArrayInfo& input) {
    const std::unique_ptr<Job> job = parse(entries)->make({input, {}}, std::nullopt);
    return dynamic_cast<const PermuteJob&>(*job).shape();
}

TEST(TransposeJob, PermutesExtents) {
    const PermuteShape shape = shape_of(permutation({1, 2, 0}), {ElementType::uint16, {5, 7, 11}});
    EXPECT_EQ(shape.output, (ArrayInfo{ElementType::uint16, {7, 11, 5}}));
    EXPECT_EQ(shape.input, (Extents{5, 7, 11}));
    EXPECT_EQ(shape.permutation, (std::vector{1, 2, 0}));
    EXPECT_EQ(shape.element_bytes, 2);
}

TEST(TransposeJob, TakesAllAxesOfMore) {
    const PermuteShape shape =
        shape_of(permutation({0, 2, 1, 4, 3}), {ElementType::int8, {2, 3, 5, 7, 11}});
    EXPECT_EQ(shape.output.shape, (std::vector<std::int64_t>{2, 5, 3, 11, 7}));
    EXPECT_EQ(shape.input, (Extents{2, 3, 5, 7, 11}));
    EXPECT_EQ(shape.permutation, (std::vector{0, 2, 1, 4, 3}));
}

TEST(TransposeJob, PadsFewerAxesInFront) {
    const PermuteShape image = shape_of(permutation({1, 0}), {ElementType::float64, {5, 7}});
    EXPECT_EQ(image.output.shape, (std::vector<std::int64_t>{7, 5}));
    EXPECT_EQ(image.input, (Extents{1, 5, 7}));
    EXPECT_EQ(image.permutation, (std::vector{0, 2, 1}));
    const PermuteShape padded = shape_of(permutation({2, 0, 1}), {ElementType::float64, {5, 7}});
    EXPECT_EQ(padded.output.shape, (std::vector<std::int64_t>{7, 1, 5}));
    EXPECT_EQ(shape_of(permutation({2, 0, 1}), {ElementType::int8, {9}}).output.shape,
              (std::vector<std::int64_t>{9, 1, 1}));
}

TEST(TransposeJob, RefusesWhatIsNoPermutation) {
    for (const auto& axes : {permutation({0, 1, 1}), permutation({1, 2, 3}), permutation({0}),
                             permutation({0, 1, 2, 4}), permutation({})}) {
        EXPECT_NE(complaint(axes).find("in some order"), std::string::npos) << complaint(axes);
    }
    EXPECT_NE(complaint({}).find("transpose.permutation is missing"), std::string::npos);
}

TEST(TransposeJob, RefusesInputsThatDoNotFit) {
    const auto failure = [](const TableEntries& entries, const ArrayInfo& input,
                            std::optional<ElementType> output) {
        try {
            parse(entries)->make({input, {}}, output);
            return std::pair(0, std::string());
        } catch (const Error& error) {
            return std::pair(static_cast<int>(error.code()), error.text().where);
        }
    };
    using Failure = std::pair<int, std::string>;
    const TableEntries three = permutation({2, 1, 0});
    EXPECT_EQ(failure(three, {ElementType::uint8, {1, 2, 3, 4}}, {}),
              (Failure{2, "transpose.permutation"}));
    EXPECT_EQ(failure(permutation({3, 2, 1, 0}), {ElementType::uint8, {1, 2, 3}}, {}),
              (Failure{2, "transpose.permutation"}));
    EXPECT_EQ(failure(three, {ElementType::uint8, {1, 0, 3}}, {}), (Failure{3, "input.dataset"}));
    EXPECT_EQ(failure(three, {ElementType::uint8, {1, 2, 3}}, ElementType::int8),
              (Failure{2, "output.dtype"}));
    EXPECT_EQ(failure(permutation({1, 0}), {ElementType::uint8, {1, 2, 3}}, {}),
              (Failure{2, "transpose.permutation"}));
    EXPECT_EQ(failure(three, {ElementType::uint8, {1, 2, 3}}, ElementType::uint8),
              (Failure{0, ""}));
}

} // namespace
} // namespace runner
