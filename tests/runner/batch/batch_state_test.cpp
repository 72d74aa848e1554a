// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/packed.hpp"
#include "runner/batch/batch_events.hpp"
#include "runner/batch/batch_exchange.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <vector>

#include <unistd.h>

namespace runner::batch {
namespace {

namespace fs = std::filesystem;

class BatchState : public testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "batch_state.XXXXXX").string();
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        folder_ = pattern + "/x.state";
    }
    void TearDown() override { fs::remove_all(fs::path(folder_).parent_path()); }

    static DatasetEvent failure(const std::string& reason) {
        DatasetEvent event;
        event.what = DatasetEvent::What::failed;
        event.code = ExitCode::input;
        event.reason = reason;
        return event;
    }

    std::string folder_;
};

TEST_F(BatchState, KeepsTheList) {
    const DatasetList list{
        "demo", "sand", {{"a \"b\".h5", "out/a.h5", "0f", 12, 3}, {"c", "out/c.h5", "1f", 0, 0}}};
    write_list(folder_, list);
    const DatasetList back = read_list(folder_);
    EXPECT_EQ(back.name, "demo");
    EXPECT_EQ(back.kind, "sand");
    ASSERT_EQ(back.datasets.size(), 2U);
    EXPECT_EQ(back.datasets[0].input, "a \"b\".h5");
    EXPECT_EQ(back.datasets[0].bytes, 12);
    EXPECT_EQ(back.datasets[1].key, "1f");
    EXPECT_THROW(read_list(folder_ + "/none"), Error);
    std::ofstream(folder_ + "/datasets.jsonl", std::ios::app) << "{\"input\"";
    EXPECT_THROW(read_list(folder_), Error);
}

TEST_F(BatchState, KnowsTheLastEventOfAllLogs) {
    fs::create_directories(folder_);
    DatasetEvent done;
    done.what = DatasetEvent::What::done;
    done.seconds = 1.5;
    done.key = "k";
    done.identity = "i";
    done.input = {10, 1'795'264'340'175'422'981};
    done.files = {{"/a b", {30, 3}}, {"/missing", {}}};
    done.output = {20, 2};
    {
        Log first(folder_, "host");
        first.add("a", failure("line\nbreak"));
        first.add("b", failure("old"));
        first.add("b", done);
    }
    { Log(folder_, "other").add("a", {}); }
    const History history = read_history(folder_);
    EXPECT_EQ(history.begun.size(), 2U);
    ASSERT_EQ(history.last.size(), 2U);
    EXPECT_EQ(history.last.at("a").what, DatasetEvent::What::started);
    const DatasetEvent& b = history.last.at("b");
    EXPECT_EQ(b.what, DatasetEvent::What::done);
    EXPECT_EQ(b.seconds, 1.5);
    EXPECT_EQ(b.key, "k");
    EXPECT_EQ(b.identity, "i");
    EXPECT_EQ(b.input, done.input);
    EXPECT_EQ(b.files, done.files);
    EXPECT_EQ(b.output, done.output);
    EXPECT_TRUE(read_history(folder_ + "/none").last.empty());
}

TEST_F(BatchState, RemembersWhatWasDoneThoughALaterRunFailed) {
    fs::create_directories(folder_);
    DatasetEvent done;
    done.what = DatasetEvent::What::done;
    done.key = "k";
    Log log(folder_, "host");
    log.add("a", done);
    log.add("a", failure("later"));
    const History history = read_history(folder_);
    EXPECT_EQ(history.last.at("a").reason, "later");
    EXPECT_EQ(history.last_done.at("a").key, "k");
}

TEST_F(BatchState, KeepsTheTimeOfAnOutputThatAnotherProcessFindsComplete) {
    fs::create_directories(folder_);
    DatasetEvent made;
    made.what = DatasetEvent::What::done;
    made.seconds = 1.5;
    made.output = {20, 2};
    DatasetEvent found = made;
    found.seconds = 0;
    DatasetEvent changed = found;
    changed.output = {20, 3};
    Log first(folder_, "a");
    Log second(folder_, "b");
    first.add("in both orders", made);
    second.add("in both orders", found);
    second.add("the other way", made);
    first.add("the other way", found);
    first.add("another output", made);
    second.add("another output", changed);
    const History history = read_history(folder_);
    EXPECT_EQ(history.last_done.at("in both orders").seconds, 1.5);
    EXPECT_EQ(history.last_done.at("the other way").seconds, 1.5);
    EXPECT_EQ(history.last_done.at("another output").seconds, 0);
}

TEST_F(BatchState, TellsNewsFromWhatWasThere) {
    fs::create_directories(folder_);
    Log log(folder_, "host");
    log.add("a", failure("old"));
    HistoryReader reader(folder_);
    EXPECT_EQ(reader.history().last.at("a").reason, "old");
    EXPECT_EQ(reader.news("a"), nullptr);
    log.add("b", failure("new"));
    EXPECT_EQ(reader.news("b"), nullptr);
    reader.read_on();
    ASSERT_NE(reader.news("b"), nullptr);
    EXPECT_EQ(reader.news("b")->reason, "new");
    EXPECT_EQ(reader.news("a"), nullptr);
    // A line that grows is taken once, when it is whole.
    const fs::path path = folder_ + "/log-other-1-2.jsonl";
    std::ofstream(path) << "{\"event\":\"started\",\"order\":9,\"output\":\"a\",";
    reader.read_on();
    EXPECT_EQ(reader.news("a"), nullptr);
    std::ofstream(path, std::ios::app) << "\"time\":1e11}\n";
    reader.read_on();
    ASSERT_NE(reader.news("a"), nullptr);
    EXPECT_EQ(reader.news("a")->what, DatasetEvent::What::started);
    HistoryReader none(folder_ + "/none");
    EXPECT_TRUE(none.history().last.empty());
}

