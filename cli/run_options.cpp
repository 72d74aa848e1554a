// SPDX-License-Identifier: BSD-3-Clause
#include "cli/run_options.hpp"

#include "jobs/toml_text.hpp"
#include "runner/job_file/job_file.hpp"

#include <array>
#include <cstdint>

namespace runner::cli {

RanksOption::RanksOption(VerbParser& parser) : parser_(parser) {
    parser.add_option("-n,--ranks", text_, "RANKS",
                      "start this number of ranks on this host with mpirun; gpus: one per GPU");
}

std::optional<int> RanksOption::value() const {
    constexpr std::int64_t most_ranks = 4096;
    if (text_ == "gpus") {
        return 0;
    }
    return text_.empty()
               ? std::nullopt
               : std::optional(static_cast<int>(parser_.integer("-n", text_, 1, most_ranks)));
}

TimeOption::TimeOption(VerbParser& parser) : parser_(parser) {
    parser.add_option(
        "--max-time", text_, "DURATION",
        "stop within this time, so that the job can be resumed: 90s, 30min, 2h, 1:30:00");
}

std::optional<double> TimeOption::seconds() const { return parser_.duration("--max-time", text_); }

RunOptions::RunOptions(VerbParser& parser) : parser_(parser), ranks_(parser), time_(parser) {
    parser.add_backend();
    parser.add_option("--resume", resume_, "NAME", "auto, never or require; overrides run.resume");
    parser.add_flag("--quiet", quiet_, "no progress, only warnings and errors");
    parser.add_repeatable("--report", reports_, "FILE",
                          "write a report: FILE.json, or a page, FILE.html; repeatable");
    parser.add_option("--trace", trace_, "FILE.json",
                      "write a timeline of all chunks, for ui.perfetto.dev");
}

void RunOptions::apply_to(RunCommand& command) const {
    command.ranks = ranks_.value();
    command.backend = parser_.backend();
    command.resume = parser_.choice(
        "--resume", resume_, {resume_names.begin(), resume_names.end()},
        std::array{ResumeChoice::automatic, ResumeChoice::never, ResumeChoice::require});
    command.quiet = quiet_;
    command.reports = reports_;
    for (const std::string& report : reports_) {
        if (!report.ends_with(".json") && !report.ends_with(".html")) {
            parser_.refuse("--report writes a file that ends in .json or .html, not " +
                           quoted_text(report));
        }
    }
    if (!trace_.empty()) {
        command.trace = trace_;
    }
    command.max_seconds = time_.seconds();
}

} // namespace runner::cli
