// SPDX-License-Identifier: BSD-3-Clause
// What is to do of a batch, in folders as earlier batches leave them.
#include "runner/batch/batch_plan.hpp"

#include "base/error.hpp"
#include "base/sizes.hpp"
#include "io/files/hash.hpp"
#include "io/input/open_rows.hpp"
#include "io/output/journal.hpp"
#include "runner/batch/batch_tally.hpp"
#include "runner/job_file/job_file.hpp"
#include "runner/output/output_claim.hpp"
#include "tests/io/dataset_file.hpp"
#include "tests/io/scratch_folder.hpp"
#include "tests/support/probing_main.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace runner::batch {
namespace {

namespace fs = std::filesystem;

using Places = std::vector<std::size_t>;

/// A batch over images of 4 x 5 bytes, in/a.h5 to in/d.h5.
struct BatchPlanTest : testing::Test {
    BatchPlanTest() {
        fs::create_directory(folder / "in");
        for (const char* name : {"a", "b", "c", "d"}) {
            write_dataset(input(name), "/x", {4, 5}, image);
        }
    }

    std::string input(const std::string& name) const { return folder / "in/" + name + ".h5"; }
    std::string output(const std::string& name) const { return folder / "out/" + name + ".h5"; }

    std::string text(const std::string& tap = "1") const {
        return "kind = \"convolve\"\n[input]\ndataset = \"/x\"\n[batch]\ninputs = [\"" +
               (folder / "in/*.h5") + "\"]\noutput = \"" + (folder / "out/{stem}.h5") +
               "\"\n[convolve]\nrow_taps = [" + tap + "]\ncolumn_taps = [1]\n";
    }
    Plan list(const History& history = {}, const std::string& tap = "1",
              std::vector<std::string> settings = {}) const {
        return list_batch(parse_job_text(text(tap), "batch.toml", settings), settings, history,
                          [] {});
    }
    /// With each dataset inspected.
    Plan planned(const std::string& tap = "1", Means means = {Backend::cpu, {1, 1 * GiB, 0}, 1}) {
        Plan plan = list({}, tap);
        look_at_datasets(plan, unknown_datasets(plan, {}), means, prober, [] {});
        return plan;
    }
    static std::vector<Fate> fates(const Plan& plan) {
        std::vector<Fate> all;
        for (const PlannedDataset& each : plan.datasets) {
            all.push_back(each.fate);
        }
        return all;
    }

    /// Makes the output of a dataset as a run does: of the first `rows` rows, and finished where
    /// these are all.
    void make(const std::string& name, std::int64_t rows) {
        fs::create_directories(folder / "out");
        const Plan plan = list();
        for (const PlannedDataset& each : plan.datasets) {
            if (each.dataset.output != output(name)) {
                continue;
            }
            OwnFiles files;
            const PreparedJob job = prepare_job(job_for(each.dataset, plan.job, {}), files);
            output::Claim claim(output(name), "a test", prober);
            claim.replace(job, output::rules_of(job.file));
            const output::Beginning beginning = claim.begin(job, 1, 1);
            const std::vector<std::byte> made(static_cast<std::size_t>(byte_count(job.output())));
            const std::int64_t bytes = rows * std::ssize(made) / 4;
            const auto writer = open_output_rows(output_dataset(job), 0, 1);
            writer->write(0, rows, made.data());
            writer->finish(RowWriter::Sync::no);
            JournalWriter(journal_folder(output(name)), beginning.attempt, "rank-0")
                .append(std::vector<RowHash>{{0, rows, hash_bytes(made.data(), bytes)}});
            if (rows == 4) {
                (void)claim.complete(job, beginning, {});
                claim.release(job);
            }
        }
    }
    /// What a log tells of a dataset that is done as it lies there.
    DatasetEvent done_event(const std::string& name) const {
        DatasetEvent event;
        event.what = DatasetEvent::What::done;
        for (const PlannedDataset& each : list().datasets) {
            if (each.dataset.output == output(name)) {
                event.key = each.listed.key;
            }
        }
        event.input = mark_of(input(name));
        event.output = mark_of(output(name));
        return event;
    }

