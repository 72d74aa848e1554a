// SPDX-License-Identifier: BSD-3-Clause
// Round trips through files. That others read what we write and we what they write is the business
// of oracle.rows (rows_oracle.py).
#include "io/rows/rows.hpp"

#include "io/files/file.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/input/open_rows.hpp"
#include "io/inspect/inspect_dataset.hpp"
#include "io/output/assemble_output.hpp"
#include "io/output/create_output.hpp"
#include "io/output/open_output_rows.hpp"
#include "io/output/output_size.hpp"
#include "io/writers/shards.hpp"
#include "tests/io/scratch_folder.hpp"

#include <cstring>
#include <filesystem>
#include <numeric>

#include <gtest/gtest.h>

namespace runner {
namespace {

/// Bytes without a pattern that a misplaced row or column would fit.
std::vector<std::byte> random_bytes(std::int64_t count) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(count));
    std::uint64_t state = 88172645463325252ULL;
    for (std::byte& byte : bytes) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        byte = static_cast<std::byte>(state >> 32);
    }
    return bytes;
}

std::int64_t rows_of(const ArrayInfo& array) {
    return element_count(array) / (array.shape.size() > 1 ? array.shape.back() : 1);
}

/// Cuts the rows among `ranks` writers on the layout's borders and writes them in slabs of
/// `step` borders, the writers taking turns.
void write_output(const OutputDataset& output, int ranks, std::int64_t step,
                  const std::vector<std::byte>& bytes) {
    create_output(output);
    const std::int64_t row = byte_count(output.array) / rows_of(output.array);
    const std::size_t axes = output.array.shape.size();
    const std::int64_t frame = output.array.shape[axes > 1 ? axes - 2 : 0];
    const std::int64_t align = row_alignment(output.array, output.layout);
    std::vector<std::unique_ptr<RowWriter>> writers;
    for (int rank = 0; rank < ranks; ++rank) {
        writers.push_back(open_output_rows(output, rank, 1 + rank % 3));
    }
    std::size_t turn = 0;
    for (std::int64_t first = 0; first < rows_of(output.array);) {
        const std::int64_t left = frame - first % frame;
        const std::int64_t rows = std::min(align * step, left);
        writers[turn++ % writers.size()]->write(first, rows, bytes.data() + first * row);
        first += rows;
    }
    for (const auto& writer : writers) {
        writer->finish(RowWriter::Sync::no);
    }
    assemble_output(output);
    remove_shards(output);
}

std::vector<std::byte> read_all(const std::string& file, const std::string& dataset, int threads,
                                std::int64_t step) {
    const auto reader = open_rows(file, dataset, threads);
    const ArrayInfo& array = reader->info().array;
    std::vector<std::byte> bytes(static_cast<std::size_t>(byte_count(array)));
    const std::int64_t row = byte_count(array) / rows_of(array);
    for (std::int64_t first = 0; first < rows_of(array); first += step) {
        const std::int64_t rows = std::min(step, rows_of(array) - first);
        reader->read(first, rows, bytes.data() + first * row);
    }
    return bytes;
}

struct Case {
    std::vector<std::int64_t> shape;
    OutputLayout layout;
};

void PrintTo(const Case& c, std::ostream* out) {
    *out << shape_text(c.shape) << " in " << shape_text(c.layout.chunk) << ", compression "
         << static_cast<int>(c.layout.compression) << ", level " << c.layout.level << ", shuffle "
         << c.layout.shuffle;
}

class RoundTrip : public testing::TestWithParam<Case> {};

