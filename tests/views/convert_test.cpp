// SPDX-License-Identifier: BSD-3-Clause
// Whole conversions against a packer of its own are in tests/end_to_end/sand_files.py.
#include "views/convert.hpp"

#include "base/error.hpp"
#include "io/input/generations.hpp"
#include "io/input/open_rows.hpp"
#include "io/inspect/file_content.hpp"
#include "io/inspect/inspect_dataset.hpp"
#include "io/output/publish_output.hpp"
#include "tests/io/dataset_file.hpp"
#include "tests/io/read_png.hpp"
#include "tests/io/scratch_folder.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace runner {
namespace {

OwnFiles& own_files() {
    static OwnFiles files;
    return files;
}

using Bytes = std::vector<std::uint8_t>;
using Numbers = std::vector<std::uint64_t>;

class Convert : public testing::Test {
  protected:
    void SetUp() override {
        for (std::size_t i = 0; i < cells_.size(); ++i) {
            cells_[i] = static_cast<std::uint8_t>(i * i % 7 % 4);
        }
        write_dataset(path("in.h5"), "/frames", {4, 3, 5}, cells_);
    }

    std::string path(const std::string& name) const { return folder_ / name; }

    ConvertRequest request(const std::string& input, const std::string& output) const {
        ConvertRequest made;
        made.input = path(input);
        made.dataset = "/frames";
        made.output = path(output);
        made.output_dataset = "/frames";
        made.threads = 2;
        return made;
    }

    void to(const std::string& input, const std::string& output) const {
        convert(own_files(), request(input, output));
    }

    Bytes frame(std::size_t index) const {
        const auto first = cells_.begin() + static_cast<std::ptrdiff_t>(index * 15);
        return {first, first + 15};
    }

    bool is_said_to_be_sand(const std::string& name) const {
        const AttributeList attributes = root_attributes(path(name));
        return std::any_of(attributes.begin(), attributes.end(), [](const auto& each) {
            return each.first == "kind" && each.second == AttributeValue("sand");
        });
    }

    std::size_t files() const {
        const std::filesystem::directory_iterator entries(folder_.path());
        return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
    }

