// SPDX-License-Identifier: BSD-3-Clause
// Rows of a Zarr array come through whoever writes them in whatever order, and chunks that can be
// in their files are written once.
#include "io/writers/placed_chunks.hpp"

#include "base/error.hpp"
#include "io/files/folder_tree.hpp"
#include "io/input/open_rows.hpp"
#include "io/output/assemble_output.hpp"
#include "io/output/create_output.hpp"
#include "io/output/intact_rows.hpp"
#include "io/output/open_output_rows.hpp"
#include "io/output/output_size.hpp"
#include "io/rows/row_geometry.hpp"
#include "io/writers/chunk_bands.hpp"
#include "io/writers/row_writers.hpp"
#include "io/writers/shards.hpp"
#include "tests/io/scratch_folder.hpp"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

struct Case {
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> chunk;
    std::vector<std::int64_t> shard;
    Compression compression = Compression::none;
    Ngff ngff = Ngff::v0_5;
};

void PrintTo(const Case& c, std::ostream* out) {
    *out << shape_text(c.shape) << " in " << shape_text(c.chunk) << ", " << shape_text(c.shard)
         << ", compression " << static_cast<int>(c.compression);
}

/// Elements that pack to sizes that differ from chunk to chunk.
std::vector<std::byte> elements_of(const ArrayInfo& array) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(byte_count(array)));
    std::mt19937_64 random(bytes.size());
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<std::byte>(random() % (1 + i * 200 / bytes.size()));
    }
    return bytes;
}

class PlacedRows : public testing::TestWithParam<Case> {
  protected:
    OutputDataset output(const std::string& name) const {
        OutputLayout layout;
        layout.chunk = GetParam().chunk;
        layout.shard = GetParam().shard;
        layout.compression = GetParam().compression;
        layout.level = layout.compression == Compression::none ? 0 : 1;
        layout.ngff = GetParam().ngff;
        return as_named(
            {folder_ / name, "/0", {ElementType::uint16, GetParam().shape}, std::move(layout)});
    }

    /// The rows that can be written at once, as their first row and their number.
    static std::vector<std::pair<std::int64_t, std::int64_t>> runs_of(const OutputDataset& output) {
        const std::vector<std::int64_t>& shape = output.array.shape;
        const std::int64_t frame = shape.size() > 1 ? shape[shape.size() - 2] : shape[0];
        const std::int64_t align = row_alignment(output.array, output.layout);
        std::vector<std::pair<std::int64_t, std::int64_t>> runs;
        for (std::int64_t first = 0; first < row_count(output.array);) {
            const std::int64_t rows = std::min(align, frame - first % frame);
            runs.emplace_back(first, rows);
            first += rows;
        }
        return runs;
    }

    /// Memory for this many bands of chunks of several layers, beside that of packing.
    static std::int64_t memory_for(const OutputDataset& output, std::int64_t bands) {
        const ChunkGrid grid(output.array, output.layout);
        return threads * ChunkBands::packing_bytes(output.layout, grid) +
               bands * grid.layers() * grid.chunk_rows() * row_bytes(output.array);
    }

    /// Writes these runs by one rank, which has memory for `bands` and commits every `commit` runs.
    static void write(const OutputDataset& output, const std::vector<std::byte>& bytes, int rank,
                      std::int64_t attempt,
                      const std::vector<std::pair<std::int64_t, std::int64_t>>& runs,
                      std::int64_t bands = many, std::int64_t commit = many) {
        const auto writer =
            open_placing_writer(output, rank, threads, attempt, memory_for(output, bands));
        std::int64_t written = 0;
        for (const auto& [first, rows] : runs) {
            writer->write(first, rows, bytes.data() + first * row_bytes(output.array));
            if (++written % commit == 0) {
                writer->hand_over();
            }
        }
        writer->sync();
        writer->finish(RowWriter::Sync::no);
    }

    /// The names and bytes of all chunk files after the output is put together by two ranks.
    static std::vector<std::string> assembled(const OutputDataset& output) {
        for (const int rank : {0, 1}) {
            assemble_output(output, {.rank = rank, .ranks = 2, .threads = 2});
        }
        std::vector<std::string> files;
        for (const std::string& name : files_in(output.file)) {
            const File file(output.file + "/" + name, File::Mode::read);
            std::string bytes(static_cast<std::size_t>(file.size()), '\0');
            file.read(0, file.size(), reinterpret_cast<std::byte*>(bytes.data()));
            files.push_back(name + ":" + bytes);
        }
        return files;
    }

