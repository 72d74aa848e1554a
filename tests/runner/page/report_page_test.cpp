// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/packed.hpp"
#include "runner/page/report_page.hpp"

#include "runner/page/page_shell.hpp"
#include "runner/page/report_numbers.hpp"
#include "runner/page/run_summary.hpp"
#include "runner/report/report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <numeric>
#include <regex>

#include <nlohmann/json.hpp>

namespace runner {
namespace {

using Json = nlohmann::ordered_json;

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
  "passes": [{"pass": 1, "output": {"file": "out.h5", "dataset": "/a"}, "stream_seconds": 1.5,
              "bytes_read": 4000, "bytes_written": 2000, "bottleneck": "write",
              "overlap_efficiency": 0.5,
              "steps": [{"step": "step 1", "seconds": 0.25, "bytes": 6000}]}],
  "bounding_step": "step 1",
  "kernels": [{"device": "H200", "uuid": "GPU-1", "name": "copy_kernel<4>", "launches": 3,
               "timed": 3, "seconds": 0.25, "grid": [7, 2, 1], "block": [64, 1, 1],
               "registers": 40, "local_bytes": 0, "shared_bytes": 1024, "occupancy": 0.5,
               "bytes": 4e9, "operations": 0, "operations_of": "float32", "share": 0.75,
               "limit": "copy"}],
  "device_rates": [{"uuid": "GPU-1", "device": "H200", "why_unknown": "not measured"}],
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

/// The JSON in the element `id` of a page.
std::string embedded(const std::string& text, const std::string& id) {
    const std::string start = "<script type=\"application/json\" id=\"" + id + "\">";
    const std::size_t from = text.find(start);
    if (from == std::string::npos) {
        return "";
    }
    const std::size_t begin = from + start.size();
    return text.substr(begin, text.find("</script>", begin) - begin);
}

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
        ++found;
    }
    return found;
}

TEST(ReportPage, HoldsTheReportAndThePictures) {
    const std::string text = page();
    EXPECT_EQ(Json::parse(embedded(text, "report")), Json::parse(report));
    EXPECT_EQ(Json::parse(embedded(text, "pictures")), Json::parse(R"([
        {"caption": "before", "png": "data:image/png;base64,TWE="}, {"caption": "no after"}])"));
}

TEST(ReportPage, HoldsItsStyleSheetAndScripts) {
    const std::string text = page();
    for (const char* const name :
         {"page.css", "text.js", "dom.js", "timeline.js", "zoom.js", "sections.js", "kernels.js",
          "passes.js", "runs.js", "page.js"}) {
        std::ifstream file(std::string(SOURCE_DIR) + "/runner/page/report_" + name);
        const std::string asset{std::istreambuf_iterator<char>(file), {}};
        EXPECT_GT(asset.size(), 500U) << name;
        EXPECT_TRUE(has(text, asset)) << name;
    }
    EXPECT_FALSE(has(text, "@RUNNER"));
}

TEST(ReportPage, LetsNoTextBecomeMarkup) {
    Json hostile = Json::parse(report);
    const std::string name = "</script><!--<script>]]>\u2028\u2029&lt;\"'";
    hostile["job"]["name"] = name;
    hostile["runner"]["</script>"] = name;
    const std::string text = report_page("r.json", hostile.dump(), {{name, {}}});
    EXPECT_EQ(Json::parse(embedded(text, "report")), hostile);
    EXPECT_EQ(Json::parse(embedded(text, "pictures")).at(0).at("caption"), name);
    // The report, the pictures and the page's own: no other element begins or ends.
    EXPECT_EQ(count(text, "</script"), 3U);
    EXPECT_EQ(count(text, "<script"), 3U);
    EXPECT_EQ(count(text, "<!--"), 0U);
    EXPECT_EQ(count(text, "\u2028"), 0U);
    EXPECT_EQ(count(text, "\u2029"), 0U);
}

