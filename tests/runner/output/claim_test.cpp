// SPDX-License-Identifier: BSD-3-Clause
// Outputs that are begun, resumed and completed, in folders as runs leave them.
#include "runner/output/output_claim.hpp"

#include "base/error.hpp"
#include "io/files/file.hpp"
#include "io/files/hash.hpp"
#include "io/input/open_rows.hpp"
#include "io/output/journal.hpp"
#include "io/output/own_parts.hpp"
#include "runner/output/identity.hpp"
#include "runner/output/what_is_there.hpp"
#include "tests/io/dataset_file.hpp"
#include "tests/io/scratch_folder.hpp"
#include "tests/support/probing_main.hpp"

#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace runner::output {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t rows = 12;
constexpr std::int64_t columns = 5;

using Notes = std::vector<std::string>;

/// A convolution that changes nothing, of an image of 12 x 5 bytes.
struct ClaimTest : testing::Test {
    ClaimTest() : values(rows * columns) {
        std::iota(values.begin(), values.end(), std::uint8_t{1});
        write_dataset(folder / "in.h5", "/x", {rows, columns}, values);
    }

    PreparedJob prepared(const std::vector<std::string>& settings = {}) const {
        const std::string job = folder / "job.toml";
        std::ofstream(job) << "kind = \"convolve\"\n[input]\nfile = \"" << (folder / "in.h5")
                           << "\"\ndataset = \"/x\"\n[output]\nfile = \"" << output
                           << "\"\ndtype = \"uint8\"\n[convolve]\nrow_taps = [1]\n"
                              "column_taps = [1]\n";
        OwnFiles files;
        return prepare_job(load_job_file(job, settings), files);
    }

    /// Writes runs of rows into the output under way and into the journal, as a rank does.
    void commit(const PreparedJob& job, const Beginning& beginning,
                const std::vector<RowRange>& runs) const {
        OutputDataset dataset = output_dataset(job);
        dataset.parts = beginning.parts;
        const auto writer = open_output_rows(dataset, 0, 1);
        JournalWriter journal(journal_folder(output), beginning.attempt, "rank-0");
        for (const RowRange& run : runs) {
            const auto* const from =
                reinterpret_cast<const std::byte*>(values.data()) + run.first * columns;
            writer->write(run.first, run.count(), from);
            journal.append(std::vector<RowHash>{
                {run.first, run.count(), hash_bytes(from, run.count() * columns)}});
        }
        writer->finish(RowWriter::Sync::no);
    }

    /// Changes a byte of a row in the output under way.
    void damage(std::int64_t row) const {
        const std::string partial = partial_name(output);
        const auto offset = open_rows(partial, "/x", 1)->info().offset.value() + row * columns;
        const File file(partial, File::Mode::update);
        const std::byte other{0xee};
        file.write(offset, 1, &other);
    }

    RowSet listed(std::int64_t attempt) const {
        std::vector<RowRange> all;
        for (const RowHash& run : read_journal(journal_folder(output), attempt, rows).rows) {
            all.push_back({run.first, run.first + run.rows});
        }
        return make_row_set(all);
    }

    ScratchFolder folder;
    std::string output = folder / "out.h5";
    std::vector<std::uint8_t> values;
};

/// On so many ranks of one core.
Beginning begin(const PreparedJob& job, int ranks = 1) {
    return begin_output(job, {rules_of(job.file), std::nullopt, ranks, 1});
}

TEST_F(ClaimTest, BeginsWithNothing) {
    const PreparedJob job = prepared();
    const Beginning beginning = begin(job);
    EXPECT_EQ(beginning.attempt, 1);
    EXPECT_TRUE(beginning.done.empty());
    EXPECT_EQ(beginning.checkpoint, std::nullopt);
    EXPECT_EQ(beginning.notes, Notes{});
    EXPECT_EQ(without_layout(beginning.identity), job_identity(job));
    EXPECT_TRUE(fs::exists(partial_name(output)));
    EXPECT_FALSE(fs::exists(output));
    const std::optional<JournalIdentity> journal = read_identity(journal_folder(output));
    ASSERT_TRUE(journal);
    EXPECT_EQ(journal->attempt, 1);
    EXPECT_EQ(journal->text, beginning.identity);
    EXPECT_EQ(leftovers_beside(output, job_identity(job)), Leftovers::fit);
    EXPECT_EQ(leftovers_beside(output, "another"), Leftovers::other);
}