    /// The files that one rank makes of rows in their order, of which none waits.
    static std::vector<std::string> made_in_order(const OutputDataset& output,
                                                  const std::vector<std::byte>& bytes) {
        create_output(output);
        write(output, bytes, 0, 1, runs_of(output), 0);
        return assembled(output);
    }

    /// Cuts every other file, and changes all bytes of the others.
    static void damage_files(const OutputDataset& output) {
        bool cuts = false;
        for (const std::string& name : files_in(output.file)) {
            const File file(output.file + "/" + name, File::Mode::update);
            std::vector<std::byte> bytes(static_cast<std::size_t>(file.size()));
            file.read(0, std::ssize(bytes), bytes.data());
            std::transform(bytes.begin(), bytes.end(), bytes.begin(),
                           [](std::byte byte) { return ~byte; });
            file.write(0, std::ssize(bytes), bytes.data());
            cuts = !cuts;
            if (cuts) {
                file.resize(std::ssize(bytes) / 2);
            }
        }
    }

    static std::int64_t shard_bytes(const OutputDataset& output) {
        const std::vector<std::string> paths = shard_paths(output);
        return std::accumulate(paths.begin(), paths.end(), std::int64_t{0},
                               [](std::int64_t sum, const std::string& path) {
                                   return sum + File(path, File::Mode::read).size();
                               });
    }

    static constexpr int threads = 3;
    static constexpr std::int64_t many = 1000;

    ScratchFolder folder_;
};

TEST_P(PlacedRows, AreWrittenOnceAndReadBack) {
    const OutputDataset output = this->output("a.ome.zarr");
    const std::vector<std::byte> bytes = elements_of(output.array);
    create_output(output);
    write(output, bytes, 0, 1, runs_of(output));
    const ChunkGrid grid(output.array, output.layout);
    const std::int64_t pieces =
        output.layout.compression == Compression::none ? grid.parts() : grid.count();
    EXPECT_EQ(shard_bytes(output), pieces * std::int64_t{sizeof(ShardRecord)});
    (void)assembled(output);
    place_written(output);
    const auto reader = open_rows(output.file, "/0", 2);
    std::vector<std::byte> back(bytes.size());
    reader->read(0, row_count(output.array), back.data());
    EXPECT_EQ(back, bytes);
}

TEST_P(PlacedRows, MakeTheSameFilesInAnyOrderByAnyRanks) {
    const OutputDataset whole = output("a.ome.zarr");
    const std::vector<std::byte> bytes = elements_of(whole.array);
    const auto runs = runs_of(whole);
    const std::vector<std::string> wanted = made_in_order(whole, bytes);
    std::mt19937_64 random(7);
    for (int trial = 0; trial < 4; ++trial) {
        const OutputDataset made = output("b.ome.zarr");
        create_output(made);
        const std::int64_t ranks = 1 + trial;
        for (std::int64_t rank = 0; rank < ranks; ++rank) {
            std::vector<std::pair<std::int64_t, std::int64_t>> own(
                runs.begin() + std::ssize(runs) * rank / ranks,
                runs.begin() + std::ssize(runs) * (rank + 1) / ranks);
            if (trial % 2 == 1) {
                std::shuffle(own.begin(), own.end(), random);
            }
            write(made, bytes, static_cast<int>(rank), 1, own, trial == 0 ? many : trial,
                  1 + trial * 2);
        }
        EXPECT_EQ(assembled(made), wanted) << trial;
        EXPECT_EQ(assembled(made), wanted) << trial << ", a second time";
    }
}

/// The journal of a killed run knows some rows; what is behind them may be lost.
TEST_P(PlacedRows, AreCompletedByASecondRun) {
    const OutputDataset whole = output("a.ome.zarr");
    const std::vector<std::byte> bytes = elements_of(whole.array);
    const auto runs = runs_of(whole);
    const std::vector<std::string> wanted = made_in_order(whole, bytes);
    for (std::int64_t known = 0; known <= std::ssize(runs); known += 1 + std::ssize(runs) / 3) {
        const OutputDataset made = output("b.ome.zarr");
        create_output(made);
        write(made, bytes, 0, 1,
              {runs.begin(), runs.begin() + std::min(known + 2, std::ssize(runs))});
        if (known == 0) {
            damage_files(made);
        }
        write(made, bytes, 1, 2, {runs.begin() + known, runs.end()}, 1 + known % 4);
        if (known > 0) {
            const auto& [first, rows] = runs[static_cast<std::size_t>(known - 1)];
            EXPECT_EQ(intact_rows(made, {{0, first + rows, 0}}, RowCheck::all).rows.size(), 1U);
        }
        const std::vector<std::string> files = assembled(made);
        EXPECT_EQ(files, wanted) << known;
    }
}

