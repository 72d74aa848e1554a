// SPDX-License-Identifier: BSD-3-Clause
#include "io/formats/sand_file.hpp"

#include "base/error.hpp"
#include "io/formats/rows_format.hpp"
#include "io/formats/sand_rows.hpp"
#include "io/input/check_dataset.hpp"
#include "tests/io/scratch_folder.hpp"

#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

constexpr std::int64_t int32_max = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t int64_max = std::numeric_limits<std::int64_t>::max();

/// The bytes of a little-endian int32, written down by division.
std::string four_bytes(std::int64_t value) {
    std::int64_t rest = value < 0 ? value + (std::int64_t{1} << 32) : value;
    std::string bytes;
    for (int i = 0; i < 4; ++i) {
        bytes += static_cast<char>(rest % 256);
        rest /= 256;
    }
    return bytes;
}

std::string header(std::int64_t width, std::int64_t height, std::int64_t count) {
    return "SAND" + four_bytes(width) + four_bytes(height) + four_bytes(count);
}

SandContent parse(const std::string& head, std::int64_t bytes) {
    return parse_sand(std::as_bytes(std::span(head)), bytes, "a.sand");
}

TEST(ParseSand, TakesWhatFits) {
    for (const auto& [width, height, frames, bytes] : {std::tuple{1, 1, 1, 17},
                                                       {1, 1, 3, 19},
                                                       {2, 2, 1, 17},
                                                       {5, 1, 1, 18},
                                                       {5, 7, 2, 34},
                                                       {400, 400, 1, 40016},
                                                       {3, 11, 9, 97}}) {
        const SandContent content = parse(header(width, height, frames), bytes);
        EXPECT_EQ(content.shape, (SandShape{width, height, frames}));
        EXPECT_EQ(content.shape.file_bytes(), bytes);
        EXPECT_TRUE(content.notes.empty());
    }
}

TEST(ParseSand, TakesSizesAsLargeAsTheHeaderHolds) {
    const SandShape wide{int32_max, int32_max, 1};
    EXPECT_EQ(wide.frame_bytes(), 1152921503533105153); // (2^31 - 1)^2 / 4, rounded up
    EXPECT_EQ(parse(header(int32_max, int32_max, 1), wide.file_bytes()).shape, wide);
    const SandShape many{1, 1, int32_max};
    EXPECT_EQ(parse(header(1, 1, int32_max), int32_max + 16).shape, many);
    // Frames that no header can count, and cells that 63 bits can still count.
    EXPECT_EQ(parse(header(1, 1, 1), int64_max).shape.frames, int64_max - 16);
}

TEST(ParseSand, TakesTheFramesThatAreThereAndSaysWhereTheHeaderDisagrees) {
    for (const std::int64_t said :
         {std::int64_t{1}, std::int64_t{0}, std::int64_t{-1}, std::int64_t{4}, int32_max}) {
        const SandContent content = parse(header(5, 7, said), 16 + 3 * 9);
        EXPECT_EQ(content.shape, (SandShape{5, 7, 3}));
        ASSERT_EQ(content.notes.size(), 1);
        EXPECT_EQ(content.notes.front(),
                  "the header's number of frames is wrong (a.sand, byte 12): it says " +
                      std::to_string(said) +
                      " and the file's length 3. All that are there are taken");
    }
}

struct Bad {
    std::string head;
    std::int64_t bytes;
    std::int64_t byte;
    std::string why;
};

TEST(ParseSand, NamesTheByteThatIsWrong) {
    const std::string good = header(5, 7, 1);
    const std::vector<Bad> all = {
        {"", 0, 0, "it is empty"},
        {"SA", 2, 2, "ends there, within its header"},
        {good.substr(0, 15), 15, 15, "ends there, within its header"},
        {"sAND" + good.substr(4), 25, 0, "begins with \"sAND\""},
        {"SANE" + good.substr(4), 25, 0, "begins with \"SANE\""},
        {"\x89HDF\r\n\x1a\n", 8, 0, R"(begins with "\x89HDF")"},
        {std::string("\n\0", 2), 2, 0, R"(begins with "\x0a\x00")"},
        {header(0, 7, 1), 25, 4, "the width is 0"},
        {header(-5, 7, 1), 25, 4, "the width is -5"},
        {header(-int32_max - 1, 7, 1), 25, 4, "the width is -2147483648"},
        {header(5, 0, 1), 25, 8, "the height is 0"},
        {header(5, -1, 1), 25, 8, "the height is -1"},
        {good, 16, 16, "5 x 7 cells takes 9 bytes, and after the header there are none"},
        {good, 24, 16, "after the header there are 8"},
        {good, 26, 25, "after 1 frame there is 1"},
        {good, 16 + 9 * 100 + 8, 916, "after 100 frames there are 8"},
        {header(1, 4, 1), 16, 16, "takes 1 byte, and after the header there are none"},
        {header(int32_max, int32_max, int32_max), 1000, 16, "there are 984"},
        {header(2, 2, 1), int64_max, 16, "more than 2^63 - 1"},
    };
    for (const Bad& bad : all) {
        const auto error = error_of([&] { (void)parse(bad.head, bad.bytes); });
        ASSERT_TRUE(error) << bad.why;
        EXPECT_EQ(error->code(), ExitCode::input);
        EXPECT_EQ(error->text().where, "a.sand, byte " + std::to_string(bad.byte)) << bad.why;
        EXPECT_NE(error->text().why.find(bad.why), std::string::npos) << error->what();
        EXPECT_FALSE(error->text().try_this.empty());
    }
}

