// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/sand/sand_job.hpp"

#include "base/error.hpp"

#include <limits>
#include <utility>

#include <gtest/gtest.h>

namespace runner {
namespace {

TableValue of(auto data) { return {data, {}, {}}; }

TableEntry number(const char* key, std::int64_t value) { return {key, of(value)}; }

std::unique_ptr<KindParameters> parse(const TableEntries& entries, std::vector<std::string>& said) {
    Diagnostics diagnostics;
    TableReader reader(entries, {1, 1}, "sand", diagnostics);
    std::unique_ptr<KindParameters> parameters = parse_sand(reader);
    reader.finish();
    for (const Diagnostics::Entry& entry : diagnostics.entries()) {
        said.push_back(entry.text);
    }
    return parameters;
}

std::unique_ptr<KindParameters> parse(const TableEntries& entries) {
    std::vector<std::string> said;
    std::unique_ptr<KindParameters> parameters = parse(entries, said);
    EXPECT_EQ(said, std::vector<std::string>{});
    return parameters;
}

const SandJob& sand_of(const std::unique_ptr<Job>& job) {
    return dynamic_cast<const SandJob&>(*job);
}

/// The exit code and where the error lies that making the job throws.
std::pair<int, std::string> failure(const TableEntries& entries, const ArrayInfo& input,
                                    std::optional<ElementType> output = std::nullopt) {
    try {
        parse(entries)->make({input, {}}, output);
        return {0, ""};
    } catch (const Error& error) {
        return {static_cast<int>(error.code()), error.text().where};
    }
}

const ArrayInfo frames{ElementType::uint8, {3, 41, 67}};

TEST(SandJob, HasTheUsualChancesAndSeed) {
    const auto job = parse({number("generations", 10)})->make({frames, {}}, std::nullopt);
    const Sand& sand = sand_of(job).sand();
    EXPECT_EQ(sand.rows, 41);
    EXPECT_EQ(sand.columns, 67);
    EXPECT_EQ(sand.seed, 0U);
    EXPECT_EQ(sand.thresholds, SandThresholds{});
    const EvolveShape shape = sand_of(job).shape();
    EXPECT_EQ(shape.output, (ArrayInfo{ElementType::uint8, {1, 41, 67}}));
    EXPECT_EQ(shape.input_frame, 0);
    EXPECT_EQ(shape.cells, 41 * 67);
    EXPECT_EQ(shape.snapshots, (Snapshots{0, 10, 0}));
}

TEST(SandJob, TakesWhatTheTableSays) {
    const TableEntries entries = {
        number("generations", 10),
        number("snapshot_every", 4),
        number("seed", 4294967295),
        number("input_frame", -1),
        number("start_generation", 5000000001),
        {"chances",
         of(TableEntries{{"sand_slide", of(0.5)}, {"water_fall", of(std::int64_t{0})}})}};
    const auto job = parse(entries)->make({frames, {}}, ElementType::uint8);
    EXPECT_EQ(sand_of(job).sand().seed, 4294967295U);
    EXPECT_EQ(sand_of(job).sand().thresholds.sand_slide, 0x8000U);
    EXPECT_EQ(sand_of(job).sand().thresholds.water_fall, 0U);
    EXPECT_EQ(sand_of(job).sand().thresholds.sand_fall, 0xE666U);
    EXPECT_EQ(sand_of(job).shape().input_frame, 2);
    EXPECT_EQ(sand_of(job).shape().snapshots, (Snapshots{5000000001, 10, 4}));
    EXPECT_EQ(parse(entries)->canonical(), "generations = 10\n"
                                           "snapshot_every = 4\n"
                                           "input_frame = -1\n"
                                           "start_generation = 5000000001\n"
                                           "seed = 4294967295\n"
                                           "chances = { sand_slide = 0.5, water_fall = 0.0 }\n");
}

TEST(SandJob, IsAnotherComputationWithAnotherSeedOrStart) {
    const auto computation = [](const TableEntry& entry) {
        return sand_of(parse({number("generations", 1), entry})->make({frames, {}}, {}))
            .computation();
    };
    const std::string usual = computation(number("snapshot_every", 0));
    EXPECT_NE(usual, computation(number("seed", 1)));
    EXPECT_NE(usual, computation(number("input_frame", 1)));
    EXPECT_NE(usual, computation(number("start_generation", 1)));
    EXPECT_EQ(usual, computation(number("seed", 0)));
}

TEST(SandJob, RefusesWrongTables) {
    std::vector<std::string> said;
    parse({number("generation", 3),
           number("snapshot_every", -1),
           number("seed", 4294967296),
           {"chances", of(TableEntries{{"sand_slide", of(1.5)}, {"luck", of(0.5)}})}},
          said);
    ASSERT_EQ(said.size(), 6U);
    EXPECT_NE(said[0].find("sand.generations is missing"), std::string::npos) << said[0];
    EXPECT_NE(said[1].find("snapshot_every"), std::string::npos) << said[1];
    EXPECT_NE(said[2].find("seed"), std::string::npos) << said[2];
    EXPECT_NE(said[3].find("from 0 to 1, got 1.5"), std::string::npos) << said[3];
    EXPECT_NE(said[4].find("luck"), std::string::npos) << said[4];
    EXPECT_NE(said[5].find("generations"), std::string::npos) << said[5];
}

TEST(SandJob, RefusesInputsThatDoNotFit) {
    const TableEntries one = {number("generations", 1)};
    using Failure = std::pair<int, std::string>;
    EXPECT_EQ(failure(one, {ElementType::uint16, {4, 4}}), (Failure{3, "input.dataset"}));
    EXPECT_EQ(failure(one, {ElementType::uint8, {4}}), (Failure{3, "input.dataset"}));
    EXPECT_EQ(failure(one, {ElementType::uint8, {1, 2, 3, 4}}), (Failure{3, "input.dataset"}));
    EXPECT_EQ(failure(one, {ElementType::uint8, {0, 4}}), (Failure{3, "input.dataset"}));
    EXPECT_EQ(failure(one, frames, ElementType::float32), (Failure{2, "output.dtype"}));
    EXPECT_EQ(failure({number("generations", 1), number("input_frame", 3)}, frames),
              (Failure{3, "sand.input_frame"}));
    EXPECT_EQ(failure({number("generations", 1), number("input_frame", -4)}, frames),
              (Failure{3, "sand.input_frame"}));
    EXPECT_EQ(failure(one, {ElementType::uint8, {1, 1}}), (Failure{0, ""}));
}

} // namespace
} // namespace runner