/// A process that dies leaves all rows that its journal knows of.
TEST_P(PlacedRows, OutliveTheirWriterWhenHandedOver) {
    const OutputDataset output = this->output("a.ome.zarr");
    const std::vector<std::byte> bytes = elements_of(output.array);
    const auto runs = runs_of(output);
    for (std::int64_t known = 1; known <= std::ssize(runs); known += 1 + std::ssize(runs) / 3) {
        create_output(output);
        const auto writer = open_placing_writer(output, 0, threads, 1, memory_for(output, many));
        std::vector<RowHash> written;
        for (std::int64_t i = 0; i < known; ++i) {
            const auto& [first, rows] = runs[static_cast<std::size_t>(i)];
            writer->write(first, rows, bytes.data() + first * row_bytes(output.array));
            written.push_back({first, rows, 0});
        }
        writer->hand_over();
        EXPECT_EQ(intact_rows(output, written, RowCheck::all).rows.size(), written.size());
    }
}

/// Somebody removed or cut a file while the rows were written.
TEST_P(PlacedRows, AreNotTakenForThereWhereTheirFileIsNot) {
    const OutputDataset output = this->output("a.ome.zarr");
    const std::vector<std::byte> bytes = elements_of(output.array);
    for (const bool cuts : {false, true}) {
        create_output(output);
        write(output, bytes, 0, 1, runs_of(output));
        const std::string file = output.file + "/" + files_in(output.file).front();
        if (cuts) {
            std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
        } else {
            std::filesystem::remove(file);
        }
        EXPECT_THROW(assembled(output), Error) << cuts;
    }
}

INSTANTIATE_TEST_SUITE_P(
    Zarr, PlacedRows,
    testing::Values(Case{{7, 19, 23}, {1, 4, 23}, {2, 8, 23}, Compression::zstd},
                    Case{{7, 19, 23}, {1, 4, 5}, {3, 8, 10}, Compression::blosc_lz4},
                    Case{{5, 7, 11}, {1, 2, 3}, {1, 2, 3}, Compression::gzip},
                    Case{{5, 7, 11}, {1, 2, 3}, {}, Compression::zstd, Ngff::v0_4},
                    Case{{2, 3, 9, 11}, {1, 1, 4, 5}, {1, 2, 8, 15}, Compression::blosc_zstd},
                    Case{{61, 67}, {16, 32}, {32, 64}, Compression::zstd},
                    Case{{7, 19, 23}, {3, 4, 5}, {6, 8, 25}, Compression::zstd},
                    Case{{13, 19, 23}, {2, 8, 23}, {2, 8, 23}, Compression::gzip},
                    Case{{5, 7, 11}, {2, 2, 3}, {}, Compression::blosc_zstd, Ngff::v0_4},
                    Case{{4, 5, 9, 11}, {2, 3, 4, 5}, {2, 6, 8, 15}, Compression::blosc_lz4},
                    Case{{7, 19, 23}, {1, 4, 23}, {2, 8, 23}},
                    Case{{7, 19, 23}, {3, 4, 5}, {6, 8, 25}},
                    Case{{5, 7, 11}, {2, 2, 3}, {2, 2, 3}},
                    Case{{2, 3, 9, 11}, {1, 2, 4, 5}, {2, 2, 8, 15}},
                    Case{{1, 5, 1001}, {1, 4, 5}, {1, 4, 5}}, // more files at once than are open
                    Case{{1, 5, 1001}, {1, 4, 5}, {}, Compression::zstd, Ngff::v0_4}));

TEST(PlacesChunks, InAFolder) {
    OutputLayout layout;
    layout.format = as_named({"a.zarr", "", {ElementType::uint8, {4, 6, 8}}, {}}).layout.format;
    EXPECT_TRUE(places_chunks(layout));
    layout.format = nullptr;
    EXPECT_FALSE(places_chunks(layout));
}

} // namespace
} // namespace runner
