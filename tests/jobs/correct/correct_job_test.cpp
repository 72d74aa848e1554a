// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/correct/correct_job.hpp"

#include "base/error.hpp"
#include "io/input/open_rows.hpp"
#include "tests/io/dataset_file.hpp"
#include "tests/io/scratch_folder.hpp"
#include "tests/support/queues.hpp"
#include "tests/support/table_values.hpp"

#include <cmath>
#include <limits>
#include <vector>

namespace runner {
namespace {

using Shape = std::vector<std::int64_t>;

std::vector<std::string> complaints(const TableEntries& entries) {
    return complaints_of("correct", parse_correct, entries);
}

TableValue text(const char* value) { return of(std::string(value)); }

/// A file with images, and the input of a job that reads it.
class Scan {
  public:
    Scan() : file_(folder_ / "scan.h5") {}

    template <class T>
    void add(const std::string& file, const Shape& shape, std::vector<T> values) {
        write_dataset<T>(folder_ / file, "/data", shape, values);
    }

    std::string path(const std::string& file) const { return folder_ / file; }

    JobInput input(const Shape& shape) {
        JobInput given{{ElementType::uint16, shape}, {path("scan.h5"), "/data"}};
        given.files = &files_;
        return given;
    }

    /// `{ file = FILE, dataset = "/data", reduce = REDUCE }`
    TableValue images(const std::string& file, const char* reduce) const {
        return table(
            {{"file", of(path(file))}, {"dataset", text("/data")}, {"reduce", text(reduce)}});
    }

