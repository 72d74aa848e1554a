// SPDX-License-Identifier: BSD-3-Clause
// An output in parts as a dataset of sources: that what one process hands over to another comes
// whole, and that pieces which cannot be are refused.
#include "io/hdf5/hdf5_dataset.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/input/dataset_layout.hpp"
#include "io/input/layout_message.hpp"
#include "io/output/create_output.hpp"
#include "io/output/open_output_rows.hpp"
#include "io/output/part_files.hpp"
#include "tests/io/dataset_file.hpp"
#include "tests/io/scratch_folder.hpp"

#include <filesystem>
#include <functional>
#include <numeric>

#include <gtest/gtest.h>

namespace runner {
namespace {

/// 12 rows of 10 numbers in three parts, and the layout that is read of them.
struct Made {
    explicit Made(const OutputLayout& layout) : values(120) {
        std::iota(values.begin(), values.end(), std::uint16_t{1000});
        output = {folder / "a.h5", "/x", {ElementType::uint16, {12, 10}}, layout};
        output.parts = choose_part_layout(output.array, layout, 3, 1);
        output.parts.folder = parts_folder(output.file);
        output.parts.owner = "owner";
        create_output(output);
        const auto writer = open_output_rows(output, 0, 2);
        const auto* data = reinterpret_cast<const std::byte*>(values.data());
        writer->write_runs(std::vector<RowsInMemory>{{8, 4, data + 160}, {0, 6, data}});
        writer->write(6, 2, data + 120);
        writer->finish(RowWriter::Sync::yes);
        known = inspect_layout(output.file, "/x");
    }

