// SPDX-License-Identifier: BSD-3-Clause
// One rank's work on a dataset of a batch, beside what other processes do with it meanwhile. Whole
// batches are in tests/end_to_end/batch.py.
#include "runner/batch/batch_worker.hpp"

#include "base/sizes.hpp"
#include "io/files/hash.hpp"
#include "io/input/open_rows.hpp"
#include "io/output/journal.hpp"
#include "runner/output/output_claim.hpp"
#include "tests/io/dataset_file.hpp"
#include "tests/io/scratch_folder.hpp"
#include "tests/support/probing_main.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

namespace runner::batch {
namespace {

namespace fs = std::filesystem;

using Bytes = std::vector<std::uint8_t>;
using What = DatasetEvent::What;

/// A batch over one image of 4 x 3 bytes, which it doubles.
struct BatchWorkerTest : testing::Test {
    BatchWorkerTest() {
        fs::create_directory(folder / "in");
        fs::create_directory(state);
        write_dataset(input, "/x", {4, 3}, image);
    }

    JobFile job(const std::string& tap = "2") const {
        const std::string text =
            "kind = \"convolve\"\n[input]\ndataset = \"/x\"\n[output]\nsync = false\n"
            "[batch]\ninputs = [\"" +
            (folder / "in/*.h5") + "\"]\noutput = \"" + (folder / "out/{stem}.h5") +
            "\"\nstate = \"" + state + "\"\n[convolve]\nrow_taps = [" + tap +
            "]\ncolumn_taps = [1]\n";
        return parse_job_text(text, "batch.toml", {});
    }

    /// One process of a batch, as far as it has planned.
    struct Process {
        Process(BatchWorkerTest& of, const std::string& tap)
            : plan(list_batch(of.job(tap), {}, {}, [] {})),
              record(of.state, "host" + std::to_string(++of.processes)) {
            binding.host = "here";
            binding.limits = binding.least_limits = {1, 1 * GiB, 0};
            binding.cores = {0};
            look_at_datasets(plan, unknown_datasets(plan, {}), {Backend::cpu, binding.limits, 1},
                             of.prober, [] {});
            worker.emplace(command, plan, binding, HistoryReader(of.state), record, of.prober,
                           std::chrono::steady_clock::now());
        }
        DatasetEnding work() { return worker->work_on(plan.datasets[0], ranks); }

        Plan plan;
        Record record;
        RunCommand command;
        RankBinding binding;
        Ranks ranks{Ranks::Alone()};
        std::optional<Worker> worker;
    };

    Process process(const std::string& tap = "2") { return Process(*this, tap); }

    Bytes made() const { return read_dataset<std::uint8_t>(output, "/x"); }

    /// Rows of 99 as an interrupted run leaves them, or, where these are all, a finished one.
    void make(std::int64_t rows) {
        fs::create_directories(folder / "out");
        const Plan plan = list_batch(job(), {}, {}, [] {});
        OwnFiles files;
        const PreparedJob prepared =
            prepare_job(job_for(plan.datasets[0].dataset, plan.job, {}), files);
        output::Claim claim(output, "a test", prober);
        claim.replace(prepared, output::rules_of(prepared.file));
        const output::Beginning beginning = claim.begin(prepared, 1, 1);
        const std::vector<std::byte> rows_of_99(12, std::byte{99});
        const auto writer = open_output_rows(output_dataset(prepared), 0, 1);
        writer->write(0, rows, rows_of_99.data());
        writer->finish(RowWriter::Sync::no);
        JournalWriter(journal_folder(output), beginning.attempt, "rank-0")
            .append(std::vector<RowHash>{{0, rows, hash_bytes(rows_of_99.data(), rows * 3)}});
        if (rows == 4) {
            (void)claim.complete(prepared, beginning, {});
            claim.release(prepared);
        }
    }

    /// What the logs tell of the dataset at last.
    DatasetEvent last() const { return read_history(state).last.at(output); }

