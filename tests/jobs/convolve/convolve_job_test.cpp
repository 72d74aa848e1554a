// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/convolve/convolve_job.hpp"

#include "base/error.hpp"
#include "io/input/open_rows.hpp"
#include "io/output/create_output.hpp"
#include "io/output/open_output_rows.hpp"
#include "io/rows/rows.hpp"
#include "jobs/convolve/taps.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <numeric>

#include <unistd.h>

namespace runner {
namespace {

TableValue of(auto data) { return {data, {}, {}}; }

TableValue list(std::initializer_list<double> numbers) {
    TableArray array;
    for (const double number : numbers) {
        array.push_back(of(number));
    }
    return of(array);
}

TableValue table(std::initializer_list<TableEntry> entries) { return of(TableEntries(entries)); }

std::unique_ptr<KindParameters> parse(const TableEntries& entries) {
    Diagnostics diagnostics;
    TableReader reader(entries, {1, 1}, "convolve", diagnostics);
    std::unique_ptr<KindParameters> parameters = parse_convolve(reader);
    reader.finish();
    EXPECT_TRUE(diagnostics.entries().empty());
    return parameters;
}

StreamShape shape_of(const std::unique_ptr<Job>& job) {
    return dynamic_cast<const StreamJob&>(*job).shape();
}

/// The exit code and the text of the error that `make` throws; 0 without one.
std::pair<int, std::string> failure(const KindParameters& parameters, const ArrayInfo& input,
                                    std::optional<ElementType> output = std::nullopt) {
    try {
        OwnFiles files;
        parameters.make({input, {}, {}, &files}, output);
        return {0, ""};
    } catch (const Error& error) {
        return {static_cast<int>(error.code()), error.what()};
    }
}

const TableEntries plain = {{"row_taps", list({1, 2, 3})}, {"column_taps", list({0, 1, 0, 0, 0})}};

TEST(Taps, GaussianHasTheWrittenShape) {
    // exp(-k²/2) for k = 0, 1, 2 is 1, 0.60653066, 0.13533528: five taps of sum 2.48373188.
    const std::vector<double> taps = make_taps(GaussianTaps{1.0, 2}, nullptr);
    const std::vector<double> expected = {0.0544886845, 0.244201342, 0.4026199469, 0.244201342,
                                          0.0544886845};
    ASSERT_EQ(taps.size(), expected.size());
    for (std::size_t i = 0; i < taps.size(); ++i) {
        EXPECT_NEAR(taps[i], expected[i], 1e-9);
    }
    EXPECT_NEAR(std::accumulate(taps.begin(), taps.end(), 0.0), 1.0, 1e-15);
}

TEST(Taps, GaussianOfExtremeWidthsIsFinite) {
    EXPECT_EQ(make_taps(GaussianTaps{1e-300, 1}, nullptr), (std::vector<double>{0, 1, 0}));
    EXPECT_EQ(make_taps(GaussianTaps{1e300, 1}, nullptr), std::vector<double>(3, 1.0 / 3));
    EXPECT_EQ(make_taps(GaussianTaps{2.0, 0}, nullptr), std::vector<double>{1});
}

TEST(Taps, BoxIsEqual) {
    EXPECT_EQ(make_taps(BoxTaps{0}, nullptr), std::vector<double>{1});
    EXPECT_EQ(make_taps(BoxTaps{2}, nullptr), std::vector<double>(5, 0.2));
}

/// Writes a dataset /taps; the file goes when this does.
class TapsFile {
  public:
    template <class T> TapsFile(const std::vector<T>& elements, std::vector<std::int64_t> shape) {
        const OutputDataset dataset{
            path_, "/taps", {element_type_of<T>(), std::move(shape)}, OutputLayout{}};
        create_output(dataset);
        const std::unique_ptr<RowWriter> writer = open_output_rows(dataset, 0, 1);
        const auto rows = dataset.array.shape.front();
        writer->write(0, rows, reinterpret_cast<const std::byte*>(elements.data()));
        writer->finish(RowWriter::Sync::no);
    }
    TapsFile(const TapsFile&) = delete;
    TapsFile& operator=(const TapsFile&) = delete;
    TapsFile(TapsFile&&) = delete;
    TapsFile& operator=(TapsFile&&) = delete;
    ~TapsFile() { std::filesystem::remove(path_); }

    TapsChoice choice() const { return FileTaps{path_, "/taps"}; }

    /// What make_taps says against them.
    std::string refusal() const {
        try {
            OwnFiles files;
            make_taps(choice(), &files);
            return "";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ExitCode::input);
            return error.text().why;
        }
    }

