// SPDX-License-Identifier: BSD-3-Clause
#include "runner/plan/box_grid.hpp"

#include "base/sizes.hpp"
#include "runner/engines/permute/permute_engine.hpp"
#include "runner/plan/permute_plan.hpp"

#include "base/error.hpp"
#include "jobs/transpose/transpose_job.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

PermuteShape shape_of(const Extents& input, const std::vector<int>& permutation,
                      std::int64_t element_bytes) {
    PermuteShape shape;
    shape.input = input;
    shape.permutation = permutation;
    shape.element_bytes = element_bytes;
    const Extents output = shape.permuted(input);
    shape.output = {ElementType::float32, {output.begin(), output.end()}};
    return shape;
}

const std::vector<std::vector<int>> permutations = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                                    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

/// Every row of the output is in one box, and the box reads as many elements as it makes.
void expect_whole(const BoxGrid& grid) {
    const Extents output = grid.output();
    const std::int64_t row = output.back();
    std::vector<int> made(static_cast<std::size_t>(checked_product(output) / row));
    std::int64_t read = 0;
    for (std::int64_t i = 0; i < grid.boxes(); ++i) {
        const PermuteBox box = grid.box(i);
        std::int64_t rows = 0;
        for (const RowRange& run : grid.rows(box)) {
            rows += run.count();
            for (std::int64_t row_made = run.first; row_made < run.last; ++row_made) {
                ++made[static_cast<std::size_t>(row_made)];
            }
        }
        std::int64_t elements = 0;
        for (const RowRuns& runs : permute::input_runs(grid, box)) {
            elements += runs.runs * runs.rows * runs.columns;
        }
        EXPECT_EQ(elements, rows * row);
        EXPECT_LE(rows, grid.rows_of_box());
        read += elements;
    }
    EXPECT_EQ(made, std::vector<int>(made.size(), 1));
    EXPECT_EQ(read, checked_product(output));
}

TEST(BoxGrid, EveryRowIsInOneBoxAndItsElementsAreRead) {
    for (const auto& permutation : permutations) {
        for (const Extents& input : {Extents{1, 1, 1}, {5, 7, 3}, {13, 1, 17}, {1, 29, 31}}) {
            for (const std::int64_t bytes : {1, 100, 700, 100000}) {
                expect_whole(make_box_grid(shape_of(input, permutation, 4), 1, bytes, 1));
            }
        }
    }
}

TEST(BoxGrid, EveryRowOfMoreAxesIsInOneBox) {
    std::vector<int> permutation = {0, 1, 2, 3};
    do {
        for (const Extents& input : {Extents{3, 5, 1, 7}, {2, 3, 5, 4}}) {
            for (const std::int64_t alignment : {1, 2}) {
                for (const std::int64_t bytes : {1, 60, 500}) {
                    expect_whole(
                        make_box_grid(shape_of(input, permutation, 4), alignment, bytes, 1));
                }
            }
        }
    } while (std::next_permutation(permutation.begin(), permutation.end()));
    expect_whole(make_box_grid(shape_of({3, 1, 5, 2, 7}, {4, 2, 0, 3, 1}, 1), 1, 40, 1));
}

TEST(BoxGrid, RunsOfMoreAxesAreLong) {
    // Times, slices, channels and images to times, channels, slices: whole images.
    const BoxGrid images =
        make_box_grid(shape_of({10, 100, 4, 1000, 1001}, {0, 2, 1, 3, 4}, 2), 1, GiB, 1);
    EXPECT_GE(std::min(images.in_run_bytes(), images.out_run_bytes()), 256 * KiB);
    // All axes the other way round, as MATLAB has them.
    const BoxGrid turned = make_box_grid(shape_of({100, 50, 60, 200}, {3, 2, 1, 0}, 2), 1, GiB, 1);
    EXPECT_GE(std::min(turned.in_run_bytes(), turned.out_run_bytes()), 4 * KiB);
    EXPECT_LE(turned.most_bytes(), 256 * MiB);
}

TEST(BoxGrid, ReadsWhatABoxNeeds) {
    // Output axes y, x, z of a 5 × 7 × 11 volume; a box of y 2 … 4, x 3 … 6 and all z.
    const BoxGrid grid{shape_of({5, 7, 11}, {1, 2, 0}, 8), {2, 3}};
    const PermuteBox box{{2, 4}, {3, 6}};
    EXPECT_EQ(grid.in_extents(box), (Extents{5, 2, 3}));
    EXPECT_EQ(grid.in_start(box), (Extents{0, 2, 3}));
    ASSERT_EQ(permute::input_runs(grid, box).size(), 1);
    const RowRuns runs = permute::input_runs(grid, box).front();
    EXPECT_EQ(runs.first, 2);
    EXPECT_EQ(runs.rows, 2);
    EXPECT_EQ(runs.runs, 5);
    EXPECT_EQ(runs.stride, 7);
    EXPECT_EQ(runs.first_column, 3);
    EXPECT_EQ(runs.columns, 3);
    EXPECT_EQ(grid.rows(box), (std::vector<RowRange>{{25, 28}, {36, 39}}));
    EXPECT_EQ(grid.in_run_bytes(), 3 * 8);
    EXPECT_EQ(grid.out_run_bytes(), 3 * 5 * 8);
}

TEST(BoxGrid, RunsAreLongWhereMemoryAllows) {
    // Projections to sinograms: 256 KiB both ways need 64 rows of 8 KiB of either.
    const BoxGrid sinograms = make_box_grid(shape_of({1800, 2048, 2048}, {1, 0, 2}, 4), 1, GiB, 1);
    EXPECT_GE(std::min(sinograms.in_run_bytes(), sinograms.out_run_bytes()), 256 * KiB);
    EXPECT_LE(sinograms.most_bytes(), 16 * MiB);
    // An image that does not fit: a box as wide as high, nearly.
    const BoxGrid image = make_box_grid(shape_of({1, 100000, 100000}, {0, 2, 1}, 8), 1, GiB, 1);
    EXPECT_GE(image.in_run_bytes(), 8 * KiB);
    EXPECT_LE(image.most_bytes(), GiB);
    EXPECT_EQ(image.box_extents[0], 1);
}