TEST_F(ClaimTest, ResumesFromTheRowsThatAreThere) {
    const PreparedJob job = prepared();
    commit(job, begin(job), {{0, 5}, {7, 8}});
    std::ofstream(stop_path(output)) << "";
    const Beginning second = begin(job);
    EXPECT_EQ(second.attempt, 2);
    EXPECT_EQ(second.done, (RowSet{{0, 5}, {7, 8}}));
    EXPECT_EQ(second.notes, (Notes{"resumes where a run stopped: 6 of 12 rows (50.0 %) are done"}));
    EXPECT_EQ(listed(2), second.done);
    EXPECT_FALSE(fs::exists(stop_path(output))) << "it was for the run before";

    commit(job, second, {{5, 7}});
    const Beginning third = begin(prepared({"run.lanes=3"}), 2);
    EXPECT_EQ(third.attempt, 3);
    EXPECT_EQ(third.done, (RowSet{{0, 8}}));
    EXPECT_EQ(third.identity, second.identity);
}

TEST_F(ClaimTest, ComputesAgainWhatIsNotAsItWasWritten) {
    const PreparedJob job = prepared({"run.resume_check=\"all\""});
    commit(job, begin(job), {{0, 2}, {2, 5}, {5, 6}, {9, 12}});
    damage(3);
    damage(9);
    const Beginning beginning = begin(job);
    EXPECT_EQ(beginning.done, (RowSet{{0, 2}, {5, 6}}));
    EXPECT_EQ(beginning.notes,
              (Notes{"computed again, since not as it was written: 2 chunks",
                     "resumes where a run stopped: 3 of 12 rows (25.0 %) are done"}));
    EXPECT_EQ(listed(2), beginning.done);
}

TEST_F(ClaimTest, StartsOverWhereNothingIsLost) {
    const PreparedJob job = prepared();
    (void)begin(job);
    const Beginning same = begin(job);
    EXPECT_EQ(same.attempt, 1);
    EXPECT_TRUE(same.done.empty());
    EXPECT_EQ(same.notes, (Notes{"starts over: the run before had committed nothing"}));

    const PreparedJob other = prepared({"convolve.fill=1"});
    const Beginning changed = begin(other);
    ASSERT_EQ(changed.notes.size(), 1U);
    EXPECT_EQ(changed.notes.front().find("starts over: the run before had committed nothing, and "),
              0U)
        << changed.notes.front();
    EXPECT_NE(changed.notes.front().find("fill"), std::string::npos) << changed.notes.front();

    std::ofstream(journal_folder(output) + "/identity") << "no identity";
    EXPECT_EQ(begin(job).notes,
              (Notes{"starts over: the run before had committed nothing, and its journal is "
                     "damaged"}));
}

/// What `f` is refused with, its code and some of its words.
template <class F> void expect_refused(F f, ExitCode code, const std::string& words) {
    const std::optional<Error> error = error_of(f);
    ASSERT_TRUE(error) << words;
    EXPECT_EQ(error->code(), code) << error->what();
    EXPECT_NE(std::string(error->what()).find(words), std::string::npos) << error->what();
}

TEST_F(ClaimTest, LeavesAnotherJobsRowsAlone) {
    const PreparedJob job = prepared();
    commit(job, begin(job), {{0, 5}});
    expect_refused([&] { (void)begin(prepared({"convolve.row_taps=[2]"})); }, ExitCode::output,
                   "cannot resume another job's partial output");
    expect_refused(
        [&] {
            (void)begin(prepared({"convolve.row_taps=[2]", "run.resume=\"require\""}));
        },
        ExitCode::output, "cannot resume another job's partial output");
    EXPECT_EQ(listed(1), (RowSet{{0, 5}}));

    values.front() = 99;
    fs::remove(folder / "in.h5");
    write_dataset(folder / "in.h5", "/x", {rows, columns}, values);
    expect_refused([&] { (void)begin(prepared()); }, ExitCode::input, "the input has changed");
    EXPECT_EQ(listed(1), (RowSet{{0, 5}}));

    std::ofstream(journal_folder(output) + "/identity") << "no identity";
    expect_refused([&] { (void)begin(prepared()); }, ExitCode::output, "journal");
    EXPECT_EQ(listed(1), (RowSet{{0, 5}}));
}

