// SPDX-License-Identifier: BSD-3-Clause
// Rows of snapshots computed again, against the sand automaton as its rules are written.
#include "runner/engines/evolve/snapshot_rows.hpp"

#include "base/error.hpp"
#include "io/files/hash.hpp"
#include "jobs/sand/sand_job.hpp"
#include "runner/verify/checked_rows.hpp"
#include "tests/reference/sand_reference.hpp"

#include <algorithm>
#include <random>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace runner::verify {
namespace {

using sand_reference::Cells;

/// Rows in memory, some of which cannot be read, and which of them were.
class MemoryRows : public RowReader {
  public:
    MemoryRows(const Cells& cells, std::int64_t columns) : cells_(cells) {
        info_.array = {ElementType::uint8, {std::ssize(cells) / columns, columns}};
    }

    const DatasetInfo& info() const override { return info_; }
    void read(std::int64_t first, std::int64_t rows, std::byte* to) override {
        const std::int64_t columns = info_.array.shape[1];
        for (std::int64_t row = first; row < first + rows; ++row) {
            if (unreadable.contains(row)) {
                throw Error(ExitCode::input, {"cannot read a row", "", "", ""});
            }
            seen.insert(row);
        }
        const auto* const from = reinterpret_cast<const std::byte*>(cells_.data());
        std::copy_n(from + first * columns, rows * columns, to);
    }

    std::set<std::int64_t> unreadable;
    std::set<std::int64_t> seen;

  private:
    const Cells& cells_;
    DatasetInfo info_;
};

int pick(std::mt19937& random, int first, int last) {
    return std::uniform_int_distribution<int>(first, last)(random);
}

Cells some_cells(std::mt19937& random, std::int64_t count) {
    Cells cells(static_cast<std::size_t>(count));
    std::generate(cells.begin(), cells.end(),
                  [&] { return static_cast<std::uint8_t>(pick(random, 0, 3)); });
    return cells;
}

/// A job, the state that it begins with, and all that it stores.
struct Made {
    Made(std::mt19937& random, std::int64_t rows, std::int64_t width, const Snapshots& snapshots)
        : job({rows, width}, 5, usual_sand_chances, snapshots, 0), columns(width),
          start(some_cells(random, rows * width)) {
        Cells state = start;
        std::uint64_t generation = snapshots.first;
        for (std::int64_t i = 0; i < snapshots.count(); ++i) {
            for (; generation < snapshots.generation(i); ++generation) {
                state = sand_reference::step(job.sand(), generation, state);
            }
            right.insert(right.end(), state.begin(), state.end());
        }
        stored = right;
    }

    /// The checksums of runs of so many rows each, or of 1 to 9 where that is 0.
    std::vector<RowHash> runs(std::mt19937& random, std::int64_t length) const {
        const std::int64_t all = std::ssize(right) / columns;
        std::vector<RowHash> runs;
        for (std::int64_t first = 0; first < all;) {
            const std::int64_t wanted = length == 0 ? pick(random, 1, 9) : length;
            const std::int64_t rows = std::min(wanted, all - first);
            runs.push_back(
                {first, rows,
                 hash_bytes(reinterpret_cast<const std::byte*>(right.data()) + first * columns,
                            rows * columns)});
            first += rows;
        }
        return runs;
    }

    /// Another material, or a byte that is none.
    void damage(std::mt19937& random, std::int64_t row) {
        stored[static_cast<std::size_t>(row * columns + pick(random, 0, int(columns) - 1))] ^=
            static_cast<std::uint8_t>(pick(random, 1, pick(random, 0, 3) == 0 ? 255 : 3));
    }

    SandJob job;
    std::int64_t columns;
    Cells start;
    Cells right;  ///< all snapshots
    Cells stored; ///< as the file has them
};

/// What a SnapshotRows reads: the input, and the snapshots in runs of one row each.
struct Sources {
    /// `wrong`: rows of the snapshots that are known to be wrong.
    Sources(const Made& made, std::mt19937& random, RowSet wrong = {})
        : input(made.start, made.columns), stored(made.stored, made.columns),
          checked(stored, made.runs(random, 1), std::move(wrong)) {}

    evolve::SnapshotRows computer(const SandJob& job, std::int64_t bytes = 1 << 20) {
        return {job, {input, checked, 1, 1}, bytes};
    }

