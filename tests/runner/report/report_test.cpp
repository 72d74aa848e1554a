// SPDX-License-Identifier: BSD-3-Clause
// What a report says of ranks whose times are worked by hand. The verdict is tested with the page
// (tests/runner/page/report_page_test.cpp), whole runs in tests/end_to_end/.
#include "runner/report/report.hpp"

#include "runner/page/report_page.hpp"
#include "runner/report/job_counts.hpp"
#include "tests/support/copy_stream.hpp"

#include <gtest/gtest.h>

#include <map>

#include <nlohmann/json.hpp>

namespace runner {
namespace {

using Parsed = nlohmann::ordered_json;

/// A plan of two ranks of 30 and 10 rows.
struct FakePlan : JobPlan {
    ArrayInfo array{ElementType::float32, {40, 25}};
    std::int64_t state_cells = 0;

    int rank_count() const override { return 2; }
    RowRange rows_of_rank(int rank) const override {
        return rank == 0 ? RowRange{0, 30} : RowRange{30, 40};
    }
    std::int64_t pieces_of_rank(int rank) const override { return rank == 0 ? 3 : 1; }
    std::string_view piece_name() const override { return "boxes"; }
    std::int64_t chunk_rows() const override { return 10; }
    const ArrayInfo& output() const override { return array; }
    std::int64_t bytes_to_read() const override { return 3'000'000'000; }
    std::int64_t bytes_to_write() const override { return 1'000'000'000; }
    std::int64_t cells() const override { return state_cells; }
    std::string text() const override { return ""; }
    std::vector<PlanFact> facts() const override {
        return {{"frames", std::int64_t{2}}, {"box", std::vector<std::int64_t>{4, 5}}};
    }
    std::vector<PlanFact> io_facts() const override { return {{"reads", std::uint64_t{7}}}; }
};

const char* const one_job = "kind = \"convolve\"\n[input]\nfile = \"in.h5\"\ndataset = \"/a\"\n"
                            "[output]\nfile = \"out.h5\"\n[convolve]\nrow_taps = [1]\n"
                            "column_taps = [1]\n";

const char* const two_steps =
    "[input]\nfile = \"in.h5\"\ndataset = \"/a\"\n[output]\nfile = \"out.h5\"\n"
    "[[step]]\nkind = \"median\"\nname = \"clean\"\nsize = [3, 3]\n"
    "[[step]]\nkind = \"convolve\"\nrow_taps = [1]\ncolumn_taps = [1]\n";

/// Two ranks that differ in all that a report adds up or compares.
std::vector<RankReport> two_ranks() {
    std::vector<RankReport> ranks(2);
    ranks[0].host = "n0";
    ranks[0].device = "H200";
    ranks[0].uuid = "GPU-1";
    ranks[0].sharers = 2;
    ranks[0].cores = "0-3";
    ranks[0].last_row = 30;
    ranks[0].times.wall_seconds = 4;
    ranks[0].times.chunk_rows = 10;
    ranks[0].times.lanes = 2;
    ranks[0].times[Stage::read] = {2, 0.5, 600};
    ranks[0].times[Stage::compute] = {1, 0, 50};
    ranks[1].rank = 1;
    ranks[1].host = "n1";
    ranks[1].device = "CPU";
    ranks[1].cores = "4";
    ranks[1].first_row = 30;
    ranks[1].last_row = 40;
    ranks[1].times.wall_seconds = 5;
    ranks[1].times.chunk_rows = 1;
    ranks[1].times.lanes = 4;
    ranks[1].times[Stage::read] = {1, 0, 400};
    ranks[1].times[Stage::compute] = {3, 0.25, 70};
    return ranks;
}

/// A finished run and what its report refers to.
struct Finished {
    explicit Finished(const std::string& text = one_job) : job(parse_job_text(text, "a.toml", {})) {
        plan.lanes = 2;
        plan.io_threads = 3;
        plan.need = {100, 20, 3, 5000, 40, 7};
        plan.host_memory = 1000;
        plan.device_memory = 6000;
        input.array = {ElementType::uint16, {40, 25}};
        input.storage = "chunked";
    }

    JobFile job;
    std::vector<std::string> settings = {"run.lanes=2", "name=\"x\""};
    std::vector<std::string> settled = {"output.dataset=\"/a\""};
    FakePlan plan;
    DatasetInfo input;
    RunReport report{job,
                     nullptr,
                     settings,
                     settled,
                     plan,
                     input,
                     2000,
                     "2026-11-20",
                     two_ranks(),
                     "2026-11-23T14:00:00Z",
                     0.25, // to start
                     8,    // in all
                     1,
                     0,
                     {{"dead", 3}, {"raised", 0}},
                     0.125, // to finish
                     "/data",
                     "mpirun",
                     {},
                     {}};
};

TEST(FindBottleneck, IsTheLongestStageOfAllRanks) {
    const Bottleneck found = find_bottleneck(two_ranks());
    EXPECT_EQ(found.stage, Stage::compute);
    EXPECT_EQ(found.busy_seconds, 3);
    EXPECT_EQ(found.overlap_efficiency, 0.6); // of the 5 s of its own rank
    EXPECT_EQ(find_bottleneck({{}}).overlap_efficiency, 0);
}

TEST(ReportJson, HasWhatTheRunHad) {
    Finished run;
    run.report.warnings = {"odd"};
    run.report.rows_before = 5;
    run.report.runs = 2;
    const auto json = Parsed::parse(report_json(run.report));
    EXPECT_EQ(json["job"]["text"], one_job);
    EXPECT_EQ(json["job"]["kind"], "convolve");
    EXPECT_EQ(json["job"]["settings"], Parsed({"run.lanes=2", "name=\"x\""}));
    EXPECT_EQ(json["input"], Parsed::parse(R"({"file": "in.h5", "dataset": "/a", "type": "uint16",
        "shape": [40, 25], "storage": "chunked", "bytes": 2000, "modified": "2026-11-20"})"));
    EXPECT_EQ(json["output"],
              Parsed::parse(R"({"file": "out.h5", "dataset": "/a", "type": "float32",
        "shape": [40, 25]})"));
    EXPECT_EQ(json["counts"], Parsed::parse(R"({"dead": 3, "raised": 0})"));
    EXPECT_EQ(json["bottleneck"], "compute");
    EXPECT_EQ(json["overlap_efficiency"], 0.6);
    EXPECT_EQ(json["start_seconds"], 0.25);
    EXPECT_EQ(json["wall_seconds"], 8.0);
    EXPECT_EQ(json["finish_seconds"], 0.125);
    EXPECT_EQ(json["runs"], 2);
    EXPECT_EQ(json["rows_before"], 5);
    EXPECT_EQ(json["warnings"], Parsed({"odd"}));
    EXPECT_EQ(json["ranks"][1]["rows"], Parsed({30, 40}));
    EXPECT_EQ(json["ranks"][1]["stages"]["compute"],
              Parsed::parse(R"({"busy_seconds": 3.0, "wait_seconds": 0.25, "bytes": 70})"));
    EXPECT_FALSE(json.contains("passes"));
    EXPECT_FALSE(json.contains("survey_seconds"));
    run.report.survey_seconds = 0.5;
    EXPECT_EQ(Parsed::parse(report_json(run.report))["survey_seconds"], 0.5);
    EXPECT_FALSE(json["ranks"][0].contains("timeline"));
}

TEST(ReportJson, HasThePlan) {
    const auto plan = Parsed::parse(report_json(Finished().report))["plan"];
    EXPECT_EQ(plan["frames"], 2);
    EXPECT_EQ(plan["box"], Parsed({4, 5}));
    EXPECT_EQ(plan["reads"], 7);
    EXPECT_EQ(plan["lanes"], 2);
    EXPECT_EQ(plan["io_threads"], 3);
    EXPECT_EQ(plan["ranks"], Parsed::parse(R"([{"rank": 0, "rows": [0, 30], "boxes": 3},
                                               {"rank": 1, "rows": [30, 40], "boxes": 1}])"));
    // Host: images 40, and of their work 7 and the buffers 123 the larger.
    EXPECT_EQ(plan["memory_per_rank"],
              Parsed::parse(R"({"staging_bytes": 100, "border_bytes": 20, "storage_bytes": 3,
        "images_bytes": 40, "images_work_bytes": 7, "host_bytes": 163, "host_limit_bytes": 1000,
        "device_bytes": 5000, "device_limit_bytes": 6000})"));
    EXPECT_EQ(plan["bytes_read"], 3'000'000'000);
    EXPECT_EQ(plan["bytes_written"], 1'000'000'000);
}

TEST(ReportJson, HasTheTimelineToAMicrosecond) {
    Finished run;
    run.report.ranks[0].bars = {{1, Stage::hash, 0.12345649, 1.9999996, 0.5, 3, 9, "chunk 2"}};
    run.report.ranks[0].merged_below_seconds = 0.25;
    const auto json = Parsed::parse(report_json(run.report));
    EXPECT_EQ(json["ranks"][0]["timeline"], Parsed::parse(R"({"merged_below_seconds": 0.25,
        "bars": [{"lane": 1, "stage": "hash", "start": 0.123456, "end": 2.0, "busy": 0.5,
                  "events": 3, "bytes": 9, "first": "chunk 2"}]})"));
}

TEST(ReportJson, IsWhatThePageTakes) {
    Finished run(two_steps);
    run.report.passes = {pass_report(1, run.job, run.plan, run.report.ranks)};
    EXPECT_NO_THROW((void)report_page("r.json", report_json(run.report), {}));
}

TEST(PassReport, AddsBytesAndTakesTheLongestTime) {
    const Finished run(two_steps);
    std::vector<RankReport> ranks = two_ranks();
    ranks[0].times.steps = {{0.5, 100}, {2, 10}};
    ranks[1].times.steps = {{0.75, 200}, {1, 20}};
    const PassReport pass = pass_report(3, run.job, run.plan, ranks);
    EXPECT_EQ(pass.number, 3U);
    EXPECT_EQ(pass.file, "out.h5");
    EXPECT_EQ(pass.stream_seconds, 5);
    EXPECT_EQ(pass.bytes_read, 3'000'000'000);
    EXPECT_EQ(pass.bytes_written, 1'000'000'000);
    EXPECT_EQ(pass.bottleneck.stage, Stage::compute);
    ASSERT_EQ(pass.steps.size(), 2U);
    EXPECT_EQ(pass.steps[0].label, "step 1 (\"clean\")");
    EXPECT_EQ(pass.steps[0].seconds, 0.75);
    EXPECT_EQ(pass.steps[0].bytes, 300);
    EXPECT_EQ(pass.steps[1].seconds, 2);
    EXPECT_EQ(pass.steps[1].bytes, 30);
}

TEST(PassReport, OfOneStepWithoutMarksHasWhatItsComputingTook) {
    const std::string text(two_steps);
    const Finished run(text.substr(0, text.rfind("[[step]]")));
    const PassReport pass = pass_report(1, run.job, run.plan, two_ranks());
    ASSERT_EQ(pass.steps.size(), 1U);
    EXPECT_EQ(pass.steps[0].seconds, 3);
    EXPECT_EQ(pass.steps[0].bytes, 4'000'000'000);
}

TEST(BoundingStep, IsTheLongestOfAllPasses) {
    std::vector<PassReport> passes(2);
    EXPECT_EQ(bounding_step({}), nullptr);
    EXPECT_EQ(bounding_step(passes), nullptr);
    passes[0].steps = {{"a", 1, 0}, {"b", 3, 0}};
    passes[1].steps = {{"c", 3, 0}, {"d", 2, 0}};
    EXPECT_EQ(bounding_step(passes)->label, "b"); // the first of equals
    passes[1].steps[1].seconds = 4;
    EXPECT_EQ(bounding_step(passes)->label, "d");
}

TEST(ReportJson, HasThePassesAndTheStepThatTookLongest) {
    Finished run(two_steps);
    run.report.ranks[1].times.steps = {{0.75, 200}, {1.5, 20}};
    run.report.passes = {{1,
                          "a.h5",
                          "/x",
                          2,
                          30,
                          40,
                          {Stage::write, 1, 0.5},
                          {{"step 1", 1, 70}},
                          0.25,
                          {},
                          {{1, 0.5, {{0, Stage::read, 1, 2, 0.5, 1, 30, "chunk 0"}}}}},
                         pass_report(2, run.job, run.plan, run.report.ranks)};
    auto json = Parsed::parse(report_json(run.report));
    EXPECT_EQ(json["passes"][0]["stages"]["read"],
              Parsed::parse(R"({"busy_seconds": 0.0, "wait_seconds": 0.0, "bytes": 0})"));
    EXPECT_EQ(json["passes"][1]["stages"].size(), 7U);
    EXPECT_FALSE(json["passes"][1].contains("timelines")); // which the ranks have
    json["passes"][0].erase("stages");
    EXPECT_EQ(json["passes"][0],
              Parsed::parse(R"({"pass": 1, "output": {"file": "a.h5", "dataset": "/x"},
        "start_seconds": 0.25, "stream_seconds": 2.0, "bytes_read": 30, "bytes_written": 40, "bottleneck": "write",
        "overlap_efficiency": 0.5, "steps": [{"step": "step 1", "seconds": 1.0, "bytes": 70}],
        "timelines": [{"merged_below_seconds": 0.5, "bars": [{"lane": 0, "stage": "read",
        "start": 1.0, "end": 2.0, "busy": 0.5, "events": 1, "bytes": 30, "first": "chunk 0"}],
        "rank": 1}]})"));
    EXPECT_EQ(json["passes"].size(), 2U);
    EXPECT_EQ(json["bounding_step"], "step 2");
    const auto verdict = json["verdict"].get<std::string>();
    EXPECT_EQ(
        verdict,
        "Pass 2 took longest: 5.00 s of the 8.00 s in all. Computing took longest: it was "
        "busy for 60 % of the 5.00 s from first read to last write; better overlap could "
        "save 40 % of that time at most. Of the steps, step 2 in pass 2 took longest: 1.5 s.");
    run.report.passes[0].stream_seconds = 7;
    run.report.passes[0].bottleneck.busy_seconds = 3.5;
    run.report.passes[0].steps[0].seconds = 6;
    EXPECT_EQ(Parsed::parse(report_json(run.report))["verdict"],
              "Pass 1 took longest: 7.00 s of the 8.00 s in all. No stage bounded it: the longest, "
              "writing, was busy for 50 % of the 7.00 s from first read to last write; the rest of "
              "that time is stages waiting for each other. Of the steps, step 1 in pass 1 took "
              "longest: 6 s.");
}

TEST(ClosingLine, IsOfBytesAndOfAllPasses) {
    Finished run;
    EXPECT_EQ(closing_line(run.report), "out.h5: 3.73 GiB read and written in 8.00 s, 500 MB/s; "
                                        "slowest stage compute, 60 % of the engine's time\n");
    run.report.passes.resize(2);
    run.report.passes[0].bytes_read = 1 << 30;
    run.report.passes[0].bytes_written = 1 << 29;
    run.report.passes[1].bytes_written = 1 << 29;
    EXPECT_TRUE(closing_line(run.report)
                    .starts_with("out.h5: 2.00 GiB read and written in 8.00 s, 268 MB/s;"))
        << closing_line(run.report);
}

TEST(ClosingLine, OfAStateIsOfItsCells) {
    Finished run;
    run.plan.state_cells = 1000;
    run.report.ranks[0].times.generations = 400;
    EXPECT_TRUE(closing_line(run.report)
                    .starts_with("out.h5: 400 generations of 1000 cells in 8.00 s, 5e+04 cells/s;"))
        << closing_line(run.report);
}

TEST(BindingTable, HasALineOfEachRank) {
    std::vector<RankReport> ranks = two_ranks();
    EXPECT_EQ(binding_table(ranks),
              "rank 0  n0  H200  GPU-1  shared by 2 ranks  cores 0-3\n"
              "rank 1  n1  CPU  cores 4  chunks of 1 row in 4 lanes by its memory\n");
    ranks[1].times = ranks[0].times;
    EXPECT_TRUE(binding_table(ranks).ends_with("cores 4\n"));
}

/// Attributes by name, as text.
std::map<std::string, std::string> recorded(const RunReport& report) {
    struct Text {
        std::string operator()(const std::string& text) const { return text; }
        std::string operator()(std::int64_t number) const { return std::to_string(number); }
        std::string operator()(double number) const { return std::to_string(number); }
    };
    std::map<std::string, std::string> all;
    for (const auto& [name, value] : provenance(report)) {
        EXPECT_TRUE(all.emplace(name, std::visit(Text(), value)).second) << name;
    }
    return all;
}

TEST(Provenance, SaysWhatMadeTheOutput) {
    const Finished run;
    auto all = recorded(run.report);
    EXPECT_EQ(all["job"], one_job);
    EXPECT_EQ(all["job_settings"], "run.lanes=2\nname=\"x\"\noutput.dataset=\"/a\"");
    EXPECT_EQ(all["job_checksum"], job_checksum(all["job"], all["job_settings"]));
    EXPECT_EQ(all["kind"], "convolve");
    EXPECT_EQ(all["input_file"], "in.h5");
    EXPECT_EQ(all["input_dataset"], "/a");
    EXPECT_EQ(all["input_bytes"], "2000");
    EXPECT_EQ(all["devices"], "H200, CPU");
    EXPECT_EQ(all["ranks"], "2");
    EXPECT_EQ(all["chunk_rows"], "1"); // of the rank that had to halve most
    EXPECT_EQ(all["counts"], "dead = 3\nraised = 0\n");
    EXPECT_EQ(all["read_seconds"], "2.000000"); // the longest
    EXPECT_EQ(all["read_bytes"], "1000");       // the sum
    EXPECT_EQ(all["compute_seconds"], "3.000000");
    EXPECT_EQ(all["compute_bytes"], "120");
}

TEST(Provenance, NamesTheInputThatAnEarlierPassBeganWith) {
    Finished run;
    const InputOrigin origin{.file = "raw.h5", .dataset = "/raw", .identity = "id"};
    run.report.origin = &origin;
    run.report.counts.clear();
    auto all = recorded(run.report);
    EXPECT_EQ(all["input_file"], "raw.h5");
    EXPECT_EQ(all["input_dataset"], "/raw");
    EXPECT_FALSE(all.contains("counts"));
}

TEST(JobChecksum, IsOfTheTextAndOfTheSettings) {
    // printf 'ab\0c' | xxhsum -H2
    EXPECT_EQ(job_checksum("ab", "c"), "57a0347f753820daa71182e64e0c6121");
    EXPECT_NE(job_checksum("ab", "c"), job_checksum("a", "bc"));
    EXPECT_NE(job_checksum("ab", "c"), job_checksum("abc", ""));
}

/// Counts as "name=value".
std::vector<std::string> shown(const std::vector<JobCount>& counts) {
    std::vector<std::string> all;
    for (const auto& [name, value] : counts) {
        all.push_back(name + "=" + std::to_string(value));
    }
    return all;
}

using Texts = std::vector<std::string>;

TEST(Counts, AreReadAsTheyAreWritten) {
    EXPECT_EQ(counts_text({}), "");
    const std::string text = counts_text({{"dead", 12}, {"a = b", -3}});
    EXPECT_EQ(text, "dead = 12\na = b = -3\n");
    EXPECT_EQ(shown(counts_in({{"job", "x = 1"}, {"counts", "dead = 12\nraised = 0\n"}})),
              (Texts{"dead=12", "raised=0"}));
}

TEST(Counts, LeaveOutLinesThatAreNone) {
    EXPECT_EQ(shown(counts_in({{"counts", "a = 1x\nb = \nc=3\n\nd = 9223372036854775808\n"
                                          "e =  5\nf = 6"}})),
              Texts{"f=6"});
    EXPECT_TRUE(counts_in({{"counts", std::int64_t{5}}}).empty());
}

/// A job that counts two things, and knows a third beforehand.
class CountingJob : public CopyJob {
  public:
    CountingJob() : CopyJob(1, 8, 8, 0) {}
    std::vector<std::string> counted() const override { return {"dead", "raised"}; }
    std::vector<JobCount> known_counts() const override { return {{"frames", 9}}; }
};

TEST(Counts, OfRanksAreAddedUpBehindThoseOfEarlierPasses) {
    RunTimes first;
    first.counts = {1, 20};
    RunTimes second;
    second.counts = {3, 40};
    const RunTimes stopped; // has counted nothing
    EXPECT_EQ(shown(all_counts(CountingJob(), {&first, &second, &stopped}, {{"before", 5}}, 0)),
              (Texts{"before=5", "frames=9", "dead=4", "raised=60"}));
    EXPECT_EQ(shown(all_counts(CopyJob(1, 8, 8, 0), {&first}, {}, 0)), Texts{});
}

TEST(Counts, SayWhichLeaveOutTheRowsOfEarlierRuns) {
    /// A job of two steps, of which the first can be counted again.
    class PartlyCountedAgain : public CountingJob {
      public:
        std::shared_ptr<const StreamJob> counting_part() const override {
            class First : public CopyJob {
              public:
                First() : CopyJob(1, 8, 8, 0) {}
                std::vector<std::string> counted() const override { return {"dead"}; }
            };
            return std::make_shared<First>();
        }
    };
    RunTimes times;
    times.counts = {1, 20};
    EXPECT_EQ(shown(all_counts(PartlyCountedAgain(), {&times}, {}, 3)),
              (Texts{"frames=9", "dead=1", "raised_of_last_run=20"}));
    EXPECT_EQ(shown(all_counts(PartlyCountedAgain(), {&times}, {}, 0)),
              (Texts{"frames=9", "dead=1", "raised=20"}));
    EXPECT_EQ(shown(all_counts(CountingJob(), {&times}, {}, 3)),
              (Texts{"frames=9", "dead_of_last_run=1", "raised_of_last_run=20"}));
}

TEST(PlanJson, HasEachPassWithItsEnds) {
    PlannedPass pass;
    pass.plan = std::make_shared<FakePlan>();
    pass.disk = {500, 500, 600};
    pass.ends = {{"in.h5", "/a", {ElementType::uint8, {3, 4}}},
                 {{"out.h5", "/b", {ElementType::float32, {3}}}}};
    pass.reading = {"in place", 100, 50, 400};
    pass.advice = {"larger chunks"};
    const auto one = Parsed::parse(plan_json({pass}));
    EXPECT_EQ(one["input"], Parsed::parse(R"({"file": "in.h5", "dataset": "/a", "dtype": "uint8",
                                              "shape": [3, 4]})"));
    EXPECT_EQ(one["outputs"], Parsed::parse(R"([{"file": "out.h5", "dataset": "/b",
                                                 "dtype": "float32", "shape": [3]}])"));
    EXPECT_EQ(one["reading"],
              Parsed::parse(R"({"way": "in place", "wanted_bytes": 100, "stored_bytes": 50,
        "unpacked_bytes": 400, "amplification": 4.0, "exact": true, "advice": ["larger chunks"]})"));
    EXPECT_EQ(one["disk_needed_bytes"], 500);
    EXPECT_EQ(one["disk_free_bytes"], 600);
    EXPECT_FALSE(one.contains("steps"));
    EXPECT_FALSE(one.contains("passes"));

    PlannedPass last = pass;
    last.steps = {{"step 2",
                   {ElementType::uint8, {3, 4}},
                   {ElementType::float32, {3}},
                   6,
                   nullptr,
                   {{"y", "filtered"}, {"x", "each by itself"}}}};
    last.steps.front().memory = StepMemory{4000, 256, 12, 512};
    pass.end = "step 2 needs all of it";
    const auto both = Parsed::parse(plan_json({pass, last}));
    EXPECT_EQ(both["passes"].size(), 2U);
    EXPECT_EQ(both["passes"][0]["end"], "step 2 needs all of it");
    EXPECT_EQ(both["passes"][1]["end"], "");
    EXPECT_EQ(both["passes"][1]["steps"],
              Parsed::parse(R"([{"step": "step 2", "input": {"dtype": "uint8", "shape": [3, 4]},
        "output": {"dtype": "float32", "shape": [3]}, "halo_rows": 6,
        "axes": [{"axis": "y", "work": "filtered"}, {"axis": "x", "work": "each by itself"}],
        "lane_bytes": 4000, "kept_bytes": 256, "carried_rows": 12, "carried_bytes": 512}])"));
    EXPECT_FALSE(both["passes"][0].contains("axes"));
}

} // namespace
} // namespace runner
