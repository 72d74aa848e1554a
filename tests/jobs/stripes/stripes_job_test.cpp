// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/stripes/stripes_job.hpp"

#include "base/error.hpp"
#include "tests/support/table_values.hpp"

#include <gtest/gtest.h>

namespace runner {
namespace {

std::unique_ptr<Job> make(const TableEntries& entries, const ArrayInfo& input,
                          std::optional<int> channels = {},
                          std::optional<ElementType> output = {}) {
    return parsed("stripes", parse_stripes, entries)->make({input, {}, channels}, output);
}

TEST(StripesJob, ASinogramIsALayer) {
    const auto job = make({{"size", of(std::int64_t{9})}}, {ElementType::uint16, {4, 10, 7}});
    const StreamShape shape = dynamic_cast<const StreamJob&>(*job).shape();
    EXPECT_EQ(shape.frames, 4);
    EXPECT_EQ(shape.rows, 10);
    EXPECT_EQ(shape.in_row_bytes, 14);
    EXPECT_EQ(shape.halo, 0);
    EXPECT_EQ(shape.made.layer, 10);
    EXPECT_EQ(shape.made.each, 10);
    EXPECT_EQ(job->locality()->reach, (std::array<std::int64_t, 3>{0, 10, 4}));
}

TEST(StripesJob, ScratchGrowsWithTheBlock) {
    const auto job = make({}, {ElementType::float32, {400, 100, 70}});
    const auto& stream = dynamic_cast<const StreamJob&>(*job);
    constexpr std::int64_t spare = 9 * 256; // for the alignment of its parts
    std::int64_t before = 0;
    for (std::int64_t frames = 1; frames <= 400; ++frames) {
        const std::int64_t bytes = stream.scratch_bytes(Backend::cuda, {frames, 0, 100, 0, 100});
        EXPECT_GE(bytes, before);
        before = bytes;
    }
    EXPECT_EQ(stream.scratch_bytes(Backend::cuda, {1, 0, 100, 0, 100}), 100 * 70 * (8 + 4) + spare);
    EXPECT_EQ(stream.scratch_bytes(Backend::cuda, {1, 0, 130, 0, 100}),
              2 * 100 * 70 * (8 + 4) + spare);
}

TEST(StripesJob, DefaultsAreWritten) {
    EXPECT_EQ(parsed("stripes", parse_stripes, {})->canonical(), "method = \"sort\"\nsize = 21\n");
    const auto of_method = [](const std::string& method) {
        return parsed("stripes", parse_stripes, {{"method", of(method)}})->canonical();
    };
    EXPECT_EQ(of_method("large"), "method = \"large\"\nsize = 51\nsnr = 3.0\n");
    EXPECT_EQ(of_method("all"), "method = \"all\"\nsize = 51\nsnr = 3.0\nsmall = 21\n");
}

TEST(StripesJob, RefusesWhatIsNoSinogram) {
    EXPECT_THROW(make({}, {ElementType::uint16, {7}}), Error);
    EXPECT_THROW(make({}, {ElementType::uint16, {4, 0, 7}}), Error);
    EXPECT_NO_THROW(make({}, {ElementType::uint8, {65536, 3, 3}}, 3));
    EXPECT_THROW(make({}, {ElementType::uint8, {65537, 3}}), Error);
    EXPECT_THROW(make({}, {ElementType::uint8, {65537, 3, 3}}, 3), Error);
    EXPECT_THROW(make({}, {ElementType::uint8, {4, 7}}, {}, ElementType::float32), Error);
    EXPECT_NO_THROW(make({}, {ElementType::uint8, {65536, 3}}));
}

} // namespace
} // namespace runner