    MemoryRows input;
    MemoryRows stored;
    CheckedRows checked;
};

/// Whether these rows are computed as they should be; throws as compute().
::testing::AssertionResult computes(evolve::SnapshotRows& rows, const Made& made, RowRange range,
                                    std::int64_t alignment) {
    const std::int64_t frame_rows = made.job.shape().rows;
    std::int64_t next = range.first;
    bool is_right = true;
    rows.compute(range, [&](RowRange piece, const std::byte* elements) {
        const auto* const cells = reinterpret_cast<const std::uint8_t*>(elements);
        is_right = is_right && piece.first == next && !piece.empty() &&
                   (piece.last == range.last || piece.last % frame_rows % alignment == 0) &&
                   std::equal(cells, cells + piece.count() * made.columns,
                              made.right.begin() + piece.first * made.columns);
        next = piece.last;
    });
    if (is_right && next == range.last) {
        return ::testing::AssertionSuccess();
    }
    return ::testing::AssertionFailure() << "rows " << range.first << " to " << range.last;
}

TEST(SnapshotRows, AreThoseOfTheAutomatonWhateverIsDamaged) {
    std::mt19937 random(1);
    int refused = 0;
    int in_bands = 0;
    for (int trial = 0; trial < 400; ++trial) {
        SCOPED_TRACE(trial);
        const std::int64_t rows = pick(random, 1, 60);
        const std::int64_t columns = pick(random, 1, 150);
        const Snapshots snapshots{static_cast<std::uint64_t>(pick(random, 0, 9)),
                                  pick(random, 0, 70), pick(random, 0, 20)};
        Made made(random, rows, columns, snapshots);
        const std::int64_t all = snapshots.count() * rows;
        MemoryRows input(made.start, columns);
        MemoryRows stored(made.stored, columns);
        for (int i = pick(random, 0, 6); i > 0; --i) {
            const std::int64_t row = pick(random, 0, static_cast<int>(all) - 1);
            if (pick(random, 0, 3) == 0) {
                stored.unreadable.insert(row);
            } else {
                made.damage(random, row);
            }
        }
        CheckedRows checked(stored, made.runs(random, 0), {});
        const std::int64_t alignment = pick(random, 1, 4);
        const std::int64_t held = pick(random, 1, 2) == 1 ? rows : pick(random, 1, 60);
        const std::int64_t bytes = 2 * held * made.job.shape().state_row_bytes;
        evolve::SnapshotRows computer(made.job, {input, checked, alignment, 2}, bytes,
                                      pick(random, 1, 2000));
        for (int i = 0; i < 6; ++i) {
            const int frame = pick(random, 0, static_cast<int>(snapshots.count()) - 1);
            const std::int64_t first =
                frame * rows + pick(random, 0, static_cast<int>(rows) - 1) / alignment * alignment;
            const RowRange range{first,
                                 pick(random, static_cast<int>(first) + 1, static_cast<int>(all))};
            try {
                EXPECT_TRUE(computes(computer, made, range, alignment));
                in_bands += held < rows && range.count() > held ? 1 : 0;
            } catch (const Error& error) {
                EXPECT_EQ(error.code(), ExitCode::launch) << error.what();
                EXPECT_LT(held, rows) << "all of the state fits: " << error.what();
                ++refused;
            }
        }
    }
    EXPECT_GT(refused, 20);
    EXPECT_GT(in_bands, 20);
}

TEST(SnapshotRows, ReadNoMoreThanTheyDependOn) {
    std::mt19937 random(2);
    const Snapshots snapshots{0, 9, 3};
    Made made(random, 100, 70, snapshots);
    made.damage(random, 100 + 46); // a row before the cone, and one behind it
    made.damage(random, 100 + 55);
    Sources from(made, random);
    evolve::SnapshotRows computer = from.computer(made.job);
    EXPECT_TRUE(computes(computer, made, {250, 252}, 1));
    std::set<std::int64_t> cone;
    for (std::int64_t row = 147; row < 155; ++row) {
        cone.insert(row);
    }
    EXPECT_EQ(from.stored.seen, cone);
    EXPECT_TRUE(from.input.seen.empty());
    // One row of the cone is damaged: it is six generations from the snapshot before.
    evolve::SnapshotRows other = from.computer(made.job);
    EXPECT_TRUE(computes(other, made, {251, 253}, 1));
    EXPECT_TRUE(from.stored.seen.contains(45));
    EXPECT_TRUE(from.stored.seen.contains(58));
    EXPECT_FALSE(from.stored.seen.contains(44));
    EXPECT_FALSE(from.stored.seen.contains(59));
    EXPECT_TRUE(from.input.seen.empty());
}

TEST(SnapshotRows, AreComputedOnceWhereAllDependOnAll) {
    std::mt19937 random(3);
    Made made(random, 20, 70, {0, 120, 40});
    Sources from(made, random, {{0, 60}}); // nothing is intact
    evolve::SnapshotRows computer = from.computer(made.job);
    EXPECT_TRUE(computes(computer, made, {3, 5}, 1));
    EXPECT_EQ(std::ssize(from.input.seen), 20);
    from.input.seen.clear();
    EXPECT_TRUE(computes(computer, made, {10, 60}, 1));
    EXPECT_TRUE(from.input.seen.empty());
    EXPECT_TRUE(computes(computer, made, {3, 5}, 1)); // of a generation before: from the input
    EXPECT_FALSE(from.input.seen.empty());
    EXPECT_TRUE(from.stored.seen.empty());
}

TEST(SnapshotRows, NameWhatTheMemoryIsTooSmallFor) {
    std::mt19937 random(4);
    Made made(random, 50, 64, {7, 20, 0});
    Sources from(made, random);
    evolve::SnapshotRows computer = from.computer(made.job, 2 * 40 * 16);
    try {
        computer.compute({24, 26}, [](RowRange, const std::byte*) {});
        FAIL() << "41 rows fit 40";
    } catch (const Error& error) {
        const std::string text = error.what();
        for (const char* words :
             {"frame 0, rows 24 to 25", "generation 7", "41 rows", "1.25 KiB"}) {
            EXPECT_NE(text.find(words), std::string::npos) << words << ": " << text;
        }
    }
    EXPECT_TRUE(computes(computer, made, {0, 3}, 1)); // 23 rows
}

TEST(SnapshotRows, NameAWrongByteOfTheInput) {
    std::mt19937 random(5);
    Made made(random, 30, 64, {0, 2, 0});
    made.start[12 * 64 + 5] = 77;
    Sources from(made, random);
    evolve::SnapshotRows computer(made.job, {from.input, from.checked, 1, 1}, 1 << 20, 64 * 4);
    EXPECT_TRUE(computes(computer, made, {0, 10}, 1));
    try {
        computer.compute({10, 11}, [](RowRange, const std::byte*) {});
        FAIL() << "takes a byte of 77";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::input);
        EXPECT_NE(std::string(error.what()).find("row 12, column 5"), std::string::npos);
    }
}

} // namespace
} // namespace runner::verify
