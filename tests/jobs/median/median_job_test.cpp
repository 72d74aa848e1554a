// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/median/median_job.hpp"

#include "base/error.hpp"
#include "tests/support/table_values.hpp"

#include <gtest/gtest.h>

namespace runner {
namespace {

std::unique_ptr<Job> make(const TableEntries& entries, const ArrayInfo& input,
                          std::optional<int> channels = {},
                          std::optional<ElementType> output = {}) {
    return parsed("median", parse_median, entries)->make({input, {}, channels}, output);
}

StreamShape shape_of(const std::unique_ptr<Job>& job) {
    return dynamic_cast<const StreamJob&>(*job).shape();
}

TEST(MedianJob, RowsAreOfImagesOrOfLayers) {
    const StreamShape planes =
        shape_of(make({{"size", integers({5, 3})}}, {ElementType::uint16, {4, 10, 7}}));
    EXPECT_EQ(planes.frames, 4);
    EXPECT_EQ(planes.rows, 10);
    EXPECT_EQ(planes.halo, 2);
    EXPECT_EQ(planes.made.layer, 1);
    EXPECT_EQ(planes.border, RowBorder::inside);
    const StreamShape volume =
        shape_of(make({{"size", integers({3, 5, 3})}, {"boundary", of(std::string("wrap"))}},
                      {ElementType::uint16, {2, 4, 10, 7}}));
    EXPECT_EQ(volume.frames, 2);
    EXPECT_EQ(volume.rows, 40);
    EXPECT_EQ(volume.halo, 10);
    EXPECT_EQ(volume.made.layer, 10);
    EXPECT_EQ(volume.made.each, 10);
    EXPECT_EQ(volume.border, RowBorder::periodic);
}

/// A row of the dataset is then a pixel, and rows of the image stay together.
TEST(MedianJob, TakesSamplesOfColourApart) {
    const auto job = make({{"size", integers({3, 5, 3})}, {"boundary", of(std::string("wrap"))}},
                          {ElementType::uint16, {2, 4, 10, 7, 3}}, 3);
    const StreamShape shape = shape_of(job);
    EXPECT_EQ(shape.output.shape, (std::vector<std::int64_t>{2, 4, 10, 7, 3}));
    EXPECT_EQ(shape.frames, 2);
    EXPECT_EQ(shape.rows, 280);
    EXPECT_EQ(shape.in_row_bytes, 6);
    EXPECT_EQ(shape.out_row_bytes, 6);
    EXPECT_EQ(shape.halo, 70);
    EXPECT_EQ(shape.made.layer, 70);
    EXPECT_EQ(shape.made.each, 70);
    EXPECT_EQ(shape.border, RowBorder::periodic);
    EXPECT_EQ(job->channels(), 3);
    EXPECT_EQ(job->axis_work(5), (std::vector<std::string>{"each by itself", "filtered", "filtered",
                                                           "filtered", "each by itself"}));
}

TEST(MedianJob, DefaultsAreWritten) {
    EXPECT_EQ(parsed("median", parse_median, {})->canonical(),
              "size = [1, 3, 3]\nboundary = \"reflect\"\nfill = 0.0\n");
    EXPECT_EQ(parsed("median", parse_median,
                     {{"difference", of(2.5)}, {"boundary", of(std::string("mirror"))}})
                  ->canonical(),
              "size = [1, 3, 3]\nboundary = \"mirror\"\nfill = 0.0\ndifference = 2.5\n");
    EXPECT_EQ(parsed("median", parse_median, {{"side", of(std::string("below"))}})->canonical(),
              "size = [1, 3, 3]\nboundary = \"reflect\"\nfill = 0.0\nside = \"below\"\n");
    EXPECT_EQ(parsed("median", parse_median, {{"side", of(std::string("both"))}})->canonical(),
              parsed("median", parse_median, {})->canonical());
}

TEST(MedianJob, RefusesWrongSizes) {
    const auto complaints = [](const TableEntries& entries) {
        return complaints_of("median", parse_median, entries);
    };
    using Texts = std::vector<std::string>;
    EXPECT_EQ(complaints({{"size", integers({2, 3})}}),
              (Texts{"median.size: each must be odd, from 1 to 15, got [1, 2, 3]"}));
    EXPECT_EQ(complaints({{"size", integers({3, 17})}}),
              (Texts{"median.size: each must be odd, from 1 to 15, got [1, 3, 17]"}));
    EXPECT_EQ(complaints({{"size", integers({9, 9, 9})}}),
              (Texts{"median.size: at most 343 elements, got 729 of [9, 9, 9]"}));
    EXPECT_EQ(
        complaints({{"size", integers({3})}, {"difference", of(-1.0)}}),
        (Texts{"median.size: expected [z, y, x], [y, x] or one number for y and x, got 1 numbers",
               "median.difference: must be 0 or more, got -1.0"}));
}

TEST(MedianJob, RefusesInputsThatDoNotFit) {
    const auto failure = [](const ArrayInfo& input, std::optional<int> channels,
                            std::optional<ElementType> output) {
        try {
            make({{"size", integers({3, 3, 3})}}, input, channels, output);
            return std::pair(0, std::string());
        } catch (const Error& error) {
            return std::pair(static_cast<int>(error.code()), error.text().where);
        }
    };
    using Failure = std::pair<int, std::string>;
    const ArrayInfo volume = {ElementType::uint8, {5, 6, 3}};
    EXPECT_EQ(failure(volume, {}, {}), (Failure{0, ""}));
    EXPECT_EQ(failure(volume, 3, {}), (Failure{3, "input.dataset"})) << "an image of colour";
    EXPECT_EQ(failure({ElementType::uint8, {5, 6}}, {}, {}), (Failure{3, "input.dataset"}));
    EXPECT_EQ(failure({ElementType::uint8, {5, 0, 6}}, {}, {}), (Failure{3, "input.dataset"}));
    EXPECT_EQ(failure(volume, {}, ElementType::float32), (Failure{2, "output.dtype"}));
}

} // namespace
} // namespace runner