    const std::vector<std::uint8_t> image = std::vector<std::uint8_t>(20, 7);
    ScratchFolder folder;
    Prober prober;
};

TEST_F(BatchPlanTest, FindsOutWhatIsToDo) {
    using enum Fate;
    EXPECT_EQ(fates(list()), (std::vector<Fate>(4, unknown)));
    make("a", 4);
    make("b", 2);
    fs::copy_file(input("c"), output("c"));
    const Plan plan = planned();
    EXPECT_EQ(fates(plan), (std::vector<Fate>{done, to_do, refused, to_do}));
    EXPECT_EQ(plan.datasets[2].code, ExitCode::output);
    EXPECT_NE(plan.datasets[2].reason.find("already there"), std::string::npos)
        << plan.datasets[2].reason;
    EXPECT_EQ(plan.datasets[3].listed.rows, 4);
    EXPECT_GT(plan.datasets[3].disk_bytes, 0);
    EXPECT_FALSE(plan.datasets[3].needs_all_ranks);
    EXPECT_EQ(plan.count(to_do), 2);
    EXPECT_EQ(batch_plan_text(plan).find("batch"), 0U);
    EXPECT_NE(batch_plan_text(plan).find(
                  ": 4 datasets, 1 done before, 2 to do, 1 that cannot be run\n  cannot be run: " +
                  input("c") + ": "),
              std::string::npos)
        << batch_plan_text(plan);
}

TEST_F(BatchPlanTest, MakesStaleOutputsAgain) {
    using enum Fate;
    make("a", 4);
    make("b", 4);
    write_dataset(folder / "other.h5", "/x", {4, 5}, std::vector<std::uint8_t>(20, 8));
    fs::rename(folder / "other.h5", input("b"));
    const Plan changed = planned();
    EXPECT_EQ(fates(changed), (std::vector<Fate>{done, redo, to_do, to_do}));
    EXPECT_NE(changed.datasets[1].reason.find("input"), std::string::npos)
        << changed.datasets[1].reason;
    const Plan other_taps = planned("2");
    EXPECT_EQ(fates(other_taps), (std::vector<Fate>{redo, redo, to_do, to_do}));
    EXPECT_NE(other_taps.datasets[0].reason.find("row_taps"), std::string::npos);
}

/// Its run died before it had cleaned up.
TEST_F(BatchPlanTest, RunsACompleteOutputWithAJournalAgain) {
    make("a", 4);
    fs::create_directory(journal_folder(output("a")));
    EXPECT_EQ(planned().datasets[0].fate, Fate::to_do);
}

TEST_F(BatchPlanTest, RefusesADatasetAndNotTheBatch) {
    using enum Fate;
    std::ofstream(input("b")) << "no HDF5";
    const Plan plan = planned();
    EXPECT_EQ(fates(plan), (std::vector<Fate>{to_do, refused, to_do, to_do}));
    EXPECT_EQ(plan.datasets[1].code, ExitCode::input);

    const Plan narrow = planned("1", {Backend::cpu, {1, 1, 0}, 1});
    EXPECT_EQ(narrow.count(refused), 4) << "a byte of memory";
    EXPECT_EQ(narrow.datasets[0].code, ExitCode::usage);
}

TEST_F(BatchPlanTest, BelievesTheHistoryWhileNothingChanges) {
    using enum Fate;
    make("a", 4);
    make("b", 4);
    History history;
    history.last[output("a")] = done_event("a");
    history.last[output("b")] = done_event("b");
    history.last[output("c")].what = DatasetEvent::What::failed;
    history.last[output("d")].what = DatasetEvent::What::stopped;
    const Plan plan = list(history);
    EXPECT_EQ(fates(plan), (std::vector<Fate>{Fate::done, Fate::done, unknown, unknown}));
    EXPECT_TRUE(plan.datasets[2].ended_badly);
    EXPECT_FALSE(plan.datasets[3].ended_badly);

    EXPECT_EQ(list(history, "2").count(unknown), 4) << "another job";
    EXPECT_EQ(list(history, "1", {"convolve.fill=1"}).count(unknown), 4) << "another setting";
    fs::create_directory(journal_folder(output("a")));
    EXPECT_EQ(list(history).datasets[0].fate, unknown) << "a run is under way, or was cut";
    EXPECT_EQ(list(history).datasets[1].fate, Fate::done);
    fs::last_write_time(input("b"), fs::last_write_time(input("b")) + std::chrono::seconds(1));
    EXPECT_EQ(list(history).datasets[1].fate, unknown) << "another input";
}

TEST_F(BatchPlanTest, ComparesAllThatIsKnownOfADoneDataset) {
    DatasetEvent event;
    event.what = DatasetEvent::What::done;
    event.key = "k";
    event.input = {3, 4};
    event.output = {5, 6};
    EXPECT_TRUE(is_known_done(&event, "k", {3, 4}, {5, 6}));
    EXPECT_FALSE(is_known_done(nullptr, "k", {3, 4}, {5, 6}));
    EXPECT_FALSE(is_known_done(&event, "l", {3, 4}, {5, 6}));
    EXPECT_FALSE(is_known_done(&event, "k", {3, 5}, {5, 6}));
    EXPECT_FALSE(is_known_done(&event, "k", {3, 4}, {-1, 0}));
    event.input = {-1, 0};
    EXPECT_FALSE(is_known_done(&event, "k", {-1, 0}, {5, 6})) << "no input";
    event.input = {3, 4};
    event.what = DatasetEvent::What::started;
    EXPECT_FALSE(is_known_done(&event, "k", {3, 4}, {5, 6}));
}

TEST_F(BatchPlanTest, DealsOutWhatIsUnknown) {
    Plan plan;
    plan.datasets.resize(7);
    plan.datasets[1].fate = Fate::done;
    plan.datasets[4].fate = Fate::refused;
    EXPECT_EQ(unknown_datasets(plan, {}), (Places{0, 2, 3, 5, 6}));
    EXPECT_EQ(unknown_datasets(plan, {0, 2}), (Places{0, 3, 6}));
    EXPECT_EQ(unknown_datasets(plan, {1, 2}), (Places{2, 5}));
    EXPECT_EQ(unknown_datasets(plan, {6, 7}), Places{});
}

/// A petabyte fits no disk of a test.
TEST_F(BatchPlanTest, ComparesItsOutputsWithTheDiskTogether) {
    Plan plan;
    plan.datasets.resize(3);
    for (PlannedDataset& each : plan.datasets) {
        each.fate = Fate::to_do;
        each.dataset.output = folder / "out/x.h5";
        each.disk_bytes = 1024;
    }
    EXPECT_NO_THROW(check_disk(plan));
    plan.datasets[1].between_bytes = std::int64_t{1} << 50;
    EXPECT_THROW(check_disk(plan), Error);
    plan.datasets[1].fate = Fate::done;
    EXPECT_NO_THROW(check_disk(plan));
    plan.datasets[2].disk_bytes = std::int64_t{1} << 50;
    const std::optional<Error> error = error_of([&] { check_disk(plan); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ExitCode::output);
    EXPECT_NE(error->text().why.find("its outputs take 1.00 PiB"), std::string::npos)
        << error->text().why;
}

TEST(Tally, CountsEachDatasetOnce) {
    Tally tally;
    EXPECT_EQ(tally.settled(), 0);
    EXPECT_EQ(tally.code(), ExitCode::ok);
    tally.done = {0, 3};
    tally.already = {3, 4};
    tally.failed = {{6, ExitCode::output}, {5, ExitCode::input}};
    EXPECT_EQ(tally.settled(), 5);
    EXPECT_EQ(tally.finished(), 3);
    EXPECT_EQ(tally.code(), ExitCode::input) << "of the first";
    Tally other;
    other.done = {7};
    other.failed = {{2, ExitCode::gpu}};
    tally.add(other);
    EXPECT_EQ(tally.settled(), 7);
    EXPECT_EQ(tally.code(), ExitCode::gpu);
    other.stopped = true;
    tally.add(other);
    EXPECT_EQ(tally.code(), ExitCode::stopped);
}

} // namespace
} // namespace runner::batch