/// Extents of a box of `input` with its axes as {1, 0, 2}, elements of a byte.
std::pair<std::int64_t, std::int64_t> box_of(const Extents& input, std::int64_t alignment,
                                             std::int64_t most_bytes, std::int64_t parts) {
    const BoxGrid grid = make_box_grid(shape_of(input, {1, 0, 2}, 1), alignment, most_bytes, parts);
    return {grid.box_extents[0], grid.box_extents[1]};
}

using Box = std::pair<std::int64_t, std::int64_t>;

TEST(BoxGrid, StopsAtTheFirstSizeWithLongRuns) {
    // A box of a × b rows has runs of a rows in the input and of b in the output.
    EXPECT_EQ(box_of({8, 8, 256 * KiB}, 1, GiB, 1), (Box{2, 2})); // 1 MiB: four rows
    EXPECT_EQ(box_of({8, 8, 128 * KiB}, 1, GiB, 1), (Box{2, 4})); // runs of just 256 KiB
    // Four rows side by side leave runs of one in the input, too short; with 2 MiB they are of two.
    EXPECT_EQ(box_of({8, 8, 255 * KiB}, 4, GiB, 1), (Box{2, 4}));
    EXPECT_EQ(box_of({8, 8, 256 * KiB}, 4, GiB, 1), (Box{1, 4}));
}

TEST(BoxGrid, LeavesABoxForEachPart) {
    // 16 MiB; short runs but in the whole.
    EXPECT_EQ(box_of({64, 64, 4 * KiB}, 1, GiB, 1), (Box{64, 64}));
    EXPECT_EQ(box_of({64, 64, 4 * KiB}, 1, GiB, 0), (Box{64, 64}));
    EXPECT_EQ(box_of({64, 64, 4 * KiB}, 1, GiB, 4), (Box{32, 32}));
    EXPECT_EQ(box_of({64, 64, 4 * KiB}, 1, GiB, 1000), (Box{16, 16})); // 1 MiB at the least
    EXPECT_EQ(box_of({64, 64, 4 * KiB}, 1, 256 * KiB, 1), (Box{8, 8}));
    EXPECT_EQ(box_of({64, 64, 4 * KiB}, 1, 1, 1), (Box{1, 1})); // no box is so small
    EXPECT_EQ(box_of({64, 64, 4 * KiB}, 16, 1, 1), (Box{1, 16}));
    EXPECT_EQ(box_of({8, 8, 64}, 1, 3 * 64, 1), (Box{1, 3})); // one run of a row: the fewest boxes
}

TEST(BoxGrid, RoundsToTheAlignmentButForAWholeAxis) {
    // 100 rows: 10 × 10 without an alignment, but powers of two of one axis are tried.
    EXPECT_EQ(box_of({50, 50, 64}, 1, 100 * 64, 1), (Box{8, 12}));
    EXPECT_EQ(box_of({50, 50, 64}, 5, 100 * 64, 1), (Box{8, 10}));
    EXPECT_EQ(box_of({7, 50, 64}, 5, 70 * 64, 1), (Box{10, 7})); // all of the second axis
    EXPECT_EQ(box_of({3, 50, 64}, 5, 64, 1), (Box{1, 3}));
}

TEST(BoxGrid, BoxesBeginWhereWritesMay) {
    for (const auto& permutation : permutations) {
        const BoxGrid grid = make_box_grid(shape_of({50, 70, 90}, permutation, 2), 16, 30000, 4);
        const Extents output = grid.output();
        const std::int64_t second = grid.box_extents[1];
        EXPECT_TRUE(second % 16 == 0 || second == output[1]) << second;
    }
}

TEST(PermutePlan, DealsBoxesThatAreNotDone) {
    const TransposeJob job(shape_of({40, 30, 20}, {2, 1, 0}, 4));
    PlanRequest request;
    request.ranks = 3;
    request.host_memory = GiB;
    request.chunk_rows = 10;
    request.done = {{0, 300}, {305, 306}};
    const PermutePlan plan = make_permute_plan(job, request);
    std::int64_t rows = 0;
    std::vector<std::int64_t> dealt;
    for (int rank = 0; rank < 3; ++rank) {
        const std::vector<std::int64_t> boxes = plan.boxes(rank);
        rows += plan.rows_to_do(boxes);
        dealt.insert(dealt.end(), boxes.begin(), boxes.end());
    }
    EXPECT_EQ(rows, 600 - 301);
    EXPECT_TRUE(std::is_sorted(dealt.begin(), dealt.end()));
    EXPECT_EQ(std::adjacent_find(dealt.begin(), dealt.end()), dealt.end());
    EXPECT_LT(std::ssize(dealt), plan.grid.boxes());
}

TEST(PermutePlan, RefusesWhatDoesNotFit) {
    const TransposeJob job(shape_of({1, 1000000, 3}, {0, 2, 1}, 8)); // rows of 8 MB
    PlanRequest request;
    request.host_memory = 20 * MiB;
    EXPECT_EQ(make_permute_plan(job, request).lanes, 1);
    request.host_memory = 10 * MiB;
    try {
        make_permute_plan(job, request);
        FAIL() << "two buffers of 8 MB fit in 10 MiB";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::usage);
        EXPECT_EQ(error.text().where, "run.host_memory");
    }
}

} // namespace
} // namespace runner
