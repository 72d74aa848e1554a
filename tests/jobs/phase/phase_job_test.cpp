// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/phase/phase_job.hpp"

#include "base/error.hpp"
#include "tests/support/table_values.hpp"

#include <gtest/gtest.h>

namespace runner {
namespace {

TableEntries usual_keys() {
    return {{"energy", of(24.796839686640052)}, // a wavelength of 0.05 nm
            {"distance", of(1.0)},
            {"pixel_size", of(2.0)},
            {"delta_beta", of(100.0)}};
}

std::unique_ptr<Job> make(const TableEntries& more, const ArrayInfo& input,
                          std::optional<int> channels = {},
                          std::optional<ElementType> output = {}) {
    TableEntries entries = usual_keys();
    entries.insert(entries.end(), more.begin(), more.end());
    return parsed("phase", parse_phase, entries)->make({input, {}, channels}, output);
}

const PaganinFilter& phase_of(const Job& job) { return dynamic_cast<const PhaseJob&>(job).phase(); }

TEST(PhaseJob, AProjectionIsALayer) {
    const auto job = make({}, {ElementType::uint16, {4, 100, 700}});
    const StreamShape shape = dynamic_cast<const StreamJob&>(*job).shape();
    EXPECT_EQ(shape.frames, 4);
    EXPECT_EQ(shape.rows, 100);
    EXPECT_EQ(shape.in_row_bytes, 1400);
    EXPECT_EQ(shape.out_row_bytes, 2800);
    EXPECT_EQ(shape.halo, 0);
    EXPECT_EQ(shape.made.layer, 100);
    EXPECT_EQ(shape.made.each, 100);
    EXPECT_EQ(job->output().type, ElementType::float32);
}

/// 100 · 5·10⁻⁵ µm · 10⁶ µm / (4π · 4 µm²), whose root is 9.97 pixels.
TEST(PhaseJob, UnitsMakeTheStrength) {
    const auto job = make({}, {ElementType::float32, {100, 700}});
    EXPECT_NEAR(phase_of(*job).strength, 99.4718394324, 1e-9);
    EXPECT_EQ(phase_of(*job).padded_columns, 864); // 700 + 2 · 80 = 860
    EXPECT_EQ(phase_of(*job).padded_rows, 200);    // half of the rows on each side
}

TEST(PhaseJob, AMarginIsAtLeastAsWide) {
    const auto job = make({{"margin", of(std::int64_t{0})}}, {ElementType::float32, {101, 700}});
    EXPECT_EQ(phase_of(*job).padded_columns, 700);
    EXPECT_EQ(phase_of(*job).padded_rows, 105);
    const auto wide = make({{"margin", of(std::int64_t{3})}}, {ElementType::float32, {101, 700}});
    EXPECT_EQ(phase_of(*wide).padded_columns, 720);
    EXPECT_EQ(phase_of(*wide).padded_rows, 108);
}

TEST(PhaseJob, DefaultsAreWritten) {
    EXPECT_EQ(parsed("phase", parse_phase, usual_keys())->canonical(),
              "energy = 24.796839686640052\ndistance = 1.0\npixel_size = 2.0\n"
              "delta_beta = 100.0\nmethod = \"paganin\"\nnegative_log = true\nfloor = 1e-06\n");
}

TEST(PhaseJob, ScratchGrowsWithTheBlock) {
    const auto job = make({}, {ElementType::float32, {400, 100, 700}});
    const auto& stream = dynamic_cast<const StreamJob&>(*job);
    std::int64_t before = 0;
    for (std::int64_t frames = 1; frames <= 400; ++frames) {
        const std::int64_t bytes = stream.scratch_bytes(Backend::cuda, {frames, 0, 100, 0, 100});
        EXPECT_GE(bytes, before);
        before = bytes;
    }
    EXPECT_EQ(stream.scratch_bytes(Backend::cuda, {1, 0, 100, 0, 100}), 100 * 448 * 8);
    EXPECT_EQ(stream.scratch_bytes(Backend::cuda, {1, 0, 130, 0, 100}), 2 * 100 * 448 * 8);
}

TEST(PhaseJob, RefusesWhatIsNoProjection) {
    EXPECT_THROW(make({}, {ElementType::uint16, {7}}), Error);
    EXPECT_THROW(make({}, {ElementType::uint16, {4, 0, 7}}), Error);
    EXPECT_NO_THROW(make({}, {ElementType::uint8, {4, 7, 3}}, 3));
    EXPECT_THROW(make({}, {ElementType::uint8, {4, 16385}}), Error);
    EXPECT_THROW(make({}, {ElementType::uint8, {4, 7}}, {}, ElementType::uint8), Error);
    const TableEntry margin = {"margin", of(std::int64_t{8192})};
    EXPECT_THROW(make({margin}, {ElementType::uint8, {4, 7}}), Error);
    EXPECT_NO_THROW(make({}, {ElementType::uint8, {4, 16000}}));
}

TEST(PhaseJob, KeysAreChecked) {
    TableEntries keys = usual_keys();
    keys[0].value = of(0.0);
    keys[1].value = of(-1.0);
    keys[3].value = of(-0.5);
    EXPECT_EQ(complaints_of("phase", parse_phase, keys).size(), 3U);
    EXPECT_EQ(complaints_of("phase", parse_phase, {}).size(), 1U); // delta_beta
    keys = usual_keys();
    keys[0].value = of(1e-300);
    keys[2].value = of(1e-300);
    EXPECT_THROW(parsed("phase", parse_phase, keys)->make({{ElementType::uint8, {4, 7}}}, {}),
                 Error);
}

} // namespace
} // namespace runner