TEST_P(RoundTrip, EveryTypeComesBackFromSeveralWriters) {
    const ScratchFolder folder;
    for (const ElementType type : all_element_types) {
        const OutputDataset output{
            folder / "a.h5", "/x", {type, GetParam().shape}, GetParam().layout};
        const auto bytes = random_bytes(byte_count(output.array));
        for (const int ranks : {1, 2, 7}) {
            write_output(output, ranks, ranks == 2 ? 3 : 1, bytes);
            EXPECT_EQ(read_all(output.file, "/x", 2, 5), bytes) << name_of(type) << ", " << ranks;
            EXPECT_EQ(inspect_dataset(output.file, "x").array, output.array);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Contiguous, RoundTrip,
                         testing::Values(Case{{1}, {}}, Case{{13}, {}}, Case{{5, 1}, {}},
                                         Case{{7, 11}, {}}, Case{{3, 5, 7}, {}},
                                         Case{{2, 3, 1, 5}, {}}));

INSTANTIATE_TEST_SUITE_P(
    Chunked, RoundTrip,
    testing::Values(Case{{13}, {{4}}}, Case{{7, 11}, {{2, 11}}}, Case{{7, 11}, {{3, 4}}},
                    Case{{7, 11}, {{100, 100}}}, Case{{3, 5, 7}, {{1, 2, 3}}},
                    Case{{2, 3, 4, 5}, {{1, 1, 4, 2}}}, Case{{5, 5, 7}, {{2, 2, 3}}},
                    Case{{3, 5, 4, 5}, {{2, 3, 3, 5}}}, Case{{61, 67}, {{1, 2}}}));

INSTANTIATE_TEST_SUITE_P(
    Compressed, RoundTrip,
    testing::Values(Case{{13}, {{4}, Compression::deflate, 1, false}},
                    Case{{7, 11}, {{2, 11}, Compression::deflate, 0, false}},
                    Case{{7, 11}, {{3, 4}, Compression::deflate, 5, true}},
                    Case{{3, 5, 7}, {{1, 2, 3}, Compression::deflate, 9, true}},
                    Case{{61, 67}, {{16, 32}, Compression::zstd, 1, false}},
                    Case{{3, 5, 7}, {{1, 5, 7}, Compression::zstd, 19, true}},
                    Case{{5, 5, 7}, {{2, 2, 3}, Compression::deflate, 1, true}},
                    Case{{3, 5, 4, 5}, {{2, 3, 3, 5}, Compression::zstd, 1, false}},
                    Case{{61, 67}, {{16, 32}, Compression::lz4, 1, true}},
                    Case{{5, 5, 7}, {{2, 2, 3}, Compression::lz4, 1, false}},
                    Case{{61, 67}, {{16, 33}, Compression::bitshuffle_lz4, 1, false}},
                    Case{{5, 5, 7}, {{2, 2, 3}, Compression::bitshuffle_lz4, 1, false}},
                    Case{{61, 67}, {{61, 67}, Compression::bitshuffle_zstd, 5, false}},
                    Case{{3, 5, 4, 5}, {{2, 3, 3, 5}, Compression::bitshuffle_zstd, 1, false}}));

TEST(PlainRows, AreAlignedAndReadWithoutHdf5) {
    const ScratchFolder folder;
    const OutputDataset output{
        folder / "a.h5", "/some/group/x", {ElementType::uint16, {4099, 1031}}, {}};
    const auto bytes = random_bytes(byte_count(output.array));
    write_output(output, 3, 1000, bytes);
    const DatasetInfo info = inspect_dataset(output.file, output.dataset);
    ASSERT_TRUE(info.offset);
    EXPECT_EQ(*info.offset % 4096, 0);
    EXPECT_EQ(info.storage, "contiguous");
    EXPECT_EQ(read_all(output.file, output.dataset, 3, 4099), bytes);
}

/// The Error of making and writing an output of 7 × 11 floats with that layout.
std::optional<Error> layout_error(const std::vector<std::int64_t>& shape,
                                  const OutputLayout& layout) {
    return error_of([&] { (void)row_alignment({ElementType::float32, shape}, layout); });
}

TEST(RowAlignment, IsTheChunksRowsCutToTheArrays) {
    const auto alignment = [](std::vector<std::int64_t> shape, std::vector<std::int64_t> chunk) {
        return row_alignment({ElementType::float32, std::move(shape)}, {std::move(chunk)});
    };
    EXPECT_EQ(alignment({7, 11}, {}), 1);
    EXPECT_EQ(alignment({7, 11}, {3, 4}), 3);
    EXPECT_EQ(alignment({7, 11}, {30, 40}), 7);
    EXPECT_EQ(alignment({11}, {4}), 4);
    EXPECT_EQ(alignment({5, 7, 11}, {1, 2, 11}), 2);
    EXPECT_EQ(alignment({5, 7, 11}, {3, 2, 11}), 2);
}

TEST(RowAlignment, RefusesLayoutsThatRowsCannotBeWrittenIn) {
    const std::vector<std::pair<std::optional<Error>, std::string>> errors = {
        {layout_error({7, 11}, {{3}}), "has 2 axes"},
        {layout_error({7, 11}, {{3, 0}}), "below 1"},
        {layout_error({50, 4000, 40000}, {{8, 4000, 40000}}), "less than 4 GiB"},
        {layout_error({40000, 40000}, {{40000, 40000}}), "less than 4 GiB"},
        {layout_error({7, 11}, {{}, Compression::deflate}), "output.chunk is not given"},
        {layout_error({7, 0}, {}), "no extent"},
    };
    for (const auto& [error, text] : errors) {
        ASSERT_TRUE(error) << text;
        EXPECT_EQ(error->code(), ExitCode::usage);
        EXPECT_NE(std::string(error->what()).find(text), std::string::npos) << error->what();
    }
}

TEST(RowWriter, RefusesRowsOffTheBorders) {
    const ScratchFolder folder;
    const std::vector<std::byte> rows(10000);
    for (const Compression compression : {Compression::none, Compression::deflate}) {
        const OutputDataset output{
            folder / "a.h5", "x", {ElementType::uint8, {2, 7, 11}}, {{1, 3, 11}, compression}};
        create_output(output);
        const auto writer = open_output_rows(output, 0, 1);
        for (const auto& [first, count] :
             {std::pair{1, 2}, {0, 2}, {3, 2}, {-3, 3}, {0, 8}, {12, 3}, {8, 3}}) {
            const auto error = error_of(
                [&, first = first, count = count] { writer->write(first, count, rows.data()); });
            ASSERT_TRUE(error) << first << ", " << count;
            EXPECT_EQ(error->code(), ExitCode::defect);
        }
        for (const auto& [first, count] : {std::pair{0, 3}, {3, 4}, {7, 7}}) {
            writer->write(first, count, rows.data());
        }
    }
}

TEST(AssembleOutput, MissesChunksThatNoRankWrote) {
    const ScratchFolder folder;
    const OutputDataset output{
        folder / "a.h5", "x", {ElementType::uint8, {4, 3}}, {{2, 3}, Compression::deflate}};
    const auto run = [&](std::initializer_list<std::int64_t> firsts) {
        const std::vector<std::byte> rows(6);
        create_output(output);
        const auto writer = open_output_rows(output, 0, 1);
        for (const std::int64_t first : firsts) {
            writer->write(first, 2, rows.data());
        }
        writer->finish(RowWriter::Sync::no);
        return error_of([&] { assemble_output(output); });
    };
    const auto missing = run({0});
    ASSERT_TRUE(missing);
    EXPECT_EQ(missing->code(), ExitCode::output);
    EXPECT_EQ(missing->text().where, output.file + ", chunk 1");
    EXPECT_FALSE(run({2, 0}));
    EXPECT_FALSE(run({0, 2, 0})); // a run that was killed may have left one too
}

TEST(CreateOutput, RemovesShardsOfAnEarlierRun) {
    const ScratchFolder folder;
    const OutputDataset output{
        folder / "a.h5", "x", {ElementType::uint8, {4, 3}}, {{2, 3}, Compression::deflate}};
    create_output(output);
    (void)open_output_rows(output, 11, 1);
    ASSERT_TRUE(std::filesystem::exists(folder / "a.h5.shard-1-11"));
    create_output(output);
    EXPECT_FALSE(std::filesystem::exists(folder / "a.h5.shard-1-11"));
}

/// Changes byte `at` of a file; negative: from its end.
void damage(const std::string& path, std::int64_t at) {
    const File file(path, File::Mode::update);
    at += at < 0 ? file.size() : 0;
    std::byte byte{};
    file.read(at, 1, &byte);
    byte ^= std::byte{1};
    file.write(at, 1, &byte);
}

TEST(AssembleOutput, TakesNoDamagedChunk) {
    const ScratchFolder folder;
    const OutputDataset output{
        folder / "a.h5", "x", {ElementType::uint8, {4, 3}}, {{2, 3}, Compression::deflate}};
    const std::vector<std::byte> rows(6);
    create_output(output);
    for (const std::int64_t attempt : {1, 2}) {
        const auto writer = open_output_rows(output, 0, 1, attempt);
        writer->write(0, 2, rows.data());
        writer->write(2, 2, rows.data());
        writer->finish(RowWriter::Sync::no);
    }
    damage(folder / "a.h5.shard-1-0", -1);
    EXPECT_FALSE(error_of([&] { assemble_output(output); }));
    damage(folder / "a.h5.shard-2-0", -1);
    restore_output(output);
    const auto error = error_of([&] { assemble_output(output); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->text().where, output.file + ", chunk 1");
}

/// Whatever became of HDF5's own structures, the elements written so far come through.
TEST(RestoreOutput, KeepsTheElements) {
    for (const std::vector<std::int64_t>& chunk :
         {std::vector<std::int64_t>{}, {3, 4}, {1, 1}, {7, 11}}) {
        const ScratchFolder folder;
        const OutputDataset output{
            folder / "a.h5", "g/x", {ElementType::uint16, {41, 27}}, {chunk}};
        create_output(output);
        const std::uint64_t layout = layout_hash(output);
        std::vector<std::byte> rows(41 * 27 * 2);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            rows[i] = static_cast<std::byte>(i * 31);
        }
        const auto writer = open_output_rows(output, 0, 1);
        writer->write(0, 41, rows.data());
        writer->finish(RowWriter::Sync::no);
        write_attributes(output.file, {{"a", std::string(5000, 'x')}});
        for (const std::int64_t byte : {0, 9, 100, 300, 700}) {
            damage(output.file, byte);
        }
        ASSERT_TRUE(error_of([&] { (void)inspect_dataset(output.file, output.dataset); }));
        restore_output(output);
        EXPECT_EQ(layout_hash(output), layout);
        EXPECT_FALSE(std::filesystem::exists(output.file + ".layout"));
        std::vector<std::byte> back(rows.size());
        open_rows(output.file, output.dataset, 1)->read(0, 41, back.data());
        EXPECT_EQ(back, rows);
    }
}

TEST(RestoreOutput, RefusesAFileThatWasCut) {
    const ScratchFolder folder;
    const OutputDataset output{folder / "a.h5", "x", {ElementType::uint8, {400, 300}}, {}};
    create_output(output);
    std::filesystem::resize_file(output.file, 100000);
    const auto error = error_of([&] { restore_output(output); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ExitCode::output);
    EXPECT_NE(std::string(error->what()).find("never"), std::string::npos);
}

TEST(AssembleOutput, SaysThatAShardIsMissing) {
    const ScratchFolder folder;
    const OutputDataset output{
        folder / "a.h5", "x", {ElementType::uint8, {4, 3}}, {{2, 3}, Compression::zstd}};
    create_output(output);
    const auto error = error_of([&] { assemble_output(output); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ExitCode::output);
    EXPECT_EQ(error->text().where, output.file + ", chunk 0");
}

TEST(ReopenOutputRows, KeepsOtherFramesOfAChunk) {
    const ScratchFolder folder;
    for (const Compression compression :
         {Compression::none, Compression::deflate, Compression::zstd, Compression::lz4,
          Compression::bitshuffle_lz4, Compression::bitshuffle_zstd}) {
        const bool shuffled =
            compression == Compression::deflate || compression == Compression::zstd;
        const OutputDataset output{folder / "a.h5",
                                   "x",
                                   {ElementType::uint16, {5, 5, 7}},
                                   {{2, 2, 3}, compression, 1, shuffled}};
        auto bytes = random_bytes(byte_count(output.array));
        write_output(output, 2, 1, bytes);
        constexpr std::int64_t first = 12; // of frame 2, in the middle of a chunk's first layer
        constexpr std::int64_t row = 14;
        std::fill_n(bytes.begin() + first * row, 2 * row, std::byte{7});
        OwnFiles files;
        const auto rows = reopen_output_rows(files, output, 2);
        rows->write(first, 2, bytes.data() + first * row);
        rows->finish(RowWriter::Sync::no);
        EXPECT_EQ(read_all(output.file, "x", 1, 3), bytes) << static_cast<int>(compression);
    }
}

TEST(CreateOutput, SaysWhatStandsInTheWay) {
    const ScratchFolder folder;
    const auto error = [&](const std::string& file, const std::string& dataset) {
        return error_of([&] {
            create_output({folder / file, dataset, {ElementType::uint8, {4, 3}}, {}});
        });
    };
    const auto no_folder = error("no/a.h5", "x");
    ASSERT_TRUE(no_folder);
    EXPECT_EQ(no_folder->code(), ExitCode::output);
    EXPECT_NE(std::string(no_folder->what()).find("No such file"), std::string::npos);
    const auto no_name = error("a.h5", "/");
    ASSERT_TRUE(no_name);
    EXPECT_EQ(no_name->code(), ExitCode::output);
    EXPECT_NE(no_name->text().where.find("a.h5:/"), std::string::npos);
}

TEST(PlainRows, OfATruncatedFileAreRefused) {
    const ScratchFolder folder;
    const OutputDataset output{folder / "a.h5", "x", {ElementType::float64, {100, 100}}, {}};
    write_output(output, 1, 100, random_bytes(80000));
    const auto reader = open_rows(output.file, "x", 2);
    const auto size = static_cast<std::int64_t>(std::filesystem::file_size(output.file));
    std::filesystem::resize_file(output.file, static_cast<std::uintmax_t>(size - 1));
    std::vector<std::byte> rows(80000);
    reader->read(0, 99, rows.data());
    const auto error = error_of([&] { reader->read(0, 100, rows.data()); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ExitCode::input);
    EXPECT_EQ(error->text().why, "it has " + std::to_string(size - 1) +
                                     " bytes and should have at least " + std::to_string(size));
}

/// What read_runs() gives, and the same picked out of all rows.
void expect_runs(RowReader& reader, const std::vector<std::byte>& bytes, const RowRuns& runs) {
    const ArrayInfo& array = reader.info().array;
    const std::int64_t size = size_of(array.type);
    const std::int64_t row = byte_count(array) / rows_of(array);
    std::vector<std::byte> expected;
    for (std::int64_t run = 0; run < runs.runs; ++run) {
        for (std::int64_t i = 0; i < runs.rows; ++i) {
            const auto begin = bytes.begin() + (runs.first + run * runs.stride + i) * row +
                               runs.first_column * size;
            expected.insert(expected.end(), begin, begin + runs.columns * size);
        }
    }
    std::vector<std::byte> read(expected.size());
    reader.read_runs(runs, read.data());
    EXPECT_EQ(read, expected) << array.shape.size() << " axes, " << runs.runs << " runs of "
                              << runs.rows << " from " << runs.first << ", columns "
                              << runs.columns;
}

/// All rows but the first, the last one first, each third place of a larger memory.
void expect_scattered(RowReader& reader, const std::vector<std::byte>& bytes) {
    const std::int64_t rows = rows_of(reader.info().array);
    const std::int64_t row = std::ssize(bytes) / rows;
    std::vector<std::byte> expected(bytes.size() * 3);
    for (std::int64_t i = 1; i < rows; ++i) {
        std::copy_n(bytes.begin() + i * row, row, expected.begin() + 3 * i * row);
    }
    std::vector<std::byte> read(expected.size());
    reader.read_scattered(
        std::vector<ScatteredRows>{{rows - 1, 1, read.data() + 3 * (rows - 1) * row, 0},
                                   {1, rows - 2, read.data() + 3 * row, 3 * row}});
    EXPECT_EQ(read, expected);
}

TEST(Rows, RunsOfRowsAndColumnsAreRead) {
    const ScratchFolder folder;
    OutputLayout chunked;
    chunked.chunk = {1, 4, 16};
    OutputLayout packed = chunked;
    packed.compression = Compression::deflate;
    const ArrayInfo array{ElementType::float32, {5, 13, 37}};
    const std::vector<std::byte> bytes = random_bytes(byte_count(array));
    for (const OutputLayout& layout : {OutputLayout{}, chunked, packed}) {
        const OutputDataset output{folder / "runs.h5", "/a", array, layout};
        write_output(output, 1, 3, bytes);
        for (const int threads : {1, 3}) {
            const auto reader = open_rows(output.file, output.dataset, threads);
            for (const RowRuns& runs : {RowRuns{0, 65, 1, 0, 0, 37},
                                        {3, 4, 5, 13, 0, 37},
                                        {3, 4, 5, 13, 7, 11},
                                        {12, 1, 5, 13, 36, 1},
                                        {64, 1, 1, 0, 5, 30},
                                        {0, 13, 3, 26, 0, 1}}) {
                expect_runs(*reader, bytes, runs);
            }
            expect_scattered(*reader, bytes);
        }
    }
}

TEST(Rows, OfOneAxisColumnsAreElements) {
    const ScratchFolder folder;
    const OutputDataset output{folder / "line.h5", "/a", {ElementType::int16, {101}}, {}};
    const std::vector<std::byte> bytes = random_bytes(202);
    write_output(output, 1, 101, bytes);
    const auto reader = open_rows(output.file, output.dataset, 2);
    std::vector<std::byte> read(14);
    reader->read_runs({0, 1, 1, 1, 50, 7}, read.data());
    EXPECT_TRUE(std::equal(read.begin(), read.end(), bytes.begin() + 100));
}

} // namespace
} // namespace runner