TEST_F(ClaimTest, StartsOverWhenTold) {
    const PreparedJob job = prepared();
    commit(job, begin(job), {{0, 5}});
    const Beginning beginning = begin(prepared({"run.resume=\"never\""}));
    EXPECT_EQ(beginning.attempt, 1);
    EXPECT_TRUE(beginning.done.empty());
    EXPECT_TRUE(listed(1).empty());
}

TEST_F(ClaimTest, ResumesOrFailsWhenTold) {
    const PreparedJob job = prepared({"run.resume=\"require\""});
    expect_refused([&] { (void)begin(job); }, ExitCode::output, "there is nothing to resume");
    EXPECT_FALSE(fs::exists(partial_name(output)));
    (void)begin(prepared());
    EXPECT_EQ(begin(job).attempt, 2) << "nothing is committed, but it is there";
    fs::remove(partial_name(output));
    expect_refused([&] { (void)begin(job); }, ExitCode::output, "there is nothing to resume");
}

TEST_F(ClaimTest, ListsTheRowsOfACompleteOutputAlone) {
    const PreparedJob job = prepared();
    Beginning beginning = begin(job);
    commit(job, beginning, {{0, 5}, {8, 12}});
    expect_refused([&] { (void)finished_rows(job, beginning); }, ExitCode::output,
                   "rows 5 to 7 are in no journal");
    beginning = begin(job);
    commit(job, beginning, {{5, 8}});
    std::vector<RowRange> runs;
    for (const RowHash& run : finished_rows(job, beginning)) {
        runs.push_back({run.first, run.first + run.rows});
    }
    EXPECT_EQ(runs, (std::vector<RowRange>{{0, 5}, {5, 8}, {8, 12}}));
}

TEST_F(ClaimTest, CompletesAnOutputThatSaysWhatItIs) {
    const PreparedJob job = prepared();
    Prober prober;
    Beginning beginning = begin(job);
    EXPECT_EQ(standing_of(job, job_identity(job), prober).standing, Standing::nothing);
    commit(job, beginning, {{0, 11}});
    expect_refused([&] { (void)Claim(output, "a test", prober).complete(job, beginning, {}); },
                   ExitCode::output, "rows 11 to 11 are in no journal");
    EXPECT_FALSE(fs::exists(output));

    beginning = begin(job);
    commit(job, beginning, {{11, 12}});
    EXPECT_EQ(
        Claim(output, "a test", prober).complete(job, beginning, {{"by", std::string("a test")}}),
        Notes{});
    EXPECT_FALSE(fs::exists(partial_name(output)));
    EXPECT_EQ(read_dataset<std::uint8_t>(output, "/x"), values);
    OwnFiles files;
    EXPECT_EQ(read_row_hashes(files, output, rows), finished_rows(job, beginning));
    EXPECT_EQ(standing_of(job, job_identity(job), prober).standing, Standing::done);
    const PreparedJob other = prepared({"convolve.row_taps=[2]"});
    const OutputStanding stale = standing_of(other, job_identity(other), prober);
    EXPECT_EQ(stale.standing, Standing::stale);
    EXPECT_FALSE(stale.only_input);
    EXPECT_NE(stale.why.find("row_taps"), std::string::npos) << stale.why;

    Claim(output, "a test", prober).release(job);
    EXPECT_FALSE(fs::exists(journal_folder(output)));
    EXPECT_EQ(leftovers_beside(output, job_identity(job)), Leftovers::none);
    fs::copy_file(folder / "in.h5", output, fs::copy_options::overwrite_existing);
    EXPECT_EQ(standing_of(job, job_identity(job), prober).standing, Standing::foreign);
}

TEST_F(ClaimTest, DoesNotCompleteWhatAChangedInputMade) {
    const PreparedJob job = prepared();
    const Beginning beginning = begin(job);
    commit(job, beginning, {{0, 12}});
    fs::last_write_time(folder / "in.h5",
                        fs::last_write_time(folder / "in.h5") + std::chrono::seconds(1));
    Prober prober;
    expect_refused([&] { (void)Claim(output, "a test", prober).complete(job, beginning, {}); },
                   ExitCode::input, "the input changed while it was read");
    EXPECT_FALSE(fs::exists(output));
    EXPECT_EQ(listed(1), (RowSet{{0, 12}}));
}

} // namespace
} // namespace runner::output
