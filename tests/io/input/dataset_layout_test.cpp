// SPDX-License-Identifier: BSD-3-Clause
// What one process hands over to another about a dataset: that it comes whole, that rows are read
// by it without HDF5, and that one that cannot be right is refused, whoever wrote it.
#include "io/input/dataset_layout.hpp"

#include "io/files/file.hpp"
#include "io/input/layout_message.hpp"
#include "tests/io/dataset_file.hpp"
#include "tests/io/scratch_folder.hpp"

#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>

#include <gtest/gtest.h>

namespace runner {
namespace {

using Way = DatasetLayout::Way;

/// A file of 6 x 10 numbers and its layout.
struct Made {
    explicit Made(const OutputLayout& layout) : values(60) {
        std::iota(values.begin(), values.end(), std::uint16_t{1000});
        write_dataset(folder / "a.h5", "/x", {6, 10}, values, layout);
        known = inspect_layout(folder / "a.h5", "/x");
        size = static_cast<std::int64_t>(std::filesystem::file_size(known.file));
    }

    ScratchFolder folder;
    std::vector<std::uint16_t> values;
    DatasetLayout known;
    std::int64_t size = 0;
};

const OutputLayout contiguous;
const OutputLayout chunked{{4, 4}};
const OutputLayout packed{{4, 4}, Compression::deflate, 5, true};

TEST(DatasetLayout, ComesWholeAndIsReadWithoutHdf5) {
    for (const auto& [layout, way] :
         {std::pair{contiguous, Way::positions}, {chunked, Way::chunks}, {packed, Way::chunks}}) {
        const Made made(layout);
        DatasetLayout back = decode_layout(encode_layout(made.known));
        back.file = made.known.file;
        back.dataset = made.known.dataset;
        EXPECT_EQ(back.way, way);
        EXPECT_EQ(back.holder, made.known.file);
        EXPECT_EQ(back.info.array, made.known.info.array);
        EXPECT_EQ(back.info.filters, made.known.info.filters);
        EXPECT_EQ(back.filters, made.known.filters);
        EXPECT_EQ(back.fill, made.known.fill);
        EXPECT_EQ(back.chunks, made.known.chunks);
        EXPECT_EQ(back.files, (FileMarks{{own_path(back.file), mark_of(back.file)}}));
        EXPECT_EQ(back.chunks.size(), way == Way::chunks ? 6U : 0U);
        check_layout(back, {});
        // HDF5 could not read it any more: the rows come all the same.
        std::fstream(back.file, std::ios::binary | std::ios::in | std::ios::out) << "spoilt.";
        std::vector<std::uint16_t> read(60);
        open_layout_rows(back, 2)->read(0, 6, reinterpret_cast<std::byte*>(read.data()));
        EXPECT_EQ(read, made.values);
    }
}

TEST(DatasetLayout, ThatCannotBeIsRefused) {
    using Change = std::function<void(DatasetLayout&)>;
    const std::vector<std::pair<std::string, Change>> changes = {
        {"shape", [](DatasetLayout& some) { some.info.array.shape = {}; }},
        {"shape", [](DatasetLayout& some) { some.info.array.shape[1] = -10; }},
        {"shape",
         [](DatasetLayout& some) {
             some.info.array.shape = {1LL << 40, 1LL << 40};
         }},
        {"chunks of", [](DatasetLayout& some) { some.info.chunk = {4}; }},
        {"chunks of", [](DatasetLayout& some) { some.info.chunk[0] = 0; }},
        {"chunks of",
         [](DatasetLayout& some) {
             some.info.chunk = {1LL << 31, 1LL << 31};
         }},
        {"filters",
         [](DatasetLayout& some) {
             some.filters.push_back({32013, "zfp", {}});
         }},
        {"filters",
         [](DatasetLayout& some) {
             some.filters.push_back({32008, "bitshuffle", {0, 3, 0}});
         }},
        {"fill value", [](DatasetLayout& some) { some.fill.pop_back(); }},
        {"a chunk 6 of 6", [](DatasetLayout& some) { some.chunks.back().index = 6; }},
        {"a chunk 0 of 6", [](DatasetLayout& some) { some.chunks.back().index = 0; }},
        {"bytes from byte", [](DatasetLayout& some) { some.chunks[2].offset = 1 << 20; }},
        {"bytes from byte", [](DatasetLayout& some) { some.chunks[2].offset = -1; }},
        {"bytes from byte", [](DatasetLayout& some) { some.chunks[2].bytes = INT64_MAX; }},
        {"a chunk in file 1 of 1", [](DatasetLayout& some) { some.chunks[2].file = 1; }},
        {"has not looked at", [](DatasetLayout& some) { some.chunk_files = {"/etc/passwd"}; }},
        {"a chunk of 5000", [](DatasetLayout& some) {
             some.chunks[2] = {some.chunks[2].index, 0, 5000, 0};
         }}};
    for (const auto& [why, change] : changes) {
        const Made made(packed);
        DatasetLayout some = made.known;
        change(some);
        const auto error = error_of([&] { check_layout_values(some, std::int64_t{1} << 16); });
        ASSERT_TRUE(error) << why;
        EXPECT_EQ(error->code(), ExitCode::input);
        EXPECT_NE(error->text().why.find(why), std::string::npos) << error->what();
    }
    const Made made(contiguous);
    check_layout_values(made.known, made.size);
    EXPECT_TRUE(error_of([&] { check_layout_values(made.known, made.size - 1); }));
}

TEST(DatasetLayout, LeadsIntoNoFileThatTheRulesForbid) {
    const Made made(contiguous);
    const ScratchFolder elsewhere;
    std::filesystem::copy(made.known.file, elsewhere / "b.h5");
    DatasetLayout some = made.known;
    some.holder = elsewhere / "b.h5";
    const auto error = error_of([&] { check_layout(some, {}); });
    ASSERT_TRUE(error);
    EXPECT_NE(error->text().why.find("outside the folder"), std::string::npos) << error->what();
    check_layout(some, {std::nullopt, InputRules::Outside::anywhere});
    for (const auto way : {Way::positions, Way::library}) { // which the identity reads of
        DatasetLayout other = made.known;
        other.way = way;
        add_mark(other.files, elsewhere / "b.h5");
        EXPECT_TRUE(error_of([&] { check_layout(other, {}); }));
        check_layout(other, {std::nullopt, InputRules::Outside::anywhere});
        other.files = {{own_path(elsewhere / "none"), {}}};
        check_layout(other, {});
        other.files.begin()->second.bytes = 1; // it is not there
        EXPECT_TRUE(error_of([&] { check_layout(other, {}); }));
    }
}

/// A folder whose files have a chunk each, of which the third was never written.
TEST(DatasetLayout, HasChunksInSeveralFiles) {
    Made made(chunked);
    const File file(made.known.file, File::Mode::read);
    DatasetLayout some = made.known;
    some.holder = some.file = made.folder.path();
    some.files.clear();
    for (std::size_t i = 0; i < some.chunks.size(); ++i) {
        ChunkPlace& chunk = some.chunks[i];
        std::vector<char> bytes(static_cast<std::size_t>(chunk.bytes));
        file.read(chunk.offset, chunk.bytes, reinterpret_cast<std::byte*>(bytes.data()));
        some.chunk_files.push_back(own_path(made.folder / std::to_string(i)));
        std::ofstream(some.chunk_files.back(), std::ios::binary)
            .write(bytes.data(), std::ssize(bytes));
        add_mark(some.files, some.chunk_files.back());
        chunk.offset = 0;
        chunk.file = static_cast<std::uint32_t>(i);
    }
    some.chunks.erase(some.chunks.begin() + 2); // rows 0 to 3 of columns 8 and 9
    some.fill = {std::byte{7}, std::byte{0}};
    const DatasetLayout back = decode_layout(encode_layout(some));
    EXPECT_EQ(back.chunk_files, some.chunk_files);
    EXPECT_EQ(back.chunks, some.chunks);
    check_layout(some, {});
    std::vector<std::uint16_t> wanted = made.values;
    for (std::size_t row = 0; row < 4; ++row) {
        wanted[10 * row + 8] = wanted[10 * row + 9] = 7;
    }
    std::vector<std::uint16_t> read(60);
    const auto reader = open_layout_rows(some, 2);
    for (std::int64_t row = 0; row < 6; row += 3) { // chunks are kept from one call to the next
        reader->read(row, 3, reinterpret_cast<std::byte*>(read.data() + 10 * row));
    }
    EXPECT_EQ(read, wanted);
    std::filesystem::resize_file(some.chunk_files[4], 10);
    const auto error = error_of([&] { check_layout(some, {}); });
    ASSERT_TRUE(error);
    EXPECT_NE(error->text().why.find("of a file of 10"), std::string::npos) << error->what();
}

TEST(DatasetLayout, ReadsAMarkedChunkAsDamaged) {
    Made made(packed);
    made.known.chunks[0].bytes = 0;
    check_layout(made.known, {});
    const auto reader = open_layout_rows(made.known, 1);
    std::vector<std::uint16_t> read(60);
    const auto error =
        error_of([&] { reader->read(0, 4, reinterpret_cast<std::byte*>(read.data())); });
    ASSERT_TRUE(error);
    EXPECT_NE(error->text().where.find("chunk from [0, 0]"), std::string::npos) << error->what();
    reader->read(4, 2, reinterpret_cast<std::byte*>(read.data()));
    EXPECT_TRUE(std::equal(read.begin(), read.begin() + 20, made.values.begin() + 40));
}

TEST(LayoutMessage, OfAnyLengthButTheWholeIsRefused) {
    const Made made(packed);
    const std::string whole = encode_layout(made.known);
    for (std::size_t length = 0; length < whole.size(); ++length) {
        EXPECT_THROW((void)decode_layout(std::string_view(whole).substr(0, length)), BadMessage);
    }
    EXPECT_THROW((void)decode_layout(whole + "x"), BadMessage);
}

TEST(LayoutMessage, TakesNoMoreMemoryThanItHolds) {
    MessageWriter writer;
    writer.number(INT64_MAX);
    const std::string huge = writer.take();
    EXPECT_THROW((void)MessageReader(huge).numbers(), BadMessage);
    EXPECT_THROW((void)MessageReader(huge).text(), BadMessage);
    EXPECT_THROW((void)MessageReader(huge).texts(), BadMessage);
}

} // namespace
} // namespace runner
