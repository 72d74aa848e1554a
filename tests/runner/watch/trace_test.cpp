// SPDX-License-Identifier: BSD-3-Clause
#include "runner/watch/trace.hpp"

#include "base/error.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include <nlohmann/json.hpp>

namespace runner {
namespace {

using nlohmann::json;

TEST(Trace, HasARowForEveryLaneAndStage) {
    Trace trace;
    trace.add({"chunk 1", 1, Stage::write, 3.0, 3.5});
    trace.add({"chunk 0", 0, Stage::read, 0.0, 1.0});
    trace.add({"chunk 1", 1, Stage::read, 1.0, 2.0});
    trace.add({"chunk 0", 0, Stage::write, 1.0, 1.25});
    const std::vector<std::string> ranks = {trace.chrome_events(3, "rank 3 on host-a")};
    const json document = json::parse(chrome_trace(ranks));

    std::map<int, std::string> rows;
    std::string process;
    std::vector<json> events;
    for (const json& event : document["traceEvents"]) {
        EXPECT_EQ(event["pid"], 3);
        if (event["ph"] == "X") {
            events.push_back(event);
        } else if (event["name"] == "thread_name") {
            rows[event["tid"]] = event["args"]["name"];
        } else if (event["name"] == "process_name") {
            process = event["args"]["name"];
        }
    }
    EXPECT_EQ(process, "rank 3 on host-a");
    EXPECT_EQ(
        rows,
        (std::map<int, std::string>{
            {0, "lane 0 read"}, {1, "lane 0 write"}, {2, "lane 1 read"}, {3, "lane 1 write"}}));
    ASSERT_EQ(events.size(), 4U);
    EXPECT_EQ(events[0]["name"], "chunk 0");
    EXPECT_EQ(events[0]["tid"], 0);
    EXPECT_EQ(events[0]["dur"], 1e6);
    EXPECT_EQ(events[3]["name"], "chunk 1");
    EXPECT_EQ(events[3]["cat"], "write");
    EXPECT_EQ(events[3]["tid"], 3);
    EXPECT_EQ(events[3]["ts"], 3e6);
    EXPECT_EQ(events[3]["dur"], 0.5e6);
}

TEST(Trace, JoinsRanksAndPassesOverEmptyOnes) {
    Trace first;
    first.add({"a", 0, Stage::read, 0, 1});
    Trace last;
    last.add({"b \"quoted\" \xff", 0, Stage::read, 0, 1});
    const std::vector<std::string> ranks = {first.chrome_events(0, "rank 0"),
                                            Trace(4).chrome_events(1, "rank 1"),
                                            last.chrome_events(2, "rank 2")};
    EXPECT_EQ(json::parse(chrome_trace(ranks))["traceEvents"].size(), 10U);
    EXPECT_TRUE(json::parse(chrome_trace({}))["traceEvents"].empty());
}

TEST(Trace, TakesEventsFromSeveralThreadsUpToItsRoom) {
    Trace trace(1000);
    std::vector<std::thread> threads;
    threads.reserve(4);
    for (int lane = 0; lane < 4; ++lane) {
        threads.emplace_back([&trace, lane] {
            for (int i = 0; i < 300; ++i) {
                trace.add({"chunk", lane, Stage::read, static_cast<double>(i), i + 0.5});
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(trace.dropped(), 200U);
    const std::vector<std::string> ranks = {trace.chrome_events(0, "rank 0")};
    const json document = json::parse(chrome_trace(ranks));
    EXPECT_EQ(std::count_if(document["traceEvents"].begin(), document["traceEvents"].end(),
                            [](const json& event) { return event["ph"] == "X"; }),
              1000);
}

TEST(Trace, IsWrittenOrSaysWhyNot) {
    const std::filesystem::path path =
        std::filesystem::path(testing::TempDir()) / "trace_test.json";
    Trace trace;
    trace.add({"a", 0, Stage::read, 0, 1});
    const std::vector<std::string> ranks = {trace.chrome_events(0, "rank 0")};
    write_chrome_trace(path.string(), ranks);
    std::ifstream file(path);
    EXPECT_EQ(json::parse(file)["traceEvents"].size(), 5U);
    std::filesystem::remove(path);
    for (const std::string bad : {"/nowhere/trace.json", "/dev/full"}) {
        try {
            write_chrome_trace(bad, ranks);
            FAIL() << bad;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ExitCode::output);
        }
    }
}

} // namespace
} // namespace runner
