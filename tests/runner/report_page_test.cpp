// SPDX-License-Identifier: BSD-3-Clause
#include "runner/report_page.hpp"

#include "runner/html.hpp"
#include "runner/page_timeline.hpp"
#include "runner/report.hpp"
#include "runner/run_summary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <regex>

namespace runner {
namespace {

/// A report as a run of two ranks writes it.
const char* const report = R"json({
  "job": {"file": "a'b.toml", "name": "<b>\"x\"</b>", "kind": "convolve",
          "text": "kind = \"convolve\" # </script> & <!--",
          "settings": ["run.backend=\"cpu\""], "folder": "/data/my jobs"},
  "runner": {"version": "0.1.0", "mpi": "Open MPI"},
  "verdict": "Writing bounded this run.", "started": "2026-11-21T13:00:00Z", "runs": 2,
  "input": {"file": "in.h5", "dataset": "/a", "type": "float32", "shape": [30, 40],
            "storage": "contiguous", "bytes": 4800, "modified": "2026-11-20T00:00:00Z"},
  "output": {"file": "out.h5", "dataset": "/a", "type": "float32", "shape": [30, 40]},
  "plan": {"backend": "cuda", "memory_per_rank": {"staging_bytes": 1024, "border_bytes": 0,
           "storage_bytes": 0, "host_bytes": 1024, "host_limit_bytes": 4096,
           "device_bytes": 2048, "device_limit_bytes": 8192}},
  "start_seconds": 0.25, "wall_seconds": 2.0, "finish_seconds": 0.125,
  "warnings": ["odd & <small>"], "notes": [],
  "ranks": [
    {"rank": 0, "host": "n0", "device": "H200", "uuid": "GPU-1", "ranks_on_device": 2,
     "cores": "0-3", "rows": [0, 15], "chunks": 2, "lanes": 2,
     "halvings": [{"reason": "no 4 GiB", "chunk_rows": 8, "lanes": 2}], "stream_seconds": 1.5,
     "stages": {"read": {"busy_seconds": 0.5, "wait_seconds": 0.25, "bytes": 4000},
                "upload": {"busy_seconds": 0, "wait_seconds": 0, "bytes": 0},
                "compute": {"busy_seconds": 0, "wait_seconds": 0, "bytes": 0},
                "exchange": {"busy_seconds": 0, "wait_seconds": 0, "bytes": 0},
                "download": {"busy_seconds": 0, "wait_seconds": 0, "bytes": 0},
                "hash": {"busy_seconds": 0, "wait_seconds": 0, "bytes": 0},
                "write": {"busy_seconds": 1.0, "wait_seconds": 0.5, "bytes": 2000}},
     "evolution": {"generations": 0},
     "memory": {"device_bytes": 2048, "resident_before_bytes": 1000, "resident_peak_bytes": 3048},
     "timeline": {"merged_below_seconds": 0.5, "bars": [
       {"lane": 0, "stage": "read", "start": 0.0, "end": 0.5, "busy": 0.5, "events": 1,
        "bytes": 4000, "first": "chunk 0"},
       {"lane": 1, "stage": "write", "start": 0.5, "end": 1.5, "busy": 0.5, "events": 3,
        "bytes": 2000, "first": "chunk 1"}]}},
    {"rank": 1, "host": "n1", "device": "H200", "uuid": "GPU-1", "ranks_on_device": 2,
     "cores": "4-7", "rows": [15, 30], "chunks": 0, "lanes": 2, "halvings": [],
     "stream_seconds": 0.0,
     "stages": {"read": {"busy_seconds": 0, "wait_seconds": 0, "bytes": 0},
                "upload": {"busy_seconds": 0, "wait_seconds": 0, "bytes": 0},
                "compute": {"busy_seconds": 0, "wait_seconds": 0, "bytes": 0},
                "exchange": {"busy_seconds": 0, "wait_seconds": 0, "bytes": 0},
                "download": {"busy_seconds": 0, "wait_seconds": 0, "bytes": 0},
                "hash": {"busy_seconds": 0, "wait_seconds": 0, "bytes": 0},
                "write": {"busy_seconds": 0, "wait_seconds": 0, "bytes": 0}},
     "evolution": {"generations": 0},
     "memory": {"device_bytes": 0, "resident_before_bytes": 0, "resident_peak_bytes": 0}}]
})json";