    ScratchFolder folder;
    const std::string input = folder / "in/a.h5";
    const std::string output = folder / "out/a.h5";
    const std::string state = folder / "state";
    const Bytes image = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    const Bytes doubled = {2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24};
    int processes = 0;
    Prober prober;
};

TEST_F(BatchWorkerTest, MakesTheFolderAndTheOutput) {
    Process one = process();
    EXPECT_EQ(one.work(), DatasetEnding::done);
    EXPECT_EQ(made(), doubled);
    EXPECT_EQ(last().what, What::done);
    EXPECT_EQ(last().input, mark_of(input));
    EXPECT_EQ(last().output, mark_of(output));
    EXPECT_EQ(last().key, one.plan.datasets[0].listed.key);
    EXPECT_EQ(last().identity, one.plan.datasets[0].identity);
    const auto left =
        std::distance(fs::directory_iterator(folder / "out"), fs::directory_iterator());
    EXPECT_EQ(left, 1); // no lock, journal or unfinished file
}

TEST_F(BatchWorkerTest, LeavesWhatAnotherProcessOfTheBatchHasMade) {
    Process slow = process();
    EXPECT_EQ(process().work(), DatasetEnding::done);
    const FileMark before = mark_of(output);
    EXPECT_EQ(slow.work(), DatasetEnding::already);
    EXPECT_EQ(mark_of(output), before);
    EXPECT_EQ(slow.worker->news(slow.plan.datasets[0])->what, What::done);
}

TEST_F(BatchWorkerTest, LeavesWhatIsCompleteWithoutAWordOfIt) {
    Process late = process();
    make(4);
    EXPECT_EQ(late.work(), DatasetEnding::already);
    EXPECT_EQ(made(), Bytes(12, 99));
    EXPECT_EQ(last().what, What::done); // and remembers it
}

TEST_F(BatchWorkerTest, LeavesWhatAnotherProcessHasLocked) {
    Process one = process();
    fs::create_directory(folder / "out");
    {
        const FileLock lock(lock_path(output), "another");
        EXPECT_EQ(one.work(), DatasetEnding::taken);
        EXPECT_FALSE(fs::exists(output));
    }
    EXPECT_EQ(one.work(), DatasetEnding::done);
}

TEST_F(BatchWorkerTest, LeavesWhatFailedElsewhereSinceItWasPlanned) {
    Process one = process();
    Process other = process();
    other.record.failed(other.plan.datasets[0], ExitCode::input, "damaged");
    EXPECT_EQ(one.work(), DatasetEnding::failed_elsewhere);
    EXPECT_EQ(one.worker->news(one.plan.datasets[0])->reason, "damaged");
    EXPECT_FALSE(fs::exists(output));
    EXPECT_FALSE(fs::exists(lock_path(output)));
    // What failed before it was planned is tried again.
    EXPECT_EQ(process().work(), DatasetEnding::done);
}

TEST_F(BatchWorkerTest, MakesAStaleOutputAgain) {
    EXPECT_EQ(process("3").work(), DatasetEnding::done);
    EXPECT_EQ(made()[0], 3);
    Process one = process();
    EXPECT_EQ(one.plan.datasets[0].fate, Fate::redo);
    EXPECT_EQ(one.work(), DatasetEnding::done);
    EXPECT_EQ(made(), doubled);
}

TEST_F(BatchWorkerTest, RefusesToReplaceAnothersFile) {
    Process one = process(); // nothing was there when it was planned
    fs::create_directory(folder / "out");
    std::ofstream(output) << "a letter";
    try {
        (void)one.work();
        ADD_FAILURE() << "it was replaced";
    } catch (const AgreedError& error) {
        EXPECT_EQ(error.code(), ExitCode::output);
        EXPECT_EQ(error.text().what, "the output is already there");
    }
    EXPECT_EQ(fs::file_size(output), 8U);
    EXPECT_FALSE(fs::exists(lock_path(output)));
}

TEST_F(BatchWorkerTest, ContinuesWhatAnInterruptedRunLeft) {
    make(2);
    EXPECT_EQ(process().work(), DatasetEnding::done);
    const Bytes continued = {99, 99, 99, 99, 99, 99, 14, 16, 18, 20, 22, 24};
    EXPECT_EQ(made(), continued);
}

TEST_F(BatchWorkerTest, StartsOverWhereAnotherJobsRowsAreLeft) {
    make(2);
    EXPECT_EQ(process("3").work(), DatasetEnding::done);
    EXPECT_EQ(made(), (Bytes{3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36}));
}

TEST_F(BatchWorkerTest, TellsAnInputThatIsGone) {
    Process one = process();
    fs::remove(input);
    try {
        (void)one.work();
        ADD_FAILURE() << "it was run";
    } catch (const AgreedError& error) {
        EXPECT_EQ(error.code(), ExitCode::input);
    }
    EXPECT_FALSE(fs::exists(output));
}

} // namespace
} // namespace runner::batch
