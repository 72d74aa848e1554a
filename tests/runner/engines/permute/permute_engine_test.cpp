// SPDX-License-Identifier: BSD-3-Clause
// A permutation on one rank, from memory to memory, whose reader and writer stall and fail.
#include "runner/engines/permute/permute_engine.hpp"

#include "base/format.hpp"
#include "io/rows/row_geometry.hpp"
#include "jobs/transpose/transpose_job.hpp"
#include "runner/engines/permute/permuted_rows.hpp"
#include "tests/support/copy_stream.hpp"
#include "tests/support/stepped_rows.hpp"

#include <algorithm>
#include <array>
#include <future>
#include <optional>
#include <stdexcept>

#include <gtest/gtest.h>

namespace runner::permute {
namespace {

using Permuted = std::vector<int>;

/// The shape of elements of one byte.
PermuteShape shape_of(const Extents& input, const Permuted& permutation) {
    PermuteShape shape;
    shape.input = input;
    shape.permutation = permutation;
    const Extents output = shape.permuted(input);
    shape.output = {ElementType::uint8, output};
    return shape;
}

/// Element by element, as docs/transpose.md says.
std::vector<std::byte> reference(const std::vector<std::byte>& in, const PermuteShape& shape) {
    const Extents n = shape.permuted(shape.input);
    std::vector<std::byte> out;
    for (std::int64_t i = 0; i < std::ssize(in); ++i) {
        Extents at(n.size());
        std::int64_t rest = i;
        for (std::size_t axis = n.size(); axis-- > 0; rest /= n[axis]) {
            at[static_cast<std::size_t>(shape.permutation[axis])] = rest % n[axis];
        }
        std::int64_t from = 0;
        for (std::size_t axis = 0; axis < n.size(); ++axis) {
            from = from * shape.input[axis] + at[axis];
        }
        out.push_back(in[static_cast<std::size_t>(from)]);
    }
    return out;
}

/// One run of a TransposeJob.
class PermuteTrial : public SteppedRun {
  public:
    /// `chunk_rows`: of a box. `alignment`: of its rows.
    PermuteTrial(const PermuteShape& shape, std::int64_t chunk_rows, int lanes,
                 std::int64_t alignment = 1, RowSet done = {})
        : SteppedRun(counted_bytes(checked_product(shape.input)), shape.input.back(),
                     row_count(shape.output), shape.output.shape.back()),
          job(shape) {
        PlanRequest request;
        request.host_memory = std::int64_t{1} << 40;
        request.chunk_rows = chunk_rows;
        request.lanes = lanes;
        request.alignment = alignment;
        request.done = std::move(done);
        plan = make_permute_plan(job, request);
    }

    RunTimes run() {
        return SteppedRun::run([&](output::Commits& commits) {
            return run_permutation(
                {plan, job, 0, reader, writer, progress, nullptr, &commits, &stop, say()},
                [] { return Queue(CpuQueue(1)); });
        });
    }

    bool is_right() const {
        return writer.is_right(reference(in(), job.shape())) && records_are_right();
    }
    /// The rows of the output that the first boxes make.
    RowSet rows_of(std::int64_t boxes) const {
        RowSet all;
        for (std::int64_t box = 0; box < boxes; ++box) {
            const std::vector<RowRange> rows = plan.grid.rows(plan.grid.box(box));
            all.insert(all.end(), rows.begin(), rows.end());
        }
        return make_row_set(all);
    }
    RowSet all_rows() const { return {{0, plan.total_rows()}}; }
    /// Whether a row of the input has elements of the box.
    bool needs(std::int64_t box, std::int64_t row) const {
        const PermuteBox indices = plan.grid.box(box);
        const Permuted& permutation = plan.shape.permutation;
        const std::array at = {row / plan.shape.input[1], row % plan.shape.input[1]};
        const auto within = [&](int axis, const RowRange& range) {
            return axis == 2 || (at.at(static_cast<std::size_t>(axis)) >= range.first &&
                                 at.at(static_cast<std::size_t>(axis)) < range.last);
        };
        return within(permutation[0], indices[0]) && within(permutation[1], indices[1]);
    }
    std::string text(std::int64_t box) const {
        const PermuteBox at = plan.grid.box(box);
        return fmt::format("the output's indices {} to {} of axis 0 and {} to {} of axis 1",
                           at[0].first, at[0].last - 1, at[1].first, at[1].last - 1);
    }