TEST_F(BatchState, OrdersEventsByWhatTheirProcessesSaw) {
    fs::create_directories(folder_);
    // By clocks that were ahead: of an earlier version, and of this one.
    std::ofstream(folder_ + "/log-z-1-1.jsonl")
        << R"({"event":"started","output":"old","time":9e9})"
           "\n"
        << R"({"event":"stopped","output":"mixed","time":9e9})"
           "\n";
    std::ofstream(folder_ + "/log-y-1-1.jsonl")
        << R"({"event":"stopped","output":"old","time":8e9})"
           "\n";
    std::ofstream(folder_ + "/log-x-1-1.jsonl")
        << R"({"event":"stopped","order":7,"output":"new","time":9e9})"
           "\n"
        << R"({"event":"stopped","order":7000000000000000000,"output":"no number","time":1}")"
           "\n"
        << "torn";
    EXPECT_EQ(read_history(folder_).last.at("old").what, DatasetEvent::What::started);
    Log log(folder_, "host");
    log.add("new", {});
    log.add("mixed", {});
    Log other(folder_, "a");
    other.add("new", failure("the last"));
    const History history = read_history(folder_);
    EXPECT_EQ(history.last.at("new").reason, "the last");
    EXPECT_EQ(history.last.at("new").order, 10);
    EXPECT_EQ(history.last.at("mixed").order, 9);
}

TEST_F(BatchState, TakesWhatIsDoneOfEventsThatDidNotSeeEachOther) {
    fs::create_directories(folder_);
    const std::string done =
        R"({"event":"done","identity":"i","input_mark":[1,1],"key":"k","order":3,"output":"a",)"
        R"("output_mark":[1,1],"seconds":1,"time":1})"
        "\n";
    const std::string failed =
        R"({"code":3,"event":"failed","order":3,"output":"a","reason":"r","time":2})"
        "\n";
    for (const bool first : {true, false}) {
        std::ofstream(folder_ + "/log-a-1-1.jsonl") << (first ? done : failed);
        std::ofstream(folder_ + "/log-b-1-1.jsonl") << (first ? failed : done);
        EXPECT_EQ(read_history(folder_).last.at("a").what, DatasetEvent::What::done);
    }
}

TEST_F(BatchState, PassesOverWhatIsTornAtAnyByte) {
    fs::create_directories(folder_);
    {
        Log log(folder_, "host");
        log.add("a", failure("first"));
        log.add("a", failure("second"));
    }
    const fs::path path = fs::directory_iterator(folder_)->path();
    std::string text;
    std::getline(std::ifstream(path), text, '\0');
    const std::size_t first_line = text.find('\n') + 1;
    for (std::size_t bytes = 0; bytes < text.size(); ++bytes) {
        std::ofstream(path, std::ios::trunc) << text.substr(0, bytes);
        const History history = read_history(folder_);
        if (bytes < first_line) {
            EXPECT_TRUE(history.last.empty()) << bytes;
        } else {
            EXPECT_EQ(history.last.at("a").reason, "first") << bytes;
        }
    }
}

TEST_F(BatchState, SeesFilesChange) {
    EXPECT_EQ(mark_of(folder_).bytes, -1);
    std::ofstream(folder_) << "12345";
    const FileMark before = mark_of(folder_);
    EXPECT_EQ(before.bytes, 5);
    fs::last_write_time(folder_, fs::file_time_type::clock::now() + std::chrono::seconds(1));
    EXPECT_NE(mark_of(folder_), before);
}

TEST(BatchExchange, TellsOtherRanksWhatWasFound) {
    Plan plan;
    plan.datasets.resize(5);
    plan.datasets[1].fate = Fate::done;
    EXPECT_EQ(unknown_datasets(plan, {0, 2}), (std::vector<std::size_t>{0, 3}));
    const std::vector<std::size_t> places = unknown_datasets(plan, {1, 2});
    EXPECT_EQ(places, (std::vector<std::size_t>{2, 4}));
    Plan other = plan;
    plan.datasets[2].fate = Fate::refused;
    plan.datasets[2].code = ExitCode::input;
    plan.datasets[2].reason = "two\nlines, 7 words 3 1\n";
    plan.datasets[4].fate = Fate::redo;
    plan.datasets[4].listed.bytes = std::int64_t{1} << 40;
    plan.datasets[4].listed.rows = 7;
    plan.datasets[4].disk_bytes = 9;
    plan.datasets[4].needs_all_ranks = true;
    plan.datasets[4].identity = "00ff";
    take_findings(other,
                  unpacked<std::vector<DatasetFinding>>(packed(dataset_findings(plan, places))));
    EXPECT_EQ(other.datasets[0].fate, Fate::unknown);
    EXPECT_EQ(other.datasets[2].fate, Fate::refused);
    EXPECT_EQ(other.datasets[2].code, ExitCode::input);
    EXPECT_EQ(other.datasets[2].reason, plan.datasets[2].reason);
    EXPECT_EQ(other.datasets[4].fate, Fate::redo);
    EXPECT_EQ(other.datasets[4].listed.bytes, std::int64_t{1} << 40);
    EXPECT_EQ(other.datasets[4].listed.rows, 7);
    EXPECT_EQ(other.datasets[4].disk_bytes, 9);
    EXPECT_TRUE(other.datasets[4].needs_all_ranks);
    EXPECT_EQ(other.datasets[4].identity, "00ff");
    EXPECT_EQ(other.datasets[4].reason, "");
}

} // namespace
} // namespace runner::batch