TEST(ParseSand, RefusesEveryLengthButWholeFrames) {
    const std::string head = header(3, 5, 2); // frames of 4 bytes
    for (std::int64_t bytes = 16; bytes < 60; ++bytes) {
        const std::int64_t data = bytes - 16;
        const auto error = error_of([&] { (void)parse(head, bytes); });
        EXPECT_EQ(!error, data > 0 && data % 4 == 0) << bytes;
        if (error) {
            EXPECT_EQ(error->text().where, "a.sand, byte " + std::to_string(16 + data / 4 * 4));
        }
    }
}

TEST(SandHeader, ComesBack) {
    for (const SandShape& shape :
         {SandShape{1, 2, 3}, SandShape{int32_max, 258, 65537}, SandShape{1920, 1080, 3001}}) {
        const auto bytes = sand_header(shape);
        EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
                  header(shape.width, shape.height, shape.frames));
        EXPECT_EQ(parse_sand(bytes, shape.file_bytes(), "").shape, shape);
    }
}

TEST(SandShape, IsOfFramesOfBytesThatInt32Counts) {
    EXPECT_EQ(sand_shape({ElementType::uint8, {7, 5}}), (SandShape{5, 7, 1}));
    EXPECT_EQ(sand_shape({ElementType::uint8, {2, 3, 7, 5}}), (SandShape{5, 7, 6}));
    for (const ArrayInfo& array :
         {ArrayInfo{ElementType::int8, {7, 5}}, ArrayInfo{ElementType::uint8, {7}},
          ArrayInfo{ElementType::uint8, {1, 1, int32_max + 1}},
          ArrayInfo{ElementType::uint8, {1, int32_max + 1, 1}},
          ArrayInfo{ElementType::uint8, {int32_max + 1, 1, 1}},
          ArrayInfo{ElementType::uint8, {0, 1, 1}}}) {
        const auto error = error_of([&] { (void)sand_shape(array); });
        ASSERT_TRUE(error) << shape_text(array.shape);
        EXPECT_EQ(error->code(), ExitCode::usage);
    }
}

TEST(SandName, IsByItsEnding) {
    EXPECT_TRUE(holds_cells("a.sand"));
    EXPECT_TRUE(holds_cells("out/a.sand.partial"));
    EXPECT_FALSE(holds_cells("a.h5"));
    EXPECT_FALSE(holds_cells("sand"));
    EXPECT_FALSE(holds_cells("a.sand.h5"));
}

TEST(ReadSand, LooksAtFilesThemselves) {
    const ScratchFolder folder;
    const std::string file = folder / "a.sand";
    std::ofstream(file) << header(5, 7, 1) << std::string(27, '\x55');
    EXPECT_EQ(read_sand(file).shape, (SandShape{5, 7, 3}));
    check_dataset(file, "/any", {});
    const auto too_large = error_of([&] { check_dataset(file, "/any", {104, {}}); });
    ASSERT_TRUE(too_large);
    EXPECT_NE(std::string(too_large->what()).find("max_logical_bytes"), std::string::npos);
    std::ofstream(file) << "SAN";
    for (const std::string& bad : {file, folder / "none.sand", std::string("/dev/null.sand")}) {
        const auto error = error_of([&] { (void)read_sand(bad); });
        ASSERT_TRUE(error) << bad;
        EXPECT_EQ(error->code(), ExitCode::input);
        EXPECT_NE(error->text().where.find(bad), std::string::npos);
    }
}

TEST(SandReader, RefusesBitsBeyondAFramesCells) {
    const ScratchFolder folder;
    const std::string file = folder / "a.sand";
    for (const bool damaged : {false, true}) {
        std::string bytes = header(5, 7, 2) + std::string(18, '\x15');
        bytes[16 + 8] = damaged ? '\x55' : '\x15'; // the first frame's 33rd to 35th cell
        std::ofstream(file) << bytes;
        std::vector<std::byte> cells(70);
        const auto error = error_of([&] { open_sand_reader(file, 2)->read(0, 14, cells.data()); });
        EXPECT_EQ(error.has_value(), damaged);
        if (error) {
            EXPECT_EQ(error->code(), ExitCode::input);
            EXPECT_NE(error->text().why.find("byte 24"), std::string::npos) << error->what();
        }
    }
}

} // namespace
} // namespace runner
