// SPDX-License-Identifier: BSD-3-Clause
#include "runner/output/checkpoints.hpp"

#include "tests/io/scratch_folder.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace runner::output {
namespace {

constexpr StateSize size{10, 16};

std::vector<std::byte> rows_of(std::uint64_t generation, std::int64_t rows) {
    return std::vector<std::byte>(static_cast<std::size_t>(rows * size.row_bytes),
                                  static_cast<std::byte>(generation));
}

void write_rows(const std::string& journal, std::uint64_t generation, int rank, std::int64_t first,
                std::int64_t rows) {
    CheckpointWriter writer(journal, generation, rank, size.row_bytes, RowWriter::Sync::no);
    writer.write(first, rows, rows_of(generation, rows).data());
    writer.finish();
}

void write_whole(const std::string& journal, std::uint64_t generation) {
    begin_checkpoint(journal, generation);
    write_rows(journal, generation, 0, 0, 7);
    write_rows(journal, generation, 1, 7, 3);
}

bool any(std::uint64_t /*generation*/) { return true; }

TEST(Checkpoints, TheLatestWholeOneIsTaken) {
    const ScratchFolder folder;
    const std::string journal = folder / "out.journal";
    EXPECT_EQ(latest_checkpoint(journal, size, any), std::nullopt);
    write_whole(journal, 900);
    write_whole(journal, 1000);
    begin_checkpoint(journal, 2000);
    write_rows(journal, 2000, 1, 7, 3); // and the other rank never
    EXPECT_EQ(latest_checkpoint(journal, size, any), 1000);
    EXPECT_EQ(latest_checkpoint(journal, size, [](std::uint64_t g) { return g < 1000; }), 900);
    remove_other_checkpoints(journal, 900);
    EXPECT_EQ(latest_checkpoint(journal, size, any), 900);
    std::vector<std::byte> rows(static_cast<std::size_t>(3 * size.row_bytes));
    open_checkpoint(journal, 900).read(7 * size.row_bytes, 3 * size.row_bytes, rows.data());
    EXPECT_EQ(rows, rows_of(900, 3));
}

TEST(Checkpoints, ADamagedOneIsPassedOver) {
    const ScratchFolder folder;
    const std::string journal = folder / "out.journal";
    write_whole(journal, 5);
    write_whole(journal, 6);
    std::fstream state(journal + "/checkpoint-6/state",
                       std::ios::in | std::ios::out | std::ios::binary);
    state.seekp(100);
    state.put('x');
    state.close();
    EXPECT_EQ(latest_checkpoint(journal, size, any), 5);
    std::filesystem::resize_file(journal + "/checkpoint-5/state", 100);
    EXPECT_EQ(latest_checkpoint(journal, size, any), std::nullopt);
}

TEST(Checkpoints, OneBegunAgainHasNothingOfBefore) {
    const ScratchFolder folder;
    const std::string journal = folder / "out.journal";
    write_whole(journal, 5);
    begin_checkpoint(journal, 5);
    write_rows(journal, 5, 0, 0, 4);
    EXPECT_EQ(latest_checkpoint(journal, size, any), std::nullopt);
}

} // namespace
} // namespace runner::output