  private:
    ScratchFolder folder_;
    std::string file_;
    OwnFiles files_;
};

std::unique_ptr<Job> make(const TableEntries& entries, const JobInput& input) {
    return parsed("correct", parse_correct, entries)->make(input, std::nullopt);
}

struct Made {
    std::vector<float> values;
    std::vector<std::int64_t> counts;
};

/// What the job makes of a block of rows of one frame, or of whole frames.
Made made(const Job& job, const std::vector<std::uint16_t>& in, const RowBlock& block,
          std::int64_t counted_first, std::int64_t counted_last) {
    const auto& stream = dynamic_cast<const StreamJob&>(job);
    Queue queue = CpuQueue(2);
    auto& own = std::get<CpuQueue>(queue);
    const Buffer kept = allocate_device(own, stream.kept_bytes(Backend::cpu));
    stream.prepare(queue, kept.data());
    std::vector<float> out(in.size());
    stream.run(queue, block, reinterpret_cast<const std::byte*>(in.data()),
               reinterpret_cast<std::byte*>(out.data()),
               {nullptr, kept.data(), counted_first, counted_last});
    return {out, stream.counts(queue, kept.data())};
}

TEST(CorrectJob, ComplainsOfEveryWrongKey) {
    using Texts = std::vector<std::string>;
    EXPECT_TRUE(complaints({}).empty()); // an NXtomo scan has both
    EXPECT_TRUE(complaints({{"dark", of(0.5)}, {"flat", of(std::int64_t{3})}}).empty());
    EXPECT_EQ(complaints({{"dark", text("darks.h5")}, {"clip", list({2, 1})}, {"floor", of(0.0)}}),
              (Texts{"correct.dark: expected a number, or { file = \"darks.h5\", dataset = "
                     "\"/darks\", reduce = \"mean\" }, got a string",
                     "correct.clip: expected [low, high], got [2.0, 1.0]",
                     "correct.floor: must be above 0 in float32, got 0.0"}));
    EXPECT_EQ(
        complaints({{"flat", table({{"file", text("f.h5")}, {"reduce", text("sum")}})}}),
        (Texts{
            "correct.flat.reduce: unknown value \"sum\"; possible: mean, median, trimmed, none"}));
}

TEST(CorrectJob, TakesMeansAndMediansOfImages) {
    Scan scan;
    // Medians of four images of two pixels.
    scan.add<std::uint16_t>("flats.h5", {4, 1, 2}, {10, 7, 40, 9, 20, 1, 30, 3});
    scan.add<float>("darks.h5", {2, 1, 2}, {0, 1, 1, 2});
    const std::vector<std::uint16_t> in = {13, 4};
    const RowBlock whole{1, 0, 1, 0, 1};
    const auto values = [&](const TableEntries& entries) {
        return made(*make(entries, scan.input({1, 2})), in, whole, 0, 1).values;
    };
    // Mean: (25, 5) and (0.5, 1.5).
    EXPECT_EQ(values({{"flat", scan.images("flats.h5", "mean")},
                      {"dark", scan.images("darks.h5", "mean")}}),
              (std::vector<float>{12.5F / 24.5F, 2.5F / 3.5F}));
    // The middle two of 10, 20, 30, 40 and of 1, 3, 7, 9.
    EXPECT_EQ(values({{"flat", scan.images("flats.h5", "median")}, {"dark", of(1.0)}}),
              (std::vector<float>{12.0F / 24.0F, 3.0F / 4.0F}));
    scan.add<std::int16_t>("one.h5", {1, 2}, {-1, 4});
    EXPECT_EQ(values({{"flat", scan.images("one.h5", "none")}, {"dark", of(0.0)}}),
              (std::vector<float>{0, 1}));
}

TEST(CorrectJob, PutsNanAboveAllNumbersInAMedian) {
    Scan scan;
    const float nan = std::numeric_limits<float>::quiet_NaN();
    scan.add<float>("flats.h5", {3, 1, 2}, {nan, nan, 2, nan, 4, 5});
    const auto job =
        make({{"flat", scan.images("flats.h5", "median")}, {"dark", of(0.0)}}, scan.input({1, 2}));
    EXPECT_EQ(made(*job, {8, 8}, {1, 0, 1, 0, 1}, 0, 1).values, (std::vector<float>{2, 0}));
    EXPECT_EQ(job->known_counts().front().value, 1); // the median of two NaN and a number
}

TEST(CorrectJob, NeedsBothFieldsOrAnImageKey) {
    Scan scan;
    const auto missing = error_of([&] { make({{"flat", of(1.0)}}, scan.input({2, 2, 2})); });
    ASSERT_TRUE(missing);
    EXPECT_EQ(missing->code(), ExitCode::usage);
    EXPECT_EQ(missing->text().what, "correct has no dark field");
}

TEST(CorrectJob, NamesBothShapesWhereTheyDiffer) {
    Scan scan;
    scan.add<float>("darks.h5", {3, 4, 5}, std::vector<float>(60));
    const auto error = error_of([&] {
        make({{"dark", scan.images("darks.h5", "mean")}, {"flat", of(1.0)}}, scan.input({7, 5, 4}));
    });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->text().why,
              "its shape is [3, 4, 5], and a frame of the input, [7, 5, 4], is [5, 4]");
    const auto several = error_of([&] {
        make({{"dark", scan.images("darks.h5", "none")}, {"flat", of(1.0)}}, scan.input({7, 4, 5}));
    });
    ASSERT_TRUE(several);
    EXPECT_EQ(several->text().why, "its shape is [3, 4, 5], which is 3 images of [4, 5]");
}

TEST(CorrectJob, CutsImagesToTheInputsRegion) {
    Scan scan;
    scan.add<std::uint16_t>("scan.h5", {1, 2, 3}, {1, 2, 3, 4, 5, 6});
    scan.add<std::uint16_t>("flats.h5", {2, 3}, {10, 20, 30, 40, 50, 60});
    JobInput input = scan.input({1, 1, 2});
    input.part = DatasetPart{{0, 1, 1}, {1, 1, 2}};
    const auto job = make({{"flat", scan.images("flats.h5", "mean")}, {"dark", of(0.0)}}, input);
    EXPECT_EQ(made(*job, {5, 6}, {1, 0, 1, 0, 1}, 0, 1).values,
              (std::vector<float>{5.0F / 50.0F, 6.0F / 60.0F}));
}

TEST(CorrectJob, CountsTheRowsThatAreItsOwn) {
    Scan scan;
    const TableEntries keys = {{"flat", of(10.0)}, {"dark", of(1.0)}, {"negative_log", of(true)}};
    const auto rows = make(keys, scan.input({6, 1}));
    // Rows 1 … 5, of which 2 and 3 are counted.
    const std::vector<std::uint16_t> in = {1, 0, 5, 1, 1};
    const Made part = made(*rows, in, {1, 1, 5, 1, 5}, 1, 3);
    EXPECT_EQ(part.counts, (std::vector<std::int64_t>{1}));
    EXPECT_EQ(made(*rows, in, {1, 1, 5, 1, 5}, 0, 5).counts, (std::vector<std::int64_t>{4}));
    EXPECT_EQ(made(*rows, in, {1, 1, 5, 1, 5}, 0, 5).values, part.values);
    // Several frames are whole ones.
    const auto frames = make(keys, scan.input({5, 1, 1}));
    EXPECT_EQ(made(*frames, in, {5, 0, 1, 0, 1}, 1, 4).counts, (std::vector<std::int64_t>{2}));
    EXPECT_TRUE(make({{"flat", of(1.0)}, {"dark", of(0.0)}}, scan.input({1, 1}))
                    ->known_counts()
                    .front()
                    .value == 0);
}

TEST(CorrectJob, IdentityFollowsTheImages) {
    Scan scan;
    scan.add<float>("a.h5", {2, 1, 1}, {1, 3});
    scan.add<float>("b.h5", {2, 1, 1}, {2, 2});
    scan.add<float>("c.h5", {2, 1, 1}, {2, 3});
    const auto identity = [&](const char* file) {
        return make({{"flat", scan.images(file, "mean")}, {"dark", of(0.0)}}, scan.input({1, 1}))
            ->computation();
    };
    EXPECT_EQ(identity("a.h5"), identity("b.h5")); // the same mean
    EXPECT_NE(identity("a.h5"), identity("c.h5"));
}

TEST(CorrectJob, KeepsImagesOnADeviceAlone) {
    Scan scan;
    scan.add<float>("flats.h5", {9, 7}, std::vector<float>(63, 1));
    const auto job =
        make({{"flat", scan.images("flats.h5", "none")}, {"dark", of(0.0)}}, scan.input({2, 9, 7}));
    const auto& stream = dynamic_cast<const StreamJob&>(*job);
    EXPECT_EQ(stream.kept_bytes(Backend::cpu), 256);
    EXPECT_EQ(stream.kept_bytes(Backend::cuda), 512); // 63 floats
}

} // namespace
} // namespace runner
