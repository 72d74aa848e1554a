// SPDX-License-Identifier: BSD-3-Clause
// Levels that are made of rows while these are written are those that are made of the chunks
// afterwards, whatever the order of the rows, and whatever was left out for want of memory.
#include "io/images/levels_ahead.hpp"

#include "io/output/assemble_output.hpp"
#include "io/output/create_output.hpp"
#include "io/output/open_output_rows.hpp"
#include "io/output/output_size.hpp"
#include "io/rows/row_geometry.hpp"
#include "io/rows/written_format.hpp"
#include "tests/io/scratch_folder.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

using Runs = std::vector<std::pair<std::int64_t, std::int64_t>>; ///< first rows and numbers of rows

struct Case {
    ElementType type = ElementType::uint16;
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> chunk;
    Downsample downsample = Downsample::mean;
    std::int64_t rows_at_once = 1; ///< in chunks
    std::optional<double> invalid = {};
};

void PrintTo(const Case& c, std::ostream* out) {
    *out << shape_text(c.shape) << " in " << shape_text(c.chunk) << ", " << c.rows_at_once;
}

class LevelsOfRows : public testing::TestWithParam<Case> {
  protected:
    LevelsOfRows() : bytes_(static_cast<std::size_t>(byte_count(array()))) {
        std::mt19937_64 random(5);
        std::generate(bytes_.begin(), bytes_.end(), [&] { return std::byte(random() % 100); });
    }

    static ArrayInfo array() { return {GetParam().type, GetParam().shape}; }

    OutputDataset output(const std::string& name) const {
        OutputLayout layout;
        layout.chunk = GetParam().chunk;
        layout.pyramid.levels = 4;
        layout.pyramid.downsample = GetParam().downsample;
        OutputDataset made = as_named({folder_ / name, "/0", array(), std::move(layout)});
        made.invalid_value = GetParam().invalid;
        return made;
    }

    /// All rows, in runs that can be written at once.
    Runs all_runs() const {
        const OutputDataset made = output("a.ome.zarr");
        const std::int64_t alignment = row_alignment(made.array, made.layout);
        Runs runs;
        for (std::int64_t first = 0; first < row_count(array());) {
            const std::int64_t rows =
                rows_to_border(array(), alignment, first, GetParam().rows_at_once * alignment);
            runs.emplace_back(first, rows);
            first += rows;
        }
        return runs;
    }

    /// The elements of all levels, which wait in their files.
    static std::vector<std::string> elements_of(const OutputDataset& output) {
        std::vector<std::string> all;
        for (const CoarserLevel& level : coarser_levels(output)) {
            const File file(output.file + "/" +
                                folder_of(output.layout)->level_elements(level.dataset),
                            File::Mode::read);
            std::string bytes(static_cast<std::size_t>(file.size()), '\0');
            file.read(0, file.size(), reinterpret_cast<std::byte*>(bytes.data()));
            all.push_back(bytes);
        }
        return all;
    }

    /// What is made of the chunks when all rows are written.
    std::pair<std::vector<std::string>, Extremes> made_afterwards(const Runs& runs) const {
        const OutputDataset made = output("a.ome.zarr");
        create_output(made);
        const auto writer = open_output_rows(made, 0, 2);
        for (const auto& [first, rows] : runs) {
            writer->write(first, rows, row(first));
        }
        writer->finish(RowWriter::Sync::no);
        assemble_output(made, {});
        prepare_levels(made, {});
        Extremes extremes = reduce_levels(made, {});
        return {elements_of(made), std::move(extremes)};
    }

    /// Makes levels beside the rows, each range of runs by a rank of its own, and the rest of the
    /// chunks. Returns which regions were made beside them.
    MadeRegions make_beside(const std::vector<Runs>& ranks, std::int64_t memory,
                            const std::pair<std::vector<std::string>, Extremes>& wanted) const {
        const OutputDataset made = output("b.ome.zarr");
        create_output(made);
        prepare_levels(made, {});
        MadeRegions regions;
        Extremes extremes;
        for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
            const auto ahead = LevelsAhead::of(made, memory, 3);
            auto writer = write_beside(open_output_rows(made, static_cast<int>(rank), 2), *ahead);
            for (const auto& [first, rows] : ranks[rank]) {
                writer->write(first, rows, row(first));
            }
            writer->finish(RowWriter::Sync::no);
            join(extremes, ahead->extremes());
            regions.resize(ahead->made().size(), '0');
            for (std::size_t i = 0; i < regions.size(); ++i) {
                EXPECT_TRUE(regions[i] == '0' || ahead->made()[i] == '0');
                regions[i] = std::max(regions[i], ahead->made()[i]);
            }
        }
        assemble_output(made, {});
        join(extremes, reduce_levels(made, {}, regions));
        EXPECT_EQ(elements_of(made), wanted.first);
        EXPECT_EQ(to_text(extremes), to_text(wanted.second));
        return regions;
    }

    const std::byte* row(std::int64_t first) const {
        return bytes_.data() + first * row_bytes(array());
    }

    ScratchFolder folder_;
    std::vector<std::byte> bytes_;
};