  private:
    std::string path_ = (std::filesystem::path(testing::TempDir()) /
                         ("convolve_job_test." + std::to_string(::getpid()) + ".h5"))
                            .string();
};

TEST(Taps, OfAFileAreItsElements) {
    OwnFiles files;
    EXPECT_EQ(make_taps(TapsFile(std::vector<double>{0.1, -2.5, 3}, {3}).choice(), &files),
              (std::vector<double>{0.1, -2.5, 3}));
    EXPECT_EQ(
        make_taps(TapsFile(std::vector<std::int16_t>{-1, 2, 300, 4, 5}, {5}).choice(), &files),
        (std::vector<double>{-1, 2, 300, 4, 5}));
    EXPECT_EQ(make_taps(TapsFile(std::vector<float>{0.5F}, {1}).choice(), &files),
              std::vector<double>{0.5});
    const std::vector<double> most(8193, 0.25);
    EXPECT_EQ(make_taps(TapsFile(most, {8193}).choice(), &files), most);
}

TEST(Taps, OfAFileMustBeOneAxisOddAndFinite) {
    const double infinity = std::numeric_limits<double>::infinity();
    EXPECT_EQ(TapsFile(std::vector<double>{1, 2}, {2}).refusal(),
              "there must be an odd number of taps, at most 8193, got 2");
    EXPECT_EQ(TapsFile(std::vector<double>(8195, 1), {8195}).refusal(),
              "there must be an odd number of taps, at most 8193, got 8195");
    EXPECT_EQ(TapsFile(std::vector<double>{1, 2, 3}, {1, 3}).refusal(), "its shape is [1, 3]");
    EXPECT_EQ(TapsFile(std::vector<double>{1, 2, -infinity}, {3}).refusal(),
              "tap 2 (from 0) is -inf");
}

TEST(ConvolveJob, DefaultsAreFilledIn) {
    TableEntries entries = {
        {"row_taps", table({{"gaussian", table({{"sigma", of(1.6)}})}})},
        {"column_taps", table({{"box", table({{"radius", of(std::int64_t{3})}})}})}};
    // radius: int(4 · 1.6 + 0.5) = 6
    EXPECT_EQ(parse(entries)->canonical(), "row_taps = { gaussian = { sigma = 1.6, radius = 6 } }\n"
                                           "column_taps = { box = { radius = 3 } }\n"
                                           "boundary = \"reflect\"\n"
                                           "fill = 0.0\n");
}

TEST(ConvolveJob, ShapeOfAnImageAndOfFrames) {
    const std::unique_ptr<KindParameters> parameters = parse(plain);
    const StreamShape image = shape_of(parameters->make({{ElementType::uint16, {7, 11}}, {}}, {}));
    EXPECT_EQ(image.output, (ArrayInfo{ElementType::uint16, {7, 11}}));
    EXPECT_EQ(image.frames, 1);
    EXPECT_EQ(image.rows, 7);
    EXPECT_EQ(image.in_row_bytes, 22);
    EXPECT_EQ(image.out_row_bytes, 22);
    EXPECT_EQ(image.halo, 2); // of the column taps; a row's own taps need no other row
    EXPECT_EQ(image.border, RowBorder::inside);

    const StreamShape frames =
        shape_of(parameters->make({{ElementType::uint8, {2, 3, 5, 4}}, {}}, ElementType::float64));
    EXPECT_EQ(frames.output, (ArrayInfo{ElementType::float64, {2, 3, 5, 4}}));
    EXPECT_EQ(frames.frames, 6);
    EXPECT_EQ(frames.rows, 5);
    EXPECT_EQ(frames.in_row_bytes, 4);
    EXPECT_EQ(frames.out_row_bytes, 32);
}

TEST(ConvolveJob, ShapeOfVolumes) {
    TableEntries entries = plain;
    entries.push_back({"depth_taps", list({1, 2, 3, 4, 5})});
    const std::unique_ptr<KindParameters> parameters = parse(entries);
    const StreamShape shape =
        shape_of(parameters->make({{ElementType::int16, {2, 3, 7, 5, 4}}, {}}, {}));
    EXPECT_EQ(shape.output, (ArrayInfo{ElementType::int16, {2, 3, 7, 5, 4}}));
    EXPECT_EQ(shape.frames, 6);
    EXPECT_EQ(shape.rows, 35);
    EXPECT_EQ(shape.in_row_bytes, 8);
    EXPECT_EQ(shape.halo, 10); // two layers: the column taps reach no other one
    EXPECT_EQ(shape.made.layer, 5);
    EXPECT_EQ(shape.made.each, 5);

    JobInput colour{{ElementType::uint8, {7, 5, 4, 3}}, {}};
    colour.channels = 3;
    const StreamShape pixels = shape_of(parameters->make(colour, {}));
    EXPECT_EQ(pixels.frames, 1);
    EXPECT_EQ(pixels.rows, 7 * 5 * 4); // a pixel is a row
    EXPECT_EQ(pixels.in_row_bytes, 3);
    EXPECT_EQ(pixels.halo, 2 * 5 * 4);
    EXPECT_EQ(pixels.made.layer, 5 * 4);

    EXPECT_EQ(failure(*parameters, {ElementType::uint8, {5, 4}}),
              std::pair(3, std::string("convolve.depth_taps need a third axis, before rows and "
                                       "columns (input.dataset): its shape is [5, 4]. Leave "
                                       "depth_taps out, or choose a dataset of volumes")));
    colour.array.shape = {5, 4, 3};
    EXPECT_THROW(parameters->make(colour, {}), Error);
}

TEST(ConvolveJob, DepthTapsChangeTheIdentityOnlyWhereTheyAreGiven) {
    TableEntries entries = plain;
    EXPECT_EQ(parse(entries)->canonical().find("depth"), std::string::npos);
    const ArrayInfo input{ElementType::float32, {3, 4, 5}};
    const std::string without = parse(entries)->make({input, {}}, {})->computation();
    entries.push_back({"depth_taps", table({{"box", table({{"radius", of(std::int64_t{0})}})}})});
    EXPECT_NE(parse(entries)->canonical().find("\ndepth_taps = { box = { radius = 0 } }\n"),
              std::string::npos);
    const std::string one = parse(entries)->make({input, {}}, {})->computation();
    entries.back() = {"depth_taps", list({2})};
    EXPECT_EQ(one.rfind(without, 0), 0U);
    EXPECT_NE(parse(entries)->make({input, {}}, {})->computation(), one);
    EXPECT_NE(one, without);
}

TEST(ConvolveJob, WrapNeedsTheOtherEnd) {
    TableEntries entries = plain;
    entries.push_back({"boundary", of(std::string("wrap"))});
    EXPECT_EQ(shape_of(parse(entries)->make({{ElementType::float32, {4, 4}}, {}}, {})).border,
              RowBorder::periodic);
}

TEST(ConvolveJob, RefusesInputsItDoesNotTake) {
    const std::unique_ptr<KindParameters> parameters = parse(plain);
    EXPECT_EQ(failure(*parameters, {ElementType::float32, {5}}),
              std::pair(3, std::string("convolve needs at least two axes, rows and columns "
                                       "(input.dataset): its shape is [5]. Choose a dataset of "
                                       "images")));
    EXPECT_EQ(failure(*parameters, {ElementType::float32, {0, 5}}).first, 3);
}

TEST(ConvolveJob, TakesAndMakesEveryNumberType) {
    const std::unique_ptr<KindParameters> parameters = parse(plain);
    for (const ElementType in : all_element_types) {
        EXPECT_EQ(shape_of(parameters->make({{in, {5, 6}}, {}}, {})).output,
                  (ArrayInfo{in, {5, 6}}));
        for (const ElementType out : all_element_types) {
            const StreamShape shape = shape_of(parameters->make({{in, {5, 6}}, {}}, out));
            EXPECT_EQ(shape.in_row_bytes, 6 * size_of(in));
            EXPECT_EQ(shape.out_row_bytes, 6 * size_of(out));
            EXPECT_EQ(shape.output.type, out);
        }
    }
}

TEST(ConvolveJob, RefusesTapsThatFloat32CannotHold) {
    const std::unique_ptr<KindParameters> parameters =
        parse({{"row_taps", list({1e39})}, {"column_taps", list({1})}});
    EXPECT_EQ(failure(*parameters, {ElementType::float64, {2, 2}}).first, 0);
    EXPECT_EQ(failure(*parameters, {ElementType::int32, {2, 2}}).first, 0);
    EXPECT_EQ(failure(*parameters, {ElementType::uint8, {2, 2}}).first, 2);
}

TEST(ConvolveJob, TapsOfAMissingFileAreAnInputError) {
    const std::unique_ptr<KindParameters> parameters =
        parse({{"row_taps", table({{"file", of(std::string("/nowhere/taps.h5"))},
                                   {"dataset", of(std::string("/taps"))}})},
               {"column_taps", list({1})}});
    EXPECT_EQ(failure(*parameters, {ElementType::float64, {2, 2}}).first, 3);
}

TEST(ConvolveJob, RunsTheKernel) {
    // Rows 1 2 3 / 4 5 6 with row taps 1 0 0 (a shift to the left, reversed) and column taps 2.
    const auto job = parse({{"row_taps", list({1, 0, 0})}, {"column_taps", list({2})}})
                         ->make({{ElementType::float32, {2, 3}}, {}}, {});
    const StreamJob& stream = dynamic_cast<const StreamJob&>(*job);
    const RowBlock block{1, 0, 2, 0, 2};
    const std::vector<float> in = {1, 2, 3, 4, 5, 6};
    std::vector<float> out(6);
    std::vector<std::byte> scratch(
        static_cast<std::size_t>(stream.scratch_bytes(Backend::cpu, block)));
    Queue queue = CpuQueue(2);
    stream.run(queue, block, reinterpret_cast<const std::byte*>(in.data()),
               reinterpret_cast<std::byte*>(out.data()), {scratch.data(), nullptr});
    EXPECT_EQ(out, (std::vector<float>{4, 6, 6, 10, 12, 12}));
}

TEST(Registry, KnowsTheKinds) {
    std::vector<std::string_view> names;
    for (const Kind& kind : kinds()) {
        names.push_back(kind.name);
    }
    EXPECT_EQ(names, (std::vector<std::string_view>{"bin", "convolve", "correct", "denoise", "fill",
                                                    "match", "median", "phase", "reduce", "rescale",
                                                    "sand", "stitch", "stripes", "transpose"}));
}

} // namespace
} // namespace runner
