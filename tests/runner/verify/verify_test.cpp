// SPDX-License-Identifier: BSD-3-Clause
// Parts of verify and repair; end_to_end.verify has them whole.
#include "runner/verify/verify.hpp"

#include "io/files/hash.hpp"
#include "io/input/open_rows.hpp"
#include "jobs/stream_job.hpp"
#include "runner/engines/stream/compute_rows.hpp"
#include "runner/job_file/job_file.hpp"
#include "runner/prepare/prepare.hpp"
#include "runner/verify/check_runs.hpp"
#include "tests/io/dataset_file.hpp"
#include "tests/io/scratch_folder.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <span>

#include <gtest/gtest.h>

namespace runner::verify {
namespace {

const StreamJob& stream_of(const PreparedJob& prepared) {
    return dynamic_cast<const StreamJob&>(*prepared.job);
}

using Positions = std::vector<std::int64_t>;

std::vector<RowHash> runs_of(const Positions& lengths) {
    std::vector<RowHash> runs;
    for (const std::int64_t rows : lengths) {
        const std::int64_t first = runs.empty() ? 0 : runs.back().first + runs.back().rows;
        runs.push_back({first, rows, 0});
    }
    return runs;
}

template <class Number>
bool are_same(ElementType type, std::vector<Number> a, std::vector<Number> b) {
    return same_elements(type, std::as_bytes(std::span(a)), std::as_bytes(std::span(b)));
}

TEST(SameElements, TakesAnyNanForAnother) {
    const float quiet = std::numeric_limits<float>::quiet_NaN();
    const float of_gpus = std::bit_cast<float>(0x7FFFFFFFU);
    EXPECT_TRUE(are_same<float>(ElementType::float32, {1, quiet, 2}, {1, of_gpus, 2}));
    EXPECT_TRUE(are_same<float>(ElementType::float32, {-quiet}, {quiet}));
    EXPECT_FALSE(are_same<float>(ElementType::float32, {1, quiet, 2}, {1, of_gpus, 3}));
    EXPECT_FALSE(are_same<float>(ElementType::float32, {quiet}, {1}));
    EXPECT_FALSE(are_same<double>(ElementType::float64, {0.0}, {-0.0}));
    // The bytes of NaNs, in integers.
    EXPECT_FALSE(are_same<std::uint32_t>(ElementType::uint32, {0x7FC00000U}, {0x7FFFFFFFU}));
}

TEST(Spread, HasBothEndsAndEachPositionOnce) {
    EXPECT_EQ(spread(3, 9), (Positions{0, 4, 8}));
    EXPECT_EQ(spread(4, 10), (Positions{0, 3, 6, 9}));
    EXPECT_EQ(spread(1, 10), (Positions{0}));
    EXPECT_EQ(spread(2, 1), (Positions{0}));
    EXPECT_EQ(spread(100, 4), (Positions{0, 1, 2, 3}));
    EXPECT_EQ(spread(0, 4), Positions{});
    const std::int64_t many = std::int64_t{1} << 62;
    EXPECT_EQ(spread(3, many + 1), (Positions{0, many / 2, many}));
}

TEST(Places, AreAtTheEndsTheSeamsAndBetween) {
    const std::vector<RowHash> runs = runs_of({10, 10, 10, 10, 10});
    EXPECT_EQ(places_to_recompute(runs, 0), RowSet{});
    EXPECT_EQ(places_to_recompute(runs, 1), (RowSet{{0, 2}}));
    EXPECT_EQ(places_to_recompute(runs, 2), (RowSet{{0, 2}, {48, 50}}));
    // Four seams, of which the third; no rows between yet.
    EXPECT_EQ(places_to_recompute(runs, 3), (RowSet{{0, 2}, {29, 31}, {48, 50}}));
    // The second and the fourth; rows 12 and 37.
    EXPECT_EQ(places_to_recompute(runs, 6),
              (RowSet{{0, 2}, {12, 14}, {19, 21}, {37, 41}, {48, 50}}));
    EXPECT_EQ(places_to_recompute(runs, 1000), (RowSet{{0, 50}}));
}

TEST(Places, OfAnOutputOfOneRow) {
    EXPECT_EQ(places_to_recompute(runs_of({1}), 8), (RowSet{{0, 1}}));
}

TEST(RowsText, NamesFramesWhereThereAreSeveral) {
    const ArrayInfo image{ElementType::uint8, {100, 7}};
    EXPECT_EQ(rows_text({3, 4}, image), "row 3");
    EXPECT_EQ(rows_text({3, 10}, image), "rows 3 to 9");
    const ArrayInfo stack{ElementType::uint8, {2, 3, 10, 7}};
    EXPECT_EQ(rows_text({13, 14}, stack), "frame 1, row 3");
    EXPECT_EQ(rows_text({50, 60}, stack), "frame 5, rows 0 to 9");
    EXPECT_EQ(rows_text({9, 21}, stack), "frame 0, row 9 to frame 2, row 0");
}

TEST(Merged, JoinsAdjacentRowsOfOneReason) {
    const std::vector<WrongRows> wrong = {
        {{0, 2}, "a"}, {{2, 4}, "a"}, {{4, 6}, "b"}, {{8, 9}, "b"}};
    EXPECT_EQ(merged(wrong), (std::vector<WrongRows>{{{0, 4}, "a"}, {{4, 6}, "b"}, {{8, 9}, "b"}}));
}

TEST(CheckRuns, LooksAtRunsOfAnyLength) {
    // Rows of 1 MiB: the second run is longer than what is read at once.
    const ScratchFolder folder;
    constexpr std::int64_t columns = 1 << 20;
    const std::vector<RowHash> lengths = runs_of({3, 70, 2, 5});
    std::vector<std::uint8_t> values(80 * columns);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<std::uint8_t>(i * i >> 7);
    }
    write_dataset(folder / "a.h5", "/x", {80, columns}, values);
    std::vector<RowHash> runs = lengths;
    for (RowHash& run : runs) {
        run.hash =
            hash_bytes(reinterpret_cast<const std::byte*>(values.data() + run.first * columns),
                       run.rows * columns);
    }
    const auto reader = open_rows(folder / "a.h5", "/x", 2);
    EXPECT_TRUE(check_runs(*reader, runs).empty());
    for (std::size_t i = 0; i < runs.size(); ++i) {
        std::vector<RowHash> changed = runs;
        changed[i].hash ^= 1;
        const RowRange rows{runs[i].first, runs[i].first + runs[i].rows};
        const std::vector<WrongRows> expected = {{rows, "the checksum differs", runs[i].hash}};
        EXPECT_EQ(check_runs(*reader, changed), expected) << i;
    }
    // Some of them, not adjacent.
    EXPECT_TRUE(check_runs(*reader, std::vector<RowHash>{runs[0], runs[2], runs[3]}).empty());
}

class Computed : public testing::TestWithParam<std::tuple<std::string, Positions>> {};

// Rows computed in any pieces are those of the whole output at once.
TEST_P(Computed, RowsAreThoseOfTheWholeOutput) {
    const auto& [boundary, shape] = GetParam();
    const ScratchFolder folder;
    std::vector<float> values(static_cast<std::size_t>(checked_product(shape)));
    std::iota(values.begin(), values.end(), 1.0F);
    write_dataset(folder / "in.h5", "/x", shape, values);
    OwnFiles files;
    const PreparedJob prepared = prepare_job(
        parse_job_text(
            "kind = \"convolve\"\n[input]\nfile = \"" + (folder / "in.h5") +
                "\"\ndataset = \"/x\"\n"
                "[output]\nfile = \"out.h5\"\n[convolve]\nrow_taps = [0.25, 0.5, 0.25]\n"
                "column_taps = { gaussian = { sigma = 1.5, radius = 4 } }\nboundary = \"" +
                boundary + "\"",
            "a job", {}),
        files);
    const StreamShape stream = stream_of(prepared).shape();
    std::vector<std::byte> whole(static_cast<std::size_t>(byte_count(stream.output)));
    Queue queue = CpuQueue(2);
    stream_of(prepared).run(queue, {stream.frames, 0, stream.rows, 0, stream.rows},
                            reinterpret_cast<const std::byte*>(values.data()), whole.data(), {});

    const auto input = open_rows(folder / "in.h5", "/x", 1);
    const std::int64_t rows = stream.frames * stream.rows;
    for (const auto& [alignment, piece_bytes] :
         {std::pair{1, 1}, {3, 1}, {1, 1000}, {2, 1 << 20}}) {
        stream::RowComputer computer(stream_of(prepared), *input, alignment, 2, piece_bytes);
        for (std::int64_t first = 0; first < rows; first += 5) {
            for (const std::int64_t last : {first + 1, std::min(first + 9, rows), rows}) {
                std::int64_t next = first;
                computer.compute({first, last}, [&](RowRange range, const std::byte* elements) {
                    EXPECT_EQ(range.first, next);
                    next = range.last;
                    EXPECT_TRUE(std::equal(elements,
                                           elements + range.count() * stream.out_row_bytes,
                                           whole.data() + range.first * stream.out_row_bytes))
                        << range.first << " to " << range.last;
                });
                EXPECT_EQ(next, last);
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, Computed,
                         testing::Combine(testing::Values("wrap", "reflect", "constant"),
                                          testing::Values(Positions{41, 6}, Positions{3, 2, 7, 5},
                                                          Positions{2, 3, 5})));

} // namespace
} // namespace runner::verify
