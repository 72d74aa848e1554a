// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/match/match_job.hpp"

#include "base/error.hpp"
#include "tests/support/table_values.hpp"

#include <cmath>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>

namespace runner {
namespace {

std::unique_ptr<Job> make(const TableEntries& entries, const ArrayInfo& input,
                          std::optional<int> channels = {},
                          std::optional<ElementType> output = {}) {
    JobInput given{input, {"scan.h5", "/volume"}, channels};
    return parsed("match", parse_match, entries)->make(given, output);
}

const MatchJob& match_job(const std::unique_ptr<Job>& job) {
    return dynamic_cast<const MatchJob&>(*job);
}

TEST(MatchJob, TakesDefaultsOfVolumesAndOfImages) {
    const std::string rest =
        "count = 16\nstep = 1\nthreshold = inf\norder = \"ascending\"\nselection = \"fast\"\n";
    const auto keys = parsed("match", parse_match, {});
    EXPECT_TRUE(keys->inputs().empty());
    EXPECT_EQ(keys->canonical(), "# patch: [3, 3, 3]; for an image [1, 3, 3]\n"
                                 "# window: [11, 11, 11]; for an image [1, 11, 11]\n" +
                                     rest);
    EXPECT_EQ(keys->canonical_for({ElementType::uint8, {7, 9, 11}}),
              "patch = [3, 3, 3]\nwindow = [11, 11, 11]\n" + rest);
    EXPECT_EQ(keys->canonical_for({ElementType::uint8, {9, 11}}),
              "patch = [1, 3, 3]\nwindow = [1, 11, 11]\n" + rest);
    EXPECT_EQ(parsed("match", parse_match,
                     {{"patch", integers({2, 1, 8})},
                      {"count", of(std::int64_t{3})},
                      {"step", of(std::int64_t{2})},
                      {"threshold", of(std::int64_t{4})},
                      {"order", of(std::string("descending"))},
                      {"selection", of(std::string("serial"))}})
                  ->canonical(),
              "patch = [2, 1, 8]\n# window: [11, 11, 11]; for an image [1, 11, 11]\ncount = 3\n"
              "step = 2\nthreshold = 4.0\norder = \"descending\"\nselection = \"serial\"\n");
}

/// References at 0, 2, 4 and the last corner, 5, along z; four along y and five along x.
TEST(MatchJob, HasARowOfEachReference) {
    const auto job = make({{"step", of(std::int64_t{2})}, {"count", of(std::int64_t{5})}},
                          {ElementType::uint16, {8, 9, 11}});
    const StreamShape shape = match_job(job).shape();
    ASSERT_EQ(shape.fields.size(), 3U);
    EXPECT_EQ(shape.fields[0].dataset, "index");
    EXPECT_EQ(shape.fields[0].array, (ArrayInfo{ElementType::uint64, {80, 5}}));
    EXPECT_EQ(shape.fields[1].dataset, "distance");
    EXPECT_EQ(shape.fields[1].array, (ArrayInfo{ElementType::float32, {80, 5}}));
    EXPECT_EQ(shape.fields[2].dataset, "count");
    EXPECT_EQ(shape.fields[2].array, (ArrayInfo{ElementType::int32, {80}}));
    EXPECT_EQ(shape.frames, 1);
    EXPECT_EQ(shape.rows, 72);
    EXPECT_EQ(shape.in_row_bytes, 22);
    EXPECT_EQ(shape.out_row_bytes, 5 * 8 + 5 * 4 + 4);
    EXPECT_EQ(shape.made.layer, 9);
    EXPECT_EQ(shape.made.each, 20);
    EXPECT_EQ(shape.made.before(72), 80);
    EXPECT_EQ(shape.made.before(5 * 9), 60) << "layers 0, 2 and 4";
    EXPECT_EQ(job->attributes(), (std::vector<Attribute>{{"references_z", std::int64_t{4}},
                                                         {"references_y", std::int64_t{4}},
                                                         {"references_x", std::int64_t{5}}}));
    EXPECT_EQ(job->locality(), std::nullopt);
}

/// Layers that half a window reaches, but none behind the last corner, and the rest of a patch.
TEST(MatchJob, ReachesOverWindowAndPatch) {
    const auto halo = [](const TableEntries& entries, const ArrayInfo& input) {
        return match_job(make(entries, input)).shape().halo;
    };
    EXPECT_EQ(halo({}, {ElementType::uint8, {40, 9, 11}}), (5 + 2) * 9);
    EXPECT_EQ(halo({{"window", integers({3, 11, 11})}, {"patch", integers({4, 3, 3})}},
                   {ElementType::uint8, {40, 9, 11}}),
              (1 + 3) * 9);
    EXPECT_EQ(halo({}, {ElementType::uint8, {6, 9, 11}}), (3 + 2) * 9);
    EXPECT_EQ(halo({{"window", integers({1, 1, 1})}, {"patch", integers({1, 1, 1})}},
                   {ElementType::uint8, {6, 9, 11}}),
              0);
    EXPECT_EQ(halo({}, {ElementType::uint8, {9, 11}}), 0);
}

/// Pieces of whole 256 bytes: the volume as float32 and the lists of 7 x 63 references.
TEST(MatchJob, TakesScratchForItsLists) {
    const RowBlock all{1, 0, 63, 0, 63};
    const auto bytes = [&](ElementType type) {
        return match_job(make({}, {type, {7, 9, 11}})).scratch_bytes(Backend::cpu, all);
    };
    EXPECT_EQ(bytes(ElementType::float32), 56576 + 28416 + 1792);
    EXPECT_EQ(bytes(ElementType::uint16), 2816 + 56576 + 28416 + 1792);
    const auto job = make({}, {ElementType::uint16, {7, 9, 11}});
    EXPECT_GT(match_job(job).operations(all), match_job(job).operations({1, 0, 63, 0, 9}));
    EXPECT_EQ(match_job(job).operations({1, 0, 63, 45, 18}), 0) << "no corner in the last layers";
}

TEST(MatchJob, RefusesWrongKeys) {
    const auto complaints = [](const TableEntries& entries) {
        return complaints_of("match", parse_match, entries);
    };
    using Texts = std::vector<std::string>;
    EXPECT_EQ(complaints({{"patch", integers({3, 3, 9})}, {"window", integers({3, 4, 5})}}),
              (Texts{"match.patch: every extent must be from 1 to 8, got [3, 3, 9]",
                     "match.window: every extent must be odd, as many corners on either side of "
                     "the reference, got [3, 4, 5]"}));
    EXPECT_EQ(complaints({{"patch", integers({3, 3})}}),
              (Texts{"match.patch: expected three extents, along z, y and x (of an image 1 along "
                     "z), got [3, 3]"}));
    EXPECT_EQ(complaints({{"window", integers({65535, 65537, 1})}}), Texts{});
    EXPECT_EQ(complaints({{"window", integers({65535, 65537, 3})}}),
              (Texts{"match.window: has 2^32 candidates or more, got [65535, 65537, 3]"}));
    EXPECT_EQ(complaints({{"threshold", of(-1.0)}}),
              (Texts{"match.threshold: must be 0 or more, or inf, got -1.0"}));
    EXPECT_EQ(complaints({{"threshold", of(std::numeric_limits<double>::quiet_NaN())}}),
              (Texts{"match.threshold: must be 0 or more, or inf, got nan"}));
    for (const auto& [key, value] :
         {TableEntry{"patch", integers({0, 3, 3})}, TableEntry{"count", of(std::int64_t{0})},
          TableEntry{"count", of(std::int64_t{65})}, TableEntry{"step", of(std::int64_t{0})},
          TableEntry{"threshold", of(std::string("far"))},
          TableEntry{"order", of(std::string("up"))},
          TableEntry{"selection", of(std::string("quick"))},
          TableEntry{"windows", integers({3, 3, 3})}}) {
        const Texts texts = complaints({{key, value}});
        ASSERT_EQ(texts.size(), 1U) << key;
        EXPECT_NE(texts.front().find(key), std::string::npos) << texts.front();
    }
}

/// The exit code and the place of what make() refuses; 0 where it does not.
std::pair<int, std::string> failure(const TableEntries& entries, const ArrayInfo& input,
                                    std::optional<int> channels = {},
                                    std::optional<ElementType> output = {}) {
    try {
        (void)make(entries, input, channels, output);
        return {0, ""};
    } catch (const Error& error) {
        return {static_cast<int>(error.code()), error.text().where};
    }
}

TEST(MatchJob, RefusesInputsThatDoNotFit) {
    using Failure = std::pair<int, std::string>;
    const ArrayInfo volume{ElementType::uint8, {7, 9, 11}};
    const ArrayInfo image{ElementType::uint8, {9, 11}};
    EXPECT_EQ(failure({}, volume), (Failure{0, ""}));
    EXPECT_EQ(failure({}, image), (Failure{0, ""}));
    EXPECT_EQ(failure({}, {ElementType::float64, {7, 9, 11}}), (Failure{3, "input.dataset"}));
    EXPECT_EQ(failure({}, {ElementType::uint8, {9}}), (Failure{3, "input.dataset"}));
    EXPECT_EQ(failure({}, {ElementType::uint8, {7, 0, 11}}), (Failure{3, "input.dataset"}));
    EXPECT_EQ(failure({}, {ElementType::uint8, {7, 9, 3}}, 3), (Failure{0, ""}));
    EXPECT_EQ(failure({}, {ElementType::uint8, {2, 7, 9, 8, 3}}, 3), (Failure{3, "input.dataset"}));
    EXPECT_EQ(failure({}, volume, {}, ElementType::uint8), (Failure{2, "output.dtype"}));
    EXPECT_EQ(failure({}, {ElementType::uint8, {2, 9, 11}}), (Failure{2, "match.patch"}));
    EXPECT_EQ(failure({{"patch", integers({2, 3, 3})}}, image), (Failure{2, "match.patch"}));
    EXPECT_EQ(failure({{"window", integers({3, 3, 3})}}, image), (Failure{2, "match.window"}));
    const TableEntries wide = {{"window", integers({31, 31, 31})},
                               {"selection", of(std::string("serial"))}};
    EXPECT_EQ(failure(wide, {ElementType::uint8, {40, 40, 40}}), (Failure{2, "match.selection"}));
    EXPECT_EQ(failure(wide, volume), (Failure{0, ""})) << "it has fewer candidates";
}

TEST(MatchJob, FitsItsKeysToTheVolume) {
    const auto match = [](const TableEntries& entries) {
        return match_job(make(entries, {ElementType::uint8, {7, 9, 11}})).match();
    };
    EXPECT_EQ(match({{"step", of(std::int64_t{1} << 60)}}).step, 11);
    EXPECT_EQ(match({{"threshold", of(0.5)}}).threshold, 0.5F);
    EXPECT_LT(static_cast<double>(match({{"threshold", of(0.7)}}).threshold), 0.7)
        << "the float32 above it would take more";
    EXPECT_TRUE(std::isinf(match({}).threshold));
}

TEST(MatchJob, NamesAVoxelThatIsNoNumber) {
    const auto job = make({}, {ElementType::float32, {7, 9, 11}});
    const MatchJob& match = match_job(job);
    EXPECT_TRUE(match.checks_rows());
    std::vector<float> rows(3 * 11, -1e30F);
    const auto check = [&] {
        match.check_rows(8, 3, reinterpret_cast<const std::byte*>(rows.data()));
    };
    check();
    for (const float wrong :
         {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
        rows[11 + 4] = wrong; // of line 9, the first of layer 1
        try {
            check();
            FAIL() << wrong;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ExitCode::input);
            EXPECT_EQ(error.text().where, "scan.h5:/volume, voxel [1, 0, 4]");
            EXPECT_EQ(error.text().try_this.find("input.invalid") != std::string::npos,
                      std::isnan(wrong));
        }
    }
    EXPECT_FALSE(match_job(make({}, {ElementType::uint8, {7, 9, 11}})).checks_rows());
}

/// Invalid elements need not be finite; voxels with NaN in their place take room.
TEST(MatchJob, ChecksValidVoxels) {
    JobInput given{{ElementType::float32, {7, 9, 11}}, {"scan.h5", "/volume"}};
    given.invalid = -1;
    const auto job = parsed("match", parse_match, {})->make(given, {});
    const MatchJob& match = match_job(job);
    std::vector<float> rows(3 * 11, -1.0F);
    rows[7] = std::numeric_limits<float>::quiet_NaN();
    const auto* const bytes = reinterpret_cast<const std::byte*>(rows.data());
    match.check_rows(8, 3, bytes);
    rows[11 + 4] = std::numeric_limits<float>::infinity();
    EXPECT_THROW(match.check_rows(8, 3, bytes), Error);
    EXPECT_EQ(match.invalid(), std::nullopt) << "its lists have none";
    EXPECT_EQ(match.scratch_bytes(Backend::cpu, {1, 0, 63, 0, 63}), 2816 + 56576 + 28416 + 1792);
}

/// 5 of 0 1 5 3 is invalid: the third row is empty, and the others have no match there.
TEST(MatchJob, LeavesOutInvalidElements) {
    JobInput given{{ElementType::uint8, {1, 4}}, {"scan.h5", "/volume"}};
    given.invalid = 5;
    const auto job = parsed("match", parse_match,
                            {{"patch", integers({1, 1, 1})},
                             {"window", integers({1, 1, 5})},
                             {"count", of(std::int64_t{1})},
                             {"order", of(std::string("descending"))}})
                         ->make(given, {});
    const MatchJob& match = match_job(job);
    const std::vector<std::uint8_t> voxels = {0, 1, 5, 3};
    const RowBlock block{1, 0, 1, 0, 1};
    std::vector<std::byte> out(64);
    std::vector<float> scratch(
        static_cast<std::size_t>(match.scratch_bytes(Backend::cpu, block) / 4));
    Queue queue(CpuQueue(1));
    match.run(queue, block, reinterpret_cast<const std::byte*>(voxels.data()), out.data(),
              {.scratch = reinterpret_cast<std::byte*>(scratch.data())});
    for (std::uint64_t row = 0; row < 4; ++row) {
        std::uint64_t index = 0;
        float distance = -1;
        std::int32_t count = -1;
        std::memcpy(&index, out.data() + row * 16, 8);
        std::memcpy(&distance, out.data() + row * 16 + 8, 4);
        std::memcpy(&count, out.data() + row * 16 + 12, 4);
        EXPECT_EQ(index, row == 2 ? ~std::uint64_t{0} : row);
        EXPECT_EQ(distance, row == 2 ? std::numeric_limits<float>::infinity() : 0);
        EXPECT_EQ(count, row == 2 ? 0 : 1);
    }
}

/// Voxels of three layers of one line, patches of one voxel, by hand; and a layer at a time.
TEST(MatchJob, PacksWhatItFindsByHand) {
    const auto job = make({{"patch", integers({1, 1, 1})},
                           {"window", integers({3, 1, 1})},
                           {"count", of(std::int64_t{2})},
                           {"threshold", of(9.0)}},
                          {ElementType::uint8, {3, 1, 2}});
    const MatchJob& match = match_job(job);
    const std::vector<std::uint8_t> voxels = {1, 50, 3, 90, 7, 91};
    struct Row {
        std::uint64_t index[2];
        float distance[2];
        std::int32_t count;
    };
    constexpr std::uint64_t none = ~std::uint64_t{0};
    const float inf = std::numeric_limits<float>::infinity();
    const std::vector<Row> expected = {{{0, 2}, {0, 4}, 2},      {{1, none}, {0, inf}, 1},
                                       {{2, 0}, {0, 4}, 2},      {{3, 5}, {0, 1}, 2},
                                       {{4, none}, {0, inf}, 1}, {{5, 3}, {0, 1}, 2}};
    Queue queue(CpuQueue(1));
    const auto bytes = match.shape().out_row_bytes;
    ASSERT_EQ(bytes, 28);
    const auto run = [&](const RowBlock& block) {
        std::vector<std::byte> out(static_cast<std::size_t>(2 * block.out_rows * bytes));
        std::vector<float> scratch(
            static_cast<std::size_t>(match.scratch_bytes(Backend::cpu, block) / 4 + 64));
        match.run(queue, block,
                  reinterpret_cast<const std::byte*>(voxels.data()) + block.in_first * 2,
                  out.data(), {.scratch = reinterpret_cast<std::byte*>(scratch.data())});
        return out;
    };
    const auto expect_rows = [&](const std::vector<std::byte>& out, std::size_t first) {
        for (std::size_t i = 0; i < out.size() / 28; ++i) {
            Row row{};
            std::memcpy(row.index, out.data() + i * 28, 16);
            std::memcpy(row.distance, out.data() + i * 28 + 16, 8);
            std::memcpy(&row.count, out.data() + i * 28 + 24, 4);
            const Row& right = expected.at(first + i);
            EXPECT_TRUE(std::equal(row.index, row.index + 2, right.index)) << first + i;
            EXPECT_TRUE(std::equal(row.distance, row.distance + 2, right.distance)) << first + i;
            EXPECT_EQ(row.count, right.count) << first + i;
        }
    };
    expect_rows(run({1, 0, 3, 0, 3}), 0);
    expect_rows(run({1, 0, 2, 0, 1}), 0);
    expect_rows(run({1, 0, 3, 1, 1}), 2);
    expect_rows(run({1, 1, 2, 2, 1}), 4);
}

} // namespace
} // namespace runner