std::string page() {
    return report_page("r.json", report,
                       {{"before", {std::byte{'M'}, std::byte{'a'}}}, {"no after", {}}});
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST(ReportPage, DrawsEveryBarAtItsTime) {
    const std::string text = page();
    EXPECT_TRUE(has(text, "<g class=\"read\" data-rank=\"0\" data-stage=\"read\" data-lane=\"0\" "
                          "transform=\"translate(0 0)\"><rect x=\"0\" width=\"500\" height=\"11\" "
                          "data-name=\"chunk 0\"/></g>"));
    EXPECT_TRUE(has(text, "<g class=\"write\" data-rank=\"0\" data-stage=\"write\" data-lane=\"1\" "
                          "transform=\"translate(0 17)\"><rect x=\"500\" width=\"1000\" "
                          "height=\"11\" data-name=\"chunk 1\" data-events=\"3\" data-busy=\"500\" "
                          "opacity=\"0.57\"/></g>"));
    EXPECT_TRUE(has(text, "viewBox=\"0 0 1500 34\""));
    EXPECT_TRUE(has(text, "Shown are 1 of 2 ranks."));
    EXPECT_TRUE(has(text, "There were 4 events"));
}

TEST(ReportPage, SaysWhatTheReportSays) {
    const std::string text = page();
    const std::string command = "cd &#39;/data/my jobs&#39;\nmpirun -n 2 runner "
                                "&#39;a&#39;\\&#39;&#39;b.toml&#39; --set "
                                "&#39;run.backend=&quot;cpu&quot;&#39;";
    for (const std::string& part : std::vector<std::string>{
             "Writing bounded this run.", "<dd>2 s</dd>", "<dd>250 ms</dd>", "<dd>125 ms</dd>",
             "30 × 40 float32", "GPU-1", "odd &amp; &lt;small&gt;",
             "rank 0: no 4 GiB; went on with chunks of 8 rows in 2 lanes", "no after",
             "src=\"data:image/png;base64,TWE=\"", "2 ranks on 2 hosts, H200", command}) {
        EXPECT_TRUE(has(text, part)) << part;
    }
}

TEST(ReportPage, LetsNoTextBecomeMarkup) {
    const std::string text = page();
    EXPECT_FALSE(has(text, "<b>\"x\""));
    EXPECT_FALSE(has(text, "# </script>"));
    EXPECT_TRUE(has(text, "# \\u003c/script> & \\u003c!--"));
    EXPECT_TRUE(has(text, "# &lt;/script&gt; &amp; &lt;!--"));
}

TEST(ReportPage, AsksForNothing) {
    const std::string text = page();
    EXPECT_TRUE(has(text, "default-src 'none'"));
    const std::regex outside("(src|href)=\"(?!data:)|url\\(|@import|https?://");
    EXPECT_FALSE(std::regex_search(text, outside));
}

TEST(ReportPage, RefusesWhatIsNoReport) {
    for (const char* const text :
         {"", "{", "[]", "3", "{}", R"({"job": 3})", R"({"job": {"name": "a"}, "ranks": []})"}) {
        for (const bool whole_page : {true, false}) {
            try {
                whole_page ? (void)report_page("r.json", text, {})
                           : (void)summarise_report("r.json", text);
                ADD_FAILURE() << text;
            } catch (const Error& error) {
                EXPECT_EQ(error.code(), ExitCode::input);
                EXPECT_EQ(error.text().where, "r.json");
            }
        }
    }
}

std::vector<RunSummary> two_runs() {
    std::vector<RunSummary> runs = {summarise_report("a.json", report),
                                    summarise_report("dir/<b>.json", report)};
    runs[1].wall_seconds = 1;
    runs[1].ranks = 4;
    return runs;
}

TEST(RunsCompared, TakesTheNumbersFromTheReport) {
    const RunSummary run = two_runs().front();
    EXPECT_EQ(run.kind, "convolve");
    EXPECT_EQ(run.hosts, "n0, n1");
    EXPECT_EQ(run.devices, "H200");
    EXPECT_EQ(run.ranks, 2);
    EXPECT_EQ(run.lanes, 2);
    EXPECT_EQ(run.bytes, 6000);
    EXPECT_EQ(run.stream_seconds, 1.5);
    EXPECT_EQ(run.host_bytes, 2048);
    EXPECT_EQ(run.device_bytes, 2048);
    EXPECT_EQ(run.busy_seconds[static_cast<std::size_t>(Stage::write)], 1);
}

TEST(RunsCompared, AreATableOfWhatDiffersAndWasMeasured) {
    EXPECT_EQ(
        runs_text(two_runs()),
        "run           ranks  in all  of the first  engine  read+written  slowest stage  host "
        "memory  device memory\n"
        "a.json        2      2 s     1 x           1.5 s   3 kB/s         0 %           2.00 "
        "KiB     2.00 KiB\n"
        "dir/<b>.json  4      1 s     0.5 x         1.5 s   6 kB/s         0 %           2.00 "
        "KiB     2.00 KiB\n"
        "the same in all:  job <b>\"x\"</b>  kind convolve  devices H200  hosts n0, n1  chunk "
        "rows 0  lanes 2  I/O 0\n");
}

TEST(RunsCompared, AreAPage) {
    const std::string text = runs_page(two_runs());
    EXPECT_TRUE(has(text, "<td>dir/&lt;b&gt;.json</td>"));
    EXPECT_TRUE(has(text, "<td>0.5 x</td>"));
    EXPECT_TRUE(has(text, "style=\"width:12.5%\" title=\"before the first read: 250 ms\""));
    EXPECT_TRUE(has(text, "<i class=\"write\" style=\"width:100%\"></i></b><span>1 s</span>"));
    EXPECT_FALSE(has(text, "<b>.json"));
}

TEST(Throughput, IsABarsBytesEvenlyOverItsTime) {
    const std::vector<RankTimeline> ranks = {
        {0,
         "a",
         {{0, Stage::read, 0.0, 2.0, 2.0, 1, 80, ""}, {0, Stage::write, 0, 4, 4, 1, 7, ""}}},
        {1,
         "b",
         {{0, Stage::read, 1.5, 2.5, 1.0, 1, 20, ""}, {1, Stage::read, 4, 4, 0, 1, 5, ""}}}};
    EXPECT_EQ(end_of(ranks), 4);
    const std::vector<double> rates = throughput(ranks, Stage::read, 4, 4);
    ASSERT_EQ(rates.size(), 4U);
    EXPECT_DOUBLE_EQ(rates[0], 40);
    EXPECT_DOUBLE_EQ(rates[1], 50);
    EXPECT_DOUBLE_EQ(rates[2], 10);
    EXPECT_NEAR(rates[3], 5, 1e-6); // of no length, and at the very end
    EXPECT_EQ(throughput({}, Stage::read, 0, 3), (std::vector<double>{0, 0, 0}));
}

TEST(Html, NumbersForPeople) {
    EXPECT_EQ(decimal_text(1.500, 3), "1.5");
    EXPECT_EQ(decimal_text(100, 2), "100");
    EXPECT_EQ(decimal_text(-0.001, 2), "0");
    EXPECT_EQ(short_time_text(0.0000004), "0.4 µs");
    EXPECT_EQ(short_time_text(0.0123), "12.3 ms");
    EXPECT_EQ(short_time_text(3.214), "3.21 s");
    EXPECT_EQ(short_time_text(4000.4), "1:06:40 h");
    EXPECT_EQ(rate_text(4.906e9), "4.91 GB/s");
    EXPECT_EQ(rate_text(999.6), "1 kB/s");
}

TEST(Html, Base64) {
    const std::vector<std::byte> bytes = {std::byte{0xff}, std::byte{0}, std::byte{0x10},
                                          std::byte{'M'}, std::byte{'a'}};
    EXPECT_EQ(base64_text({}), "");
    EXPECT_EQ(base64_text(std::span(bytes).first(3)), "/wAQ");
    EXPECT_EQ(base64_text(std::span(bytes).first(4)), "/wAQTQ==");
    EXPECT_EQ(base64_text(bytes), "/wAQTWE=");
}

std::vector<RankReport> two_ranks(double write_seconds) {
    std::vector<RankReport> ranks(2);
    ranks[1].rank = 1;
    for (RankReport& rank : ranks) {
        rank.times.wall_seconds = 2;
        rank.times[Stage::read] = {0.5, 0, 1};
    }
    ranks[1].times[Stage::write] = {write_seconds, 0, 4'000'000'000};
    return ranks;
}

TEST(Verdict, IsTheLongestStageAndHowNearItCame) {
    EXPECT_EQ(
        verdict_text(two_ranks(1.92), 2.1),
        "Writing bounded this run: it was busy for 96 % of the 2.00 s from first read to last "
        "write on rank 1 at 2.08 GB/s, and all else was hidden behind it.");
    EXPECT_EQ(verdict_text(two_ranks(1.5), 2.1),
              "Writing took longest: it was busy for 75 % of the 2.00 s from first read to last "
              "write on rank 1 at 2.67 GB/s; better overlap could save 25 % of that time at most.");
    EXPECT_EQ(verdict_text(two_ranks(0.8), 4),
              "No stage bounded this run: the longest, writing, was busy for 40 % of the 2.00 s "
              "from first read to last write on rank 1 at 5 GB/s; the rest of that time is stages "
              "waiting for each other; starting and finishing took 2.00 s of the 4.00 s in all.");
    EXPECT_EQ(verdict_text({{}}, 1), "No stage had anything to do.");
}

TEST(RankReport, ComesBackFromTextWithItsBars) {
    RankReport rank;
    rank.bars = {{1, Stage::download, 0.5, 0.75, 0.25, 2, 9, "box 3"}};
    rank.merged_below_seconds = 0.125;
    const RankReport back = rank_report_from_text(to_text(rank));
    EXPECT_EQ(back.bars, rank.bars);
    EXPECT_EQ(back.merged_below_seconds, rank.merged_below_seconds);
    EXPECT_TRUE(rank_report_from_text(to_text(RankReport())).bars.empty());
}

TEST(TimelineBars, AreOfAFewRanksSpreadEvenly) {
    for (const int ranks : {1, 2, 16, 17, 100, 1000}) {
        std::size_t all = 0;
        int shown = 0;
        for (int rank = 0; rank < ranks; ++rank) {
            all += timeline_bars(rank, ranks);
            shown += timeline_bars(rank, ranks) > 0 ? 1 : 0;
        }
        EXPECT_LE(all, 3200U) << ranks;
        EXPECT_GE(all, 2500U) << ranks;
        EXPECT_LE(shown, 16) << ranks;
        EXPECT_GE(shown, std::min(ranks, 8)) << ranks;
        EXPECT_GT(timeline_bars(0, ranks), 0U);
    }
}

} // namespace
} // namespace runner
