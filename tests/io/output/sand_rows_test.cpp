// SPDX-License-Identifier: BSD-3-Clause
#include "io/rows/rows.hpp"

#include "base/error.hpp"
#include "io/formats/rows_format.hpp"
#include "io/input/open_rows.hpp"
#include "io/inspect/file_content.hpp"
#include "io/inspect/inspect_dataset.hpp"
#include "io/output/create_output.hpp"
#include "io/output/open_output_rows.hpp"
#include "io/output/output_size.hpp"
#include "io/rows/row_geometry.hpp"
#include "tests/io/scratch_folder.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include <gtest/gtest.h>

namespace runner {
namespace {

using Shape = std::vector<std::int64_t>;

std::vector<std::byte> random_cells(const ArrayInfo& array) {
    std::mt19937 random(7);
    std::vector<std::byte> cells(static_cast<std::size_t>(byte_count(array)));
    for (std::byte& cell : cells) {
        cell = static_cast<std::byte>(random() % 4);
    }
    return cells;
}

/// The file as the format's description says it, bit by bit.
std::string slow_file(const Shape& shape, const std::vector<std::byte>& cells) {
    std::string file = "SAND";
    for (const std::int64_t number : {shape[2], shape[1], shape[0]}) {
        for (int i = 0; i < 4; ++i) {
            file += static_cast<char>(number / (std::int64_t{1} << 8 * i) % 256);
        }
    }
    const std::int64_t frame_cells = shape[1] * shape[2];
    for (std::int64_t frame = 0; frame < shape[0]; ++frame) {
        std::vector<int> bytes(static_cast<std::size_t>((frame_cells + 3) / 4));
        constexpr std::array<int, 4> weights = {1, 4, 16, 64};
        for (std::int64_t i = 0; i < frame_cells; ++i) {
            const auto cell = cells[static_cast<std::size_t>(frame * frame_cells + i)];
            bytes[static_cast<std::size_t>(i / 4)] +=
                weights[static_cast<std::size_t>(i % 4)] * std::to_integer<int>(cell);
        }
        for (const int byte : bytes) {
            file += static_cast<char>(byte);
        }
    }
    return file;
}

std::string content_of(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

OutputDataset sand_output(const std::string& file, Shape shape) {
    OutputLayout layout;
    layout.format = written_format_of("a.sand");
    return {file, "/frames", {ElementType::uint8, std::move(shape)}, layout};
}

/// Writes in pieces of so many alignment steps each, by several writers taking turns, from the end.
void write_cells(const OutputDataset& output, const std::vector<std::byte>& cells,
                 std::int64_t steps, int threads) {
    std::vector<std::unique_ptr<RowWriter>> writers;
    for (int rank = 0; rank < 3; ++rank) {
        writers.push_back(open_output_rows(output, rank, threads));
    }
    const std::int64_t height = output.array.shape[1];
    const std::int64_t width = output.array.shape[2];
    const std::int64_t alignment = row_alignment(output.array, output.layout);
    std::vector<std::pair<std::int64_t, std::int64_t>> pieces;
    for (std::int64_t first = 0; first < row_count(output.array);) {
        const std::int64_t rows = std::min(alignment * steps, height - first % height);
        pieces.emplace_back(first, rows);
        first += rows;
    }
    for (std::size_t i = pieces.size(); i-- > 0;) {
        const auto [first, rows] = pieces[i];
        writers[i % writers.size()]->write(first, rows, cells.data() + first * width);
    }
    for (const auto& writer : writers) {
        writer->finish(RowWriter::Sync::yes);
    }
}

std::vector<std::byte> read_cells(const std::string& file, std::int64_t step, int threads) {
    const auto reader = open_rows(file, "/any", threads);
    const ArrayInfo& array = reader->info().array;
    std::vector<std::byte> cells(static_cast<std::size_t>(byte_count(array)));
    for (std::int64_t first = 0; first < row_count(array); first += step) {
        reader->read(first, std::min(step, row_count(array) - first),
                     cells.data() + first * row_bytes(array));
    }
    return cells;
}

class SandRows : public testing::TestWithParam<Shape> {};

TEST_P(SandRows, AreThoseOfASlowPacker) {
    const ScratchFolder folder;
    const OutputDataset output = sand_output(folder / "a.sand", GetParam());
    const std::vector<std::byte> cells = random_cells(output.array);
    const std::string expected = slow_file(GetParam(), cells);
    for (const std::int64_t steps : {1, 3, 1000}) {
        create_output(output);
        EXPECT_EQ(std::filesystem::file_size(output.file), expected.size());
        write_cells(output, cells, steps, steps == 3 ? 2 : 1);
        ASSERT_EQ(content_of(output.file), expected) << steps;
    }
    for (const std::int64_t step : {1, 2, 7, 100000}) {
        EXPECT_EQ(read_cells(output.file, step, step == 7 ? 3 : 1), cells) << step;
    }
    const DatasetInfo info = inspect_dataset(output.file, "");
    EXPECT_EQ(info.array, output.array);
    EXPECT_EQ(info.storage, sand_storage);
    EXPECT_EQ(info.stored_bytes, std::ssize(expected) - 16);
    EXPECT_EQ(output_bytes(output.array, output.layout), info.stored_bytes);
    EXPECT_FALSE(info.offset);
    EXPECT_TRUE(info.notes.empty());
}

INSTANTIATE_TEST_SUITE_P(Sizes, SandRows,
                         testing::Values(Shape{1, 1, 1}, Shape{9, 1, 1}, Shape{1, 1, 5},
                                         Shape{3, 1, 7}, Shape{3, 7, 1}, Shape{2, 5, 4},
                                         Shape{2, 5, 6}, Shape{4, 13, 11}, Shape{3, 101, 103},
                                         Shape{5, 16, 64}, Shape{2, 3, 1021}));

TEST(SandRowsInBlocks, AreCutAnywhereAndPutTogether) {
    // Three blocks of 256 KiB, the borders of which fall within rows, bytes and frames.
    const ScratchFolder folder;
    const OutputDataset output = sand_output(folder / "a.sand", {3, 997, 1001});
    const std::vector<std::byte> cells = random_cells(output.array);
    create_output(output);
    const auto writer = open_output_rows(output, 0, 3);
    const std::int64_t width = output.array.shape[2];
    // A piece that spans frames.
    writer->write(8, 2 * 997 - 8, cells.data() + 8 * width);
    writer->write(2 * 997, 997, cells.data() + std::int64_t{2} * 997 * width);
    writer->write(0, 8, cells.data());
    writer->finish(RowWriter::Sync::no);
    EXPECT_EQ(content_of(output.file), slow_file(output.array.shape, cells));
    EXPECT_EQ(read_cells(output.file, 2991, 3), cells);
    EXPECT_EQ(read_cells(output.file, 1234, 2), cells);
}

TEST(SandAlignment, IsWhereRowsBeginOnBytes) {
    OutputLayout layout;
    layout.format = written_format_of("a.sand");
    for (std::int64_t width = 1; width < 30; ++width) {
        std::int64_t expected = 1;
        while (expected * width % 4 != 0) {
            ++expected;
        }
        EXPECT_EQ(row_alignment({ElementType::uint8, {2, 50, width}}, layout), expected);
        EXPECT_LE(row_alignment({ElementType::uint8, {2, 3, width}}, layout), 3);
    }
    layout.chunk = {1, 2, 3};
    const auto error = error_of([&] {
        (void)row_alignment({ElementType::uint8, {2, 50, 3}}, layout);
    });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ExitCode::usage);
}

TEST(SandWriter, RefusesRowsOffTheBorders) {
    const ScratchFolder folder;
    const OutputDataset output = sand_output(folder / "a.sand", {2, 7, 6}); // two rows a step
    const std::vector<std::byte> cells = random_cells(output.array);
    create_output(output);
    const auto writer = open_output_rows(output, 0, 1);
    for (const auto& [first, rows] :
         {std::pair{1, 1}, {0, 1}, {0, 3}, {8, 1}, {7, 1}, {-2, 2}, {12, 4}}) {
        const auto error =
            error_of([&, first = first, rows = rows] { writer->write(first, rows, cells.data()); });
        ASSERT_TRUE(error) << first << ", " << rows;
        EXPECT_EQ(error->code(), ExitCode::defect);
    }
    for (const auto& [first, rows] : {std::pair{0, 2}, {2, 5}, {7, 7}, {4, 10}, {14, 0}}) {
        writer->write(first, rows, cells.data() + std::int64_t{first} * 6);
    }
    writer->finish(RowWriter::Sync::no);
    EXPECT_EQ(content_of(output.file), slow_file({2, 7, 6}, cells));
}

TEST(SandWriter, RefusesAnotherFile) {
    const ScratchFolder folder;
    const OutputDataset output = sand_output(folder / "a.sand", {2, 7, 6});
    create_output(sand_output(output.file, {2, 6, 7}));
    EXPECT_TRUE(error_of([&] { (void)open_output_rows(output, 0, 1); }));
    std::filesystem::resize_file(output.file, 5);
    OwnFiles files;
    EXPECT_TRUE(error_of([&] { (void)reopen_output_rows(files, output, 1); }));
}

TEST(CreateOutput, LeavesNoSandFileOfAShapeThatTheHeaderCannotTell) {
    const ScratchFolder folder;
    const OutputDataset output = sand_output(folder / "a.sand", {std::int64_t{1} << 31, 1, 1});
    const auto error = error_of([&] { create_output(output); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ExitCode::usage);
    EXPECT_NE(std::string(error->what()).find("number of frames is 2147483648"), std::string::npos)
        << error->what();
    EXPECT_FALSE(std::filesystem::exists(output.file));
}

TEST(RestoreOutput, MendsTheHeaderAndTheLengthOfASandFile) {
    const ScratchFolder folder;
    const OutputDataset output = sand_output(folder / "a.sand.partial", {2, 7, 5});
    const std::vector<std::byte> cells = random_cells(output.array);
    create_output(output);
    const std::uint64_t layout = layout_hash(output);
    EXPECT_NE(layout, 0);
    write_cells(output, cells, 1, 1);
    std::string damaged = content_of(output.file) + "more";
    damaged.replace(2, 12, 12, 'x');
    std::ofstream(output.file, std::ios::binary) << damaged;
    restore_output(output);
    EXPECT_EQ(content_of(output.file), slow_file({2, 7, 5}, cells));
    EXPECT_EQ(layout_hash(output), layout);
    EXPECT_EQ(read_cells(output.file, 3, 1), cells);
    OwnFiles files;
    const auto rows = reopen_output_rows(files, output, 1);
    rows->write(7, 4, cells.data());
    rows->finish(RowWriter::Sync::no);
    EXPECT_NE(content_of(output.file), slow_file({2, 7, 5}, cells));

    std::filesystem::resize_file(output.file, 20);
    const auto error = error_of([&] { restore_output(output); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ExitCode::output);
}

TEST(SandNotes, TellOfACountThatIsNotThere) {
    const ScratchFolder folder;
    const std::string file = folder / "a.sand";
    std::string content = slow_file({3, 5, 7}, std::vector<std::byte>(105, std::byte{2}));
    content[12] = 1;
    std::ofstream(file, std::ios::binary) << content;
    const DatasetInfo info = inspect_dataset(file, "/x");
    EXPECT_EQ(info.array.shape, (Shape{3, 5, 7}));
    ASSERT_EQ(info.notes.size(), 1);
    EXPECT_NE(info.notes[0].find(file + ", byte 12"), std::string::npos);
    EXPECT_EQ(read_cells(file, 2, 1), std::vector<std::byte>(105, std::byte{2}));
    EXPECT_EQ(reader_bytes(info, 3), 3 * (256 << 10));

    const FileContent all = file_content(file);
    EXPECT_EQ(all.format, "sand");
    EXPECT_EQ(all.bytes, std::ssize(content));
    ASSERT_EQ(all.datasets.size(), 1);
    EXPECT_EQ(all.datasets[0].shape, (Shape{3, 5, 7}));
    EXPECT_EQ(all.datasets[0].type, "uint8");
    EXPECT_TRUE(root_attributes(file).empty());
}

} // namespace
} // namespace runner