constexpr std::int64_t ample = std::int64_t{1} << 30;

TEST_P(LevelsOfRows, AreThoseOfTheChunks) {
    Runs runs = all_runs();
    const auto wanted = made_afterwards(runs);
    const MadeRegions in_order = make_beside({runs}, ample, wanted);
    EXPECT_EQ(std::count(in_order.begin(), in_order.end(), '0'), 0);
    std::mt19937_64 random(3);
    std::shuffle(runs.begin(), runs.end(), random);
    const MadeRegions shuffled = make_beside({runs}, ample, wanted);
    EXPECT_EQ(std::count(shuffled.begin(), shuffled.end(), '0'), 0);
}

TEST_P(LevelsOfRows, OfSeveralRanksAreMadeOfTheChunksWhereRanksMeet) {
    const Runs runs = all_runs();
    const auto wanted = made_afterwards(runs);
    const auto middle = runs.begin() + std::ssize(runs) / 2;
    make_beside({{runs.begin(), middle}, {middle, runs.end()}}, ample, wanted);
}

TEST_P(LevelsOfRows, AreMadeOfTheChunksWhereMemoryIsShort) {
    const Runs runs = all_runs();
    const auto wanted = made_afterwards(runs);
    const OutputDataset made = output("a.ome.zarr");
    const std::int64_t least = 2 * sweep_of(made, ChunkGrid(made.array, made.layout)).memory();
    EXPECT_EQ(LevelsAhead::of(made, least / 2 - 1, 3), nullptr);
    const MadeRegions regions = make_beside({runs}, least, wanted);
    // The rows of a region of an image come together; those of a volume wait for other layers.
    EXPECT_EQ(std::count(regions.begin(), regions.end(), '0') > 0, array().shape.size() == 3);
}

class RowsOfOthers : public LevelsOfRows {};

/// Three layers of regions of which one frame alone comes take all memory, until those behind them
/// have taken so long that they are given up.
TEST_P(RowsOfOthers, GiveTheirMemoryUp) {
    const Runs frames = all_runs();
    ASSERT_EQ(frames.size(), 64U);
    const auto wanted = made_afterwards(frames);
    std::vector<std::size_t> order = {0, 8, 16};
    for (std::size_t frame = 24; frame < 48; ++frame) {
        order.push_back(frame);
    }
    for (std::size_t frame = 48; frame < 56; ++frame) { // two layers of regions at once
        order.insert(order.end(), {frame, frame + 8});
    }
    for (std::size_t frame = 1; frame < 24; ++frame) {
        if (frame % 8 != 0) {
            order.push_back(frame);
        }
    }
    Runs runs;
    std::transform(order.begin(), order.end(), std::back_inserter(runs),
                   [&](std::size_t frame) { return frames[frame]; });
    const OutputDataset made = output("a.ome.zarr");
    const LevelSweep sweep = sweep_of(made, ChunkGrid(made.array, made.layout));
    ASSERT_EQ(sweep.step()[0], 8);
    ASSERT_EQ(sweep.memory() / (8 * 16 * row_bytes(array())), 3); // what is left has room for
    const MadeRegions regions = make_beside({runs}, 2 * sweep.memory(), wanted);
    EXPECT_EQ(regions, "00100111"); // two gave their memory up, which was enough
}

INSTANTIATE_TEST_SUITE_P(Images, RowsOfOthers,
                         testing::Values(Case{
                             ElementType::uint16, {64, 16, 101}, {1, 16, 101}, Downsample::max}));

INSTANTIATE_TEST_SUITE_P(
    Images, LevelsOfRows,
    testing::Values(Case{ElementType::uint16, {37, 70, 101}, {1, 16, 32}},
                    Case{ElementType::uint16, {37, 70, 101}, {8, 16, 32}, Downsample::mean, 3},
                    Case{ElementType::float32, {19, 33, 65}, {1, 8, 65}, Downsample::median, 2},
                    Case{ElementType::int8, {701, 303}, {50, 303}, Downsample::mode},
                    Case{ElementType::uint32, {701, 303}, {32, 40}, Downsample::mean, 5},
                    Case{ElementType::uint8, {37, 70, 101}, {1, 16, 32}, Downsample::mean, 1, 7},
                    Case{
                        ElementType::uint8, {3, 5, 41, 67}, {1, 2, 41, 67}, Downsample::max, 100}));

} // namespace
} // namespace runner