    ScratchFolder folder_;
    Bytes cells_ = Bytes(60);
};

TEST_F(Convert, ThereAndBackIsTheSame) {
    to("in.h5", "a.sand");
    EXPECT_EQ(read_dataset<std::uint8_t>(path("a.sand"), ""), cells_);
    to("a.sand", "b.h5");
    EXPECT_EQ(inspect_dataset(path("b.h5"), "/frames").array.shape,
              (std::vector<std::int64_t>{4, 3, 5}));
    EXPECT_EQ(read_dataset<std::uint8_t>(path("b.h5"), "/frames"), cells_);
    EXPECT_EQ(read_generations(own_files(), path("b.h5"), "/frames", 4), (Numbers{1, 2, 3, 4}));
    EXPECT_TRUE(is_said_to_be_sand("b.h5"));
    EXPECT_EQ(files(), 3); // nothing partial
}

TEST_F(Convert, TakesTheFramesThatAreChosen) {
    to("in.h5", "a.sand");
    ConvertRequest some = request("a.sand", "b.h5");
    some.frames = parse_frames("1:4:2");
    some.first_generation = 100;
    some.output_dataset = "/run/frames";
    convert(own_files(), some);
    Bytes expected = frame(1);
    const Bytes last = frame(3);
    expected.insert(expected.end(), last.begin(), last.end());
    EXPECT_EQ(read_dataset<std::uint8_t>(path("b.h5"), "/run/frames"), expected);
    EXPECT_EQ(read_generations(own_files(), path("b.h5"), "/run/frames", 2), (Numbers{101, 103}));
    some = request("b.h5", "c.sand");
    some.dataset = "/run/frames";
    some.frames = one_frame(1);
    convert(own_files(), some);
    EXPECT_EQ(read_dataset<std::uint8_t>(path("c.sand"), ""), last);
}

TEST_F(Convert, MendsACountThatIsWrong) {
    to("in.h5", "a.sand");
    std::fstream file(path("a.sand"), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(12).put(1);
    file.close();
    EXPECT_EQ(inspect_dataset(path("a.sand"), "").notes.size(), 1);
    to("a.sand", "b.sand");
    EXPECT_TRUE(inspect_dataset(path("b.sand"), "").notes.empty());
    EXPECT_EQ(read_dataset<std::uint8_t>(path("b.sand"), ""), cells_);
}

TEST_F(Convert, OtherElementsStayWhatTheyAreInHdf5) {
    write_dataset<float>(path("f.h5"), "/frames", {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
    ConvertRequest last = request("f.h5", "g.h5");
    last.frames = one_frame(1);
    convert(own_files(), last);
    EXPECT_EQ(read_dataset<float>(path("g.h5"), "/frames"), (std::vector<float>{5, 6, 7, 8}));
    EXPECT_FALSE(read_generations(own_files(), path("g.h5"), "/frames", 1));
    EXPECT_FALSE(is_said_to_be_sand("g.h5"));
}

TEST_F(Convert, APictureHasAPixelACell) {
    to("in.h5", "a.sand");
    ConvertRequest picture = request("a.sand", "a.png");
    picture.frames = one_frame(2);
    convert(own_files(), picture);
    const Picture colours = read_png(path("a.png"));
    EXPECT_EQ(colours.width, 5);
    EXPECT_EQ(colours.height, 3);
    EXPECT_EQ(colours.channels, 3);
    Bytes expected;
    for (const std::uint8_t cell : frame(2)) {
        expected.insert(expected.end(), sand_colours[cell].begin(), sand_colours[cell].end());
    }
    EXPECT_EQ(colours.pixels, expected);

    picture.palette = Palette::grey;
    picture.overwrite = Overwrite::yes;
    convert(own_files(), picture);
    EXPECT_EQ(read_png(path("a.png")).pixels, frame(2));
    // Without a word of sand in the file.
    ConvertRequest plain = request("in.h5", "b.png");
    plain.frames = one_frame(2);
    convert(own_files(), plain);
    EXPECT_EQ(read_png(path("b.png")).channels, 1);
    plain.palette = Palette::sand;
    plain.overwrite = Overwrite::yes;
    convert(own_files(), plain);
    EXPECT_EQ(read_png(path("b.png")).pixels, expected);
}

TEST_F(Convert, ASequenceHasTheGenerationsInItsNames) {
    write_generations(path("in.h5"), "/frames", Numbers{0, 50, 100, 150});
    ConvertRequest all = request("in.h5", "out.png");
    all.frames = parse_frames("1:4:2");
    convert(own_files(), all);
    EXPECT_EQ(read_png(path("out-000050.png")).pixels, frame(1));
    EXPECT_EQ(read_png(path("out-000150.png")).pixels, frame(3));
    EXPECT_EQ(files(), 3);
    // One of them is there: none is touched.
    std::filesystem::remove(path("out-000050.png"));
    const auto error = error_of([&] { convert(own_files(), all); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ExitCode::output);
    EXPECT_EQ(error->text().where, path("out-000150.png"));
    EXPECT_EQ(files(), 2);
}

TEST_F(Convert, SandOfThreeColumnsHasNoColoursOfItsOwn) {
    write_dataset<std::uint8_t>(path("n.h5"), "/frames", {1, 2, 3}, {0, 1, 2, 3, 2, 1});
    to("n.h5", "colour.png");
    ConvertRequest image = request("n.h5", "image.png");
    image.colour = false;
    convert(own_files(), image);
    EXPECT_EQ(read_png(path("image.png")).width, 3);
    EXPECT_EQ(read_png(path("colour.png")).width, 2);
    to("n.h5", "n.sand");
    to("n.sand", "n.png");
    EXPECT_EQ(read_png(path("n.png")).width, 3);
}

TEST_F(Convert, KeepsTheShapeUnlessFramesAreChosen) {
    write_dataset<float>(path("f.h5"), "/frames", {2, 1, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
    using Shape = std::vector<std::int64_t>;
    const auto shape_of = [&](const std::string& name) {
        return inspect_dataset(path(name), "/frames").array.shape;
    };
    to("f.h5", "f.npy");
    EXPECT_EQ(shape_of("f.npy"), (Shape{2, 1, 2, 2}));
    to("f.npy", "g.h5");
    EXPECT_EQ(shape_of("g.h5"), (Shape{2, 1, 2, 2}));
    ConvertRequest some = request("f.h5", "h.npy");
    some.frames = parse_frames("1:2");
    convert(own_files(), some);
    EXPECT_EQ(shape_of("h.npy"), (Shape{1, 2, 2}));
    some.frames = one_frame(1);
    some.output = path("i.npy");
    convert(own_files(), some);
    EXPECT_EQ(shape_of("i.npy"), (Shape{2, 2}));
    EXPECT_EQ(read_dataset<float>(path("i.npy"), ""), (std::vector<float>{5, 6, 7, 8}));
}

TEST_F(Convert, NamesTheCellThatIsNoMaterial) {
    cells_[2 * 15 + 1 * 5 + 4] = 4;
    write_dataset(path("bad.h5"), "/frames", {4, 3, 5}, cells_);
    ConvertRequest picture = request("bad.h5", "bad.png");
    picture.frames = one_frame(2);
    picture.palette = Palette::sand;
    for (const ConvertRequest& each : {request("bad.h5", "bad.sand"), picture}) {
        const auto error = error_of([&] { convert(own_files(), each); });
        ASSERT_TRUE(error);
        EXPECT_EQ(error->code(), ExitCode::input);
        EXPECT_EQ(error->text().where, path("bad.h5") + ":/frames, frame 2, row 1, column 4");
        EXPECT_NE(error->text().why.find("it is 4"), std::string::npos);
    }
    EXPECT_EQ(files(), 2);
}

TEST_F(Convert, RefusesWhatItCannotDo) {
    write_dataset<float>(path("f.h5"), "/frames", {1, 2, 2}, {1, 2, 3, 4});
    write_dataset<std::uint8_t>(path("line.h5"), "/frames", {4}, {1, 2, 3, 0});
    to("in.h5", "there.sand");
    struct Case {
        const char* input;
        const char* output;
        ExitCode code;
        const char* words;
    };
    for (const Case& each : {
             Case{"in.h5", "a.n5", ExitCode::usage, ".mrc, .ome.zarr and .zarr to make"},
             Case{"in.h5", "a", ExitCode::usage, "to make"},
             Case{"a.jpg", "a.h5", ExitCode::usage, ".ozx and HDF5 files to read"},
             Case{"a.raw", "a.h5", ExitCode::usage, "--shape"},
             Case{"a.tif", "a.h5", ExitCode::input, "No such file"},
             Case{"in.h5", "a.png", ExitCode::usage, "has 4"},
             Case{"f.h5", "a.png", ExitCode::usage, "runner render"},
             Case{"f.h5", "a.sand", ExitCode::usage, "each a uint8"},
             Case{"line.h5", "a.sand", ExitCode::input, "one axis only"},
             Case{"none.h5", "a.sand", ExitCode::input, "No such file"},
             Case{"in.h5", "there.sand", ExitCode::output, "--overwrite"},
             Case{"in.h5", "none/a.sand", ExitCode::output, "No such file"},
         }) {
        const auto error = error_of([&] { to(each.input, each.output); });
        ASSERT_TRUE(error) << each.output;
        EXPECT_EQ(error->code(), each.code) << error->what();
        EXPECT_NE(std::string(error->what()).find(each.words), std::string::npos) << error->what();
    }
    EXPECT_EQ(files(), 4);
}

TEST_F(Convert, NeverWritesOverItsInput) {
    to("in.h5", "a.sand.partial.sand");
    std::filesystem::rename(path("a.sand.partial.sand"), path("a.sand.partial"));
    const auto error = error_of([&] { to("a.sand.partial", "a.sand"); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ExitCode::usage);
    EXPECT_EQ(read_dataset<std::uint8_t>(path("a.sand.partial"), ""), cells_);
    for (const char* name : {"s_*.tif.publishing", "s_*.tif.replacing", "s_*.tif.replaced",
                             "s_*.tif.lock", "s_*.tif.journal"}) {
        std::filesystem::copy_file(path("in.h5"), path(name));
        const auto taken = error_of([&] { to(name, "s_*.tif"); });
        ASSERT_TRUE(taken) << name;
        EXPECT_EQ(taken->code(), ExitCode::usage) << taken->what();
        EXPECT_NE(std::string(taken->what()).find("beside it while it is made"), std::string::npos);
        EXPECT_EQ(std::filesystem::file_size(path(name)),
                  std::filesystem::file_size(path("in.h5")));
    }
}

} // namespace
} // namespace runner