    TransposeJob job;
    PermutePlan plan;
};

const std::vector<Permuted> permutations = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                            {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

TEST(PermuteEngine, MakesThePlainReference) {
    for (const Permuted& permutation : permutations) {
        for (const Extents& input :
             {Extents{1, 1, 1}, Extents{1, 1, 23}, Extents{1, 13, 1}, Extents{5, 7, 11}}) {
            for (const std::int64_t chunk_rows : {1, 7, 200}) {
                for (const int lanes : {1, 5}) {
                    for (const std::int64_t alignment : {1, 4}) {
                        SCOPED_TRACE(
                            fmt::format("{} {} {} from {} x {} x {}, boxes of {}, {} lanes",
                                        permutation[0], permutation[1], permutation[2], input[0],
                                        input[1], input[2], chunk_rows, lanes));
                        PermuteTrial trial(shape_of(input, permutation), chunk_rows, lanes,
                                           alignment);
                        const RunTimes times = trial.run();
                        EXPECT_TRUE(trial.is_right());
                        EXPECT_EQ(trial.writer.written(), trial.all_rows());
                        EXPECT_EQ(trial.progress.rows_done, trial.plan.total_rows());
                        EXPECT_EQ(times.chunks, trial.plan.grid.boxes());
                        EXPECT_EQ(times[Stage::write].bytes, std::ssize(trial.in()));
                        EXPECT_EQ(times[Stage::read].bytes, std::ssize(trial.in()));
                    }
                }
            }
        }
    }
}

TEST(PermuteEngine, MakesThePlainReferenceOfMoreAxes) {
    const auto expect_right = [](const Extents& input, const Permuted& permutation,
                                 std::int64_t chunk_rows, std::int64_t alignment) {
        SCOPED_TRACE(fmt::format(
            "{} from {}, boxes of {}",
            shape_text(std::vector<std::int64_t>(permutation.begin(), permutation.end())),
            shape_text(input), chunk_rows));
        PermuteTrial trial(shape_of(input, permutation), chunk_rows, 2, alignment);
        (void)trial.run();
        EXPECT_TRUE(trial.is_right());
        EXPECT_EQ(trial.writer.written(), trial.all_rows());
    };
    Permuted four = {0, 1, 2, 3};
    do {
        for (const std::int64_t chunk_rows : {1, 6, 1000}) {
            expect_right({3, 5, 2, 7}, four, chunk_rows, 1);
            expect_right({3, 1, 5, 4}, four, chunk_rows, 2);
        }
    } while (std::next_permutation(four.begin(), four.end()));
    Permuted five = {0, 1, 2, 3, 4};
    do {
        expect_right({3, 2, 5, 1, 4}, five, 7, 1);
    } while (std::next_permutation(five.begin(), five.end()));
}

TEST(PermuteEngine, LeavesOutFinishedRows) {
    for (const Permuted& permutation : permutations) {
        for (const std::int64_t chunk_rows : {1, 4, 6}) {
            for (const RowSet& done : {RowSet{{0, 2}}, RowSet{{1, 4}, {8, 11}}, RowSet{{0, 12}}}) {
                PermuteTrial trial(shape_of({3, 5, 4}, permutation), chunk_rows, 3, 1, done);
                (void)trial.run();
                EXPECT_TRUE(trial.is_right());
                EXPECT_EQ(trial.writer.written(), subtract(trial.all_rows(), done));
                EXPECT_EQ(trial.progress.rows_done, trial.plan.total_rows() - count_rows(done));
            }
        }
    }
}

/// Axis 0 of the output is axis 1 of the input, of 3 x 5 x 7 elements.
TEST(PermuteEngine, ReadsTheRunsOfABox) {
    BoxGrid grid;
    grid.shape = shape_of({3, 5, 7}, {1, 0, 2});
    const auto runs = [&](const PermuteBox& box) {
        const RowRuns made = input_runs(grid, box).at(0);
        return std::array{made.first,  made.rows,         made.runs,
                          made.stride, made.first_column, made.columns};
    };
    EXPECT_EQ(runs({{1, 5}, {1, 3}}), (std::array<std::int64_t, 6>{6, 4, 2, 5, 0, 7}));
    EXPECT_EQ(runs({{0, 5}, {1, 3}}), (std::array<std::int64_t, 6>{5, 10, 1, 5, 0, 7}));
    grid.shape = shape_of({3, 5, 7}, {2, 0, 1});
    EXPECT_EQ(runs({{2, 6}, {1, 2}}), (std::array<std::int64_t, 6>{5, 5, 1, 5, 2, 4}));
}

TEST(PermuteEngine, WritesWhatItHasWhileTheReaderStalls) {
    for (const int lanes : {1, 2, 9}) {
        PermuteTrial trial(shape_of({7, 5, 3}, {0, 2, 1}), 3, lanes);
        ASSERT_EQ(trial.plan.grid.boxes(), 7);
        Event arrived;
        Event released;
        trial.reader.before = [&](std::int64_t row) {
            if (row == 4 * 5) {
                arrived.happen();
                released.wait();
            }
        };
        std::future<RunTimes> run = std::async(std::launch::async, [&] { return trial.run(); });
        arrived.wait();
        trial.writer.rows_written.wait_for(12);
        EXPECT_EQ(trial.writer.rows_written.value(), 12);
        released.happen();
        EXPECT_EQ(run.get().chunks, 7);
        EXPECT_TRUE(trial.is_right());
        EXPECT_EQ(trial.writer.written(), trial.all_rows());
    }
}

TEST(PermuteEngine, ReadsNoFurtherThanTheLanesWhileTheWriterStalls) {
    for (const int lanes : {1, 2, 9}) {
        PermuteTrial trial(shape_of({7, 5, 3}, {0, 2, 1}), 3, lanes);
        const std::int64_t held = 5 * std::min<std::int64_t>(7, lanes);
        Event released;
        trial.writer.before = [&](std::int64_t row) {
            if (row == 0) {
                released.wait();
            }
        };
        std::future<RunTimes> run = std::async(std::launch::async, [&] { return trial.run(); });
        trial.reader.rows_read.wait_for(held);
        EXPECT_EQ(trial.reader.rows_read.value(), held);
        released.happen();
        (void)run.get();
        EXPECT_TRUE(trial.is_right());
        EXPECT_EQ(trial.writer.written(), trial.all_rows());
    }
}

TEST(PermuteEngine, FailsAsItsReaderDoesAtAnyRow) {
    for (const Permuted& permutation : permutations) {
        for (const int lanes : {1, 4}) {
            for (std::int64_t row = 0; row < 15; ++row) {
                PermuteTrial trial(shape_of({3, 5, 7}, permutation), 2, lanes);
                SCOPED_TRACE(fmt::format("{} {} {}, {} lanes, row {}", permutation[0],
                                         permutation[1], permutation[2], lanes, row));
                trial.reader.before = fails_at(row, ExitCode::input, "cannot read");
                std::int64_t box = 0;
                while (!trial.needs(box, row)) {
                    ++box;
                }
                const std::optional<Error> error = error_of([&] { (void)trial.run(); });
                ASSERT_TRUE(error);
                EXPECT_EQ(error->code(), ExitCode::input);
                EXPECT_EQ(error->text().what, "cannot read");
                EXPECT_EQ(error->text().where,
                          fmt::format("row {}; read of {}", row, trial.text(box)));
                EXPECT_TRUE(trial.is_right());
                std::int64_t whole = 0; // boxes that are there, none behind one that is not
                while (whole < box && trial.recorded() != trial.rows_of(whole)) {
                    ++whole;
                }
                EXPECT_EQ(trial.recorded(), trial.rows_of(lanes == 1 ? box : whole));
                EXPECT_FALSE(trial.progress.under_way);
            }
        }
    }
}

/// Boxes that are written whole before the one that is not stay recorded.
TEST(PermuteEngine, FailsAsItsWriterDoesAtAnyRow) {
    for (const Permuted& permutation : permutations) {
        for (const int lanes : {1, 4}) {
            PermuteTrial whole(shape_of({3, 4, 5}, permutation), 6, lanes);
            for (std::int64_t row = 0; row < whole.plan.total_rows(); ++row) {
                PermuteTrial trial(shape_of({3, 4, 5}, permutation), 6, lanes);
                SCOPED_TRACE(fmt::format("{} {} {}, {} lanes, row {}", permutation[0],
                                         permutation[1], permutation[2], lanes, row));
                trial.writer.before = fails_at(row, ExitCode::output, "no space left");
                const std::optional<Error> error = error_of([&] { (void)trial.run(); });
                ASSERT_TRUE(error);
                EXPECT_EQ(error->code(), ExitCode::output);
                std::int64_t box = 0;
                while (count_rows(intersect(trial.rows_of(box + 1), {{row, row + 1}})) == 0) {
                    ++box;
                }
                EXPECT_EQ(error->text().where,
                          fmt::format("row {}; write of {}", row, trial.text(box)));
                EXPECT_EQ(trial.recorded(), trial.rows_of(box));
                EXPECT_FALSE(trial.writer.wrote_after_a_failure());
                EXPECT_TRUE(trial.writer.is_right(reference(trial.in(), trial.job.shape())));
                EXPECT_FALSE(trial.writer.wrote_a_row_twice());
            }
        }
    }
}

TEST(PermuteEngine, StopsWhenAskedTo) {
    for (const int lanes : {1, 2, 9}) {
        PermuteTrial drop(shape_of({7, 5, 3}, {0, 2, 1}), 3, lanes);
        drop.writer.before = [&](std::int64_t row) {
            if (row == 7) {
                drop.stop.ask_to_drop("a test");
            }
        };
        (void)drop.run();
        EXPECT_TRUE(drop.is_right());
        EXPECT_EQ(drop.recorded(), drop.rows_of(3)); // the box that is being written
        EXPECT_EQ(drop.progress.rows_done, 9);

        PermuteTrial finish(shape_of({7, 5, 3}, {0, 2, 1}), 3, lanes);
        finish.writer.before = [&](std::int64_t row) {
            if (row == 7) {
                finish.stop.ask("a test");
            }
        };
        (void)finish.run();
        EXPECT_TRUE(finish.is_right());
        const std::int64_t rows = count_rows(finish.recorded());
        EXPECT_EQ(finish.recorded(), (RowSet{{0, rows}}));
        EXPECT_EQ(rows % 3, 0);
        EXPECT_GE(rows, 9);
        EXPECT_LE(rows, std::min(21, 6 + 3 * lanes));
    }
}

TEST(PermutedRows, AreThoseOfThePlainReference) {
    std::vector<PermuteShape> shapes = {shape_of({2, 7, 2, 5}, {3, 2, 0, 1}),
                                        shape_of({2, 2, 5, 7}, {1, 0, 3, 2})};
    for (const Permuted& permutation : permutations) {
        shapes.push_back(shape_of({4, 5, 7}, permutation));
    }
    for (const PermuteShape& shape : shapes) {
        const TransposeJob job(shape);
        const std::vector<std::byte> in = counted_bytes(140);
        const std::vector<std::byte> expected = reference(in, job.shape());
        const std::int64_t row_bytes = shape.output.shape.back();
        SteppedReader reader(in, shape.input.back());
        PermutedRows computer(job, reader, 1, 1);
        const std::int64_t rows = 140 / row_bytes;
        for (const RowRange& range :
             {RowRange{0, rows}, RowRange{rows - 1, rows}, RowRange{3, 8}}) {
            std::int64_t next = range.first;
            computer.compute(range, [&](RowRange made, const std::byte* elements) {
                EXPECT_EQ(made.first, next);
                EXPECT_TRUE(std::equal(elements, elements + made.count() * row_bytes,
                                       expected.begin() + made.first * row_bytes));
                next = made.last;
            });
            EXPECT_EQ(next, range.last);
        }
    }
}

} // namespace
} // namespace runner::permute
