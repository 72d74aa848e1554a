// SPDX-License-Identifier: BSD-3-Clause
#include "runner/output/commits.hpp"

#include "base/error.hpp"
#include "tests/io/scratch_folder.hpp"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace runner::output {
namespace {

constexpr std::int64_t total = 100;

/// A writer that only says what the journal had when it was asked to sync.
class SyncWitness final : public RowWriter {
  public:
    explicit SyncWitness(std::string folder) : folder_(std::move(folder)) {}
    void write(std::int64_t /*first*/, std::int64_t /*rows*/, const std::byte* /*from*/) override {}
    void start_sync() noexcept override { ++starts; }
    void sync() override {
        seen.push_back(read_journal(folder_, 1, total).rows.size());
        if (fails) {
            throw Error(ExitCode::output, {"no sync", "", "", ""});
        }
    }
    void hand_over() override {
        handed_over.push_back(read_journal(folder_, 1, total).rows.size());
    }
    void finish(Sync /*sync*/) override {}

    std::vector<std::size_t> seen;
    std::vector<std::size_t> handed_over;
    std::atomic<int> starts = 0;
    bool fails = false;

  private:
    std::string folder_;
};

struct CommitsTest : testing::Test {
    CommitsTest() { std::filesystem::create_directory(journal); }
    std::vector<RowHash> listed() const { return read_journal(journal, 1, total).rows; }

    ScratchFolder folder;
    std::string journal = folder / "j";
    SyncWitness writer{journal};
};

TEST_F(CommitsTest, SyncsTheDataBeforeTheJournalSaysSo) {
    Commits commits(writer, JournalWriter(journal, 1, "rank-0"), 3600, RowWriter::Sync::yes);
    commits.add(std::vector<RowHash>{{0, 5, 11}});
    commits.add(std::vector<RowHash>{{5, 5, 12}});
    EXPECT_TRUE(listed().empty());
    commits.finish();
    EXPECT_EQ(writer.seen, std::vector<std::size_t>{0});
    EXPECT_EQ(listed(), (std::vector<RowHash>{{0, 5, 11}, {5, 5, 12}}));
}

TEST_F(CommitsTest, CommitsByItselfWhenTimeIsUp) {
    Commits commits(writer, JournalWriter(journal, 1, "rank-0"), 0, RowWriter::Sync::yes);
    commits.add(std::vector<RowHash>{{0, 5, 11}});
    while (listed().empty()) { // a test that hangs is ended by CTest
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(listed(), (std::vector<RowHash>{{0, 5, 11}}));
}

TEST_F(CommitsTest, StartsTheSyncBetweenCommits) {
    Commits commits(writer, JournalWriter(journal, 1, "rank-0"), 3600, RowWriter::Sync::yes);
    commits.add(std::vector<RowHash>{{0, 5, 11}});
    while (writer.starts == 0) { // a test that hangs is ended by CTest
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_TRUE(writer.seen.empty());
    EXPECT_TRUE(listed().empty());
    commits.flush();
    EXPECT_EQ(writer.seen.size(), 1U);
}

TEST_F(CommitsTest, ListsNothingAfterAFailedSync) {
    writer.fails = true;
    Commits commits(writer, JournalWriter(journal, 1, "rank-0"), 3600, RowWriter::Sync::yes);
    commits.add(std::vector<RowHash>{{0, 5, 11}});
    EXPECT_THROW(commits.finish(), Error);
    EXPECT_TRUE(listed().empty());
}

TEST_F(CommitsTest, TellsTheNextAddOfAFailure) {
    writer.fails = true;
    Commits commits(writer, JournalWriter(journal, 1, "rank-0"), 0, RowWriter::Sync::yes);
    EXPECT_THROW(
        for (;;) { // a test that hangs is ended by CTest
            commits.add(std::vector<RowHash>{{0, 1, 0}});
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        },
        Error);
    EXPECT_TRUE(listed().empty());
}

TEST_F(CommitsTest, HandsTheDataOverWhereItDoesNotSync) {
    Commits commits(writer, JournalWriter(journal, 1, "rank-0"), 3600, RowWriter::Sync::no);
    commits.add(std::vector<RowHash>{{0, 5, 11}});
    commits.finish();
    EXPECT_TRUE(writer.seen.empty());
    EXPECT_EQ(writer.handed_over, std::vector<std::size_t>{0});
    EXPECT_EQ(writer.starts, 0);
    EXPECT_EQ(listed().size(), 1U);
}

} // namespace
} // namespace runner::output