TEST(ReportPage, LoadsNothing) {
    const std::string text = page();
    EXPECT_TRUE(has(text, "default-src 'none'"));
    const std::string svg = "http://www.w3.org/2000/svg"; // a name, not an address
    EXPECT_EQ(count(text, "http"), count(text, svg) + count(text, "http-equiv"));
    const std::regex outside("(src|href)=\"(?!data:)|url\\(|@import|innerHTML|eval\\(");
    EXPECT_FALSE(std::regex_search(text, outside));
}

/// What a report without `key`, or with another value there, is refused for.
std::string refusal(const std::string& pointer, const Json& value) {
    Json wrong = Json::parse(report);
    wrong[Json::json_pointer(pointer)] = value;
    try {
        (void)report_page("r.json", wrong.dump(), {});
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::input);
        EXPECT_EQ(error.text().where, "r.json");
        return error.text().why;
    }
    return "";
}

TEST(ReportPage, RefusesAFieldThatItsScriptCannotDraw) {
    EXPECT_EQ(refusal("/job/text", "x"), "");
    EXPECT_EQ(refusal("/runs", 3), "");
    EXPECT_EQ(refusal("/job/text", 3), "job/text is not a string");
    EXPECT_EQ(refusal("/job/settings", "x"), "job/settings is not an array");
    EXPECT_EQ(refusal("/job/settings/0", nullptr), "job/settings/0 is not a string");
    EXPECT_EQ(refusal("/runner", Json::array()), "runner is not an object");
    EXPECT_EQ(refusal("/runner/mpi", 4), "runner/1 is not a string");
    EXPECT_EQ(refusal("/warnings", Json{{"a", "b"}}), "warnings is not an array");
    EXPECT_EQ(refusal("/ranks", Json::array()), "ranks/0 is missing");
    EXPECT_EQ(refusal("/ranks", Json::object()), "ranks is not an array");
    EXPECT_EQ(refusal("/ranks/1/rows", Json{1}), "ranks/1/rows/1 is missing");
    EXPECT_EQ(refusal("/ranks/1/stages", Json::object()), "ranks/1/stages/read is missing");
    EXPECT_EQ(refusal("/ranks/0/timeline/bars/1/start", "0"),
              "ranks/0/timeline/bars/1/start is not a number");
    EXPECT_EQ(refusal("/ranks/0/timeline/bars/0", Json::array()),
              "ranks/0/timeline/bars/0/lane is missing");
    EXPECT_EQ(refusal("/plan/memory_per_rank", 1), "plan/memory_per_rank/host_bytes is missing");
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

TEST(ScriptJson, IsTheSameValue) {
    EXPECT_EQ(script_json("{\"a\": 1}"), "{\"a\": 1}");
    EXPECT_EQ(script_json("[\"</script>\"]"), "[\"\\u003c/script\\u003e\"]");
    EXPECT_EQ(script_json("\xEF\xBB\xBF[\"\u2028 \u2029 \u2027\"]"),
              "[\"\\u2028 \\u2029 \u2027\"]");
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

TEST(RunsCompared, AreAPageThatHoldsThem) {
    const std::vector<RunSummary> runs = two_runs();
    const std::string text = runs_page(runs);
    EXPECT_EQ(Json::parse(embedded(text, "runs")), Json::parse(runs_json(runs)));
    EXPECT_EQ(count(text, "<script"), 2U);
    EXPECT_FALSE(has(text, "<b>"));
}

TEST(Numbers, AreShort) {
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

TEST(Base64, IsAsInRfc4648) {
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
    EXPECT_EQ(verdict_text(std::vector<RankReport>(1), 1), "No stage had anything to do.");
}

TEST(RankReport, IsUnpackedWithItsBars) {
    RankReport rank;
    rank.bars = {{1, Stage::download, 0.5, 0.75, 0.25, 2, 9, "box 3"}};
    rank.merged_below_seconds = 0.125;
    const RankReport back = unpacked<RankReport>(packed(rank));
    EXPECT_EQ(back.bars, rank.bars);
    EXPECT_EQ(back.merged_below_seconds, rank.merged_below_seconds);
    EXPECT_TRUE(unpacked<RankReport>(packed(RankReport())).bars.empty());
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