    ScratchFolder folder;
    std::vector<std::uint16_t> values;
    OutputDataset output;
    DatasetLayout known;
};

/// Rows of several parts, every second place of a larger memory.
void expect_scattered(RowReader& reader, const std::vector<std::uint16_t>& values) {
    std::vector<std::uint16_t> read(240, 7);
    auto* const to = reinterpret_cast<std::byte*>(read.data());
    reader.read_scattered(std::vector<ScatteredRows>{{5, 7, to + 200, 40}, {0, 5, to, 40}});
    for (std::size_t row = 0; row < 12; ++row) {
        for (std::size_t i = 0; i < 10; ++i) {
            ASSERT_EQ(read[row * 20 + i], values[row * 10 + i]) << row;
            ASSERT_EQ(read[row * 20 + 10 + i], 7) << row;
        }
    }
}

TEST(Parts, AreReadInPlace) {
    for (const OutputLayout& layout : {OutputLayout{}, OutputLayout{{2, 4}}}) {
        const Made made(layout);
        DatasetLayout back = decode_layout(encode_layout(made.known));
        back.file = made.known.file;
        back.dataset = made.known.dataset;
        ASSERT_EQ(back.way, DatasetLayout::Way::sources);
        EXPECT_EQ(back.pieces, deal_rows(made.output.array, made.output.parts));
        EXPECT_EQ(back.sources.size(), 3U);
        check_layout(back, {});
        for (const int threads : {1, 3}) {
            const auto reader = open_layout_rows(back, threads);
            for (const std::int64_t step : {1, 5, 12}) {
                std::vector<std::uint16_t> read(120);
                for (std::int64_t row = 0; row < 12; row += step) {
                    reader->read(row, std::min<std::int64_t>(step, 12 - row),
                                 reinterpret_cast<std::byte*>(read.data() + row * 10));
                }
                EXPECT_EQ(read, made.values) << threads << " threads, " << step << " rows";
            }
            expect_scattered(*reader, made.values);
        }
    }
}

/// Blocks at equal distances are one mapping a part, and a last block that is shorter another.
TEST(Parts, AreFewMappings) {
    for (const auto& [rows, mappings] : {std::pair{8 * 64, 8}, std::pair{8 * 64 + 5, 9}}) {
        const ScratchFolder folder;
        OutputDataset output{folder / "a.h5", "/x", {ElementType::uint8, {rows, 1 << 17}}, {}};
        output.parts = choose_part_layout(output.array, {}, 8, 1);
        output.parts.folder = parts_folder(output.file);
        output.parts.owner = "owner";
        create_output(output);
        const FileHandle file = open_hdf5(output.file);
        const DatasetHandle dataset = open_dataset(file, output.file, "/x");
        std::size_t count = 0;
        hdf5_must(H5Pget_virtual_count(creation_of(dataset).get(), &count), "H5Pget_virtual_count");
        EXPECT_EQ(count, static_cast<std::size_t>(mappings));
        EXPECT_EQ(inspect_layout(output.file, "/x").pieces, deal_rows(output.array, output.parts));
    }
}

/// Each part of an output of large frames has the same rows of every frame that it has
/// rows of: every second frame of one shape, and every frame of the other.
TEST(Parts, OfLargeFramesAreRegularSelections) {
    for (const auto& [shape, block] : {std::pair{std::vector<std::int64_t>{16, 24, 1 << 17}, 6},
                                       std::pair{std::vector<std::int64_t>{8, 48, 1 << 17}, 6}}) {
        const ScratchFolder folder;
        OutputDataset output{folder / "a.h5", "/x", {ElementType::uint8, shape}, {}};
        output.parts = choose_part_layout(output.array, {}, 8, 1);
        EXPECT_EQ(output.parts.block, block);
        output.parts.folder = parts_folder(output.file);
        output.parts.owner = "owner";
        create_output(output);
        const FileHandle file = open_hdf5(output.file);
        const DatasetHandle dataset = open_dataset(file, output.file, "/x");
        const PropertyHandle creation = creation_of(dataset);
        std::size_t count = 0;
        hdf5_must(H5Pget_virtual_count(creation.get(), &count), "H5Pget_virtual_count");
        EXPECT_EQ(count, 8U);
        for (std::size_t i = 0; i < count; ++i) {
            const SpaceHandle space(
                hdf5_must(H5Pget_virtual_vspace(creation.get(), i), "H5Pget_virtual_vspace"));
            EXPECT_GT(H5Sis_regular_hyperslab(space.get()), 0) << i;
        }
        EXPECT_EQ(inspect_layout(output.file, "/x").pieces, deal_rows(output.array, output.parts));
    }
}

/// Blocks along the second axis of several images lie at equal distances within each image alone.
TEST(Parts, OfImagesAreWhole) {
    const ScratchFolder folder;
    OutputDataset output{folder / "a.h5", "/x", {ElementType::uint8, {7, 37, 1 << 18}}, {}};
    output.parts = choose_part_layout(output.array, {}, 5, 2);
    output.parts.folder = parts_folder(output.file);
    output.parts.owner = "owner";
    create_output(output);
    EXPECT_EQ(inspect_layout(output.file, "/x").pieces, deal_rows(output.array, output.parts));
}

TEST(Parts, StayWhenTheStructureIsRestored) {
    const Made made({});
    const std::uint64_t before = layout_hash(made.output);
    restore_output(made.output);
    EXPECT_EQ(layout_hash(made.output), before);
    std::vector<std::uint16_t> read(120);
    open_layout_rows(inspect_layout(made.output.file, "/x"), 1)
        ->read(0, 12, reinterpret_cast<std::byte*>(read.data()));
    EXPECT_EQ(read, made.values);
}

TEST(Parts, WithPiecesThatCannotBeAreRefused) {
    using Change = std::function<void(DatasetLayout&)>;
    const std::vector<std::pair<std::string, Change>> changes = {
        {"rows from row", [](DatasetLayout& some) { some.pieces[1].source = 3; }},
        {"rows from row", [](DatasetLayout& some) { some.pieces[1].source = -1; }},
        {"rows from row", [](DatasetLayout& some) { some.pieces[1].first = 0; }},
        {"rows from row", [](DatasetLayout& some) { some.pieces[1].rows = 0; }},
        {"rows from row", [](DatasetLayout& some) { some.pieces[1].source_first = 4; }},
        {"rows from row", [](DatasetLayout& some) { some.pieces[1].source_first = INT64_MAX; }},
        {"rows from row", [](DatasetLayout& some) { some.pieces[1].rows = INT64_MAX; }},
        {"sources of", [](DatasetLayout& some) { some.pieces.pop_back(); }},
        {"of other rows", [](DatasetLayout& some) { some.sources[0].info.array.shape[1] = 9; }},
        {"of other rows",
         [](DatasetLayout& some) { some.sources[0].way = DatasetLayout::Way::library; }},
        {"of other rows",
         [](DatasetLayout& some) { some.sources[0].info.array.type = ElementType::uint8; }},
        {"bytes from byte", [](DatasetLayout& some) { some.sources[2].info.offset = 1 << 20; }}};
    const Made made({});
    for (const auto& [why, change] : changes) {
        DatasetLayout some = made.known;
        change(some);
        const auto error = error_of([&] { check_layout(some, {}); });
        ASSERT_TRUE(error) << why;
        EXPECT_EQ(error->code(), ExitCode::input);
        EXPECT_NE(error->text().why.find(why), std::string::npos) << error->what();
    }
    const ScratchFolder elsewhere;
    std::filesystem::copy(made.known.sources[0].holder, elsewhere / "b.h5");
    DatasetLayout some = made.known;
    some.sources[0].holder = elsewhere / "b.h5";
    EXPECT_TRUE(error_of([&] { check_layout(some, {}); }));
    const std::string whole = encode_layout(made.known);
    for (std::size_t length = 0; length < whole.size(); ++length) {
        EXPECT_THROW((void)decode_layout(std::string_view(whole).substr(0, length)), BadMessage);
    }
}

TEST(Parts, AreRemovedBySet) {
    const Made made({});
    OutputDataset other = made.output;
    other.file = made.folder / "b.h5";
    other.parts.set = 1;
    create_output(other);
    EXPECT_EQ(part_files(made.output.parts.folder).size(), 6U);
    remove_parts(made.output.parts.folder, 1);
    EXPECT_EQ(part_files(made.output.parts.folder),
              (std::vector<std::string>{made.output.parts.folder + "/0000.h5",
                                        made.output.parts.folder + "/0001.h5",
                                        made.output.parts.folder + "/0002.h5"}));
    remove_parts(made.output.parts.folder);
    EXPECT_FALSE(std::filesystem::exists(made.output.parts.folder));
}

} // namespace
} // namespace runner
