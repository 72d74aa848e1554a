// SPDX-License-Identifier: BSD-3-Clause
#include "cli/kind_verbs.hpp"

#include "base/error.hpp"
#include "cli/job_draft.hpp"
#include "jobs/kind.hpp"
#include "runner/job_file/job_file.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace runner::cli {
namespace {

using Words = std::vector<std::string>;

Command parse(const Words& words) { return parse_command_line(words, nullptr); }

std::string job_text(const Words& words) {
    const Command command = parse(words);
    if (const auto* saved = std::get_if<SaveJobCommand>(&command)) {
        return saved->text;
    }
    return std::get<RunCommand>(command).text.value();
}

std::string refusal(const Words& words) {
    try {
        parse(words);
        return "";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::usage);
        return error.what();
    }
}

TEST(KindVerbs, NamesThatAreNoUtf8AreRefusedByTheirArgument) {
    const std::string name = "a\xff.h5";
    EXPECT_NE(refusal({"median", name, "o.h5"}).find("IN is no text of UTF-8"), std::string::npos);
    EXPECT_NE(refusal({"median", "i.h5", name}).find("OUT is no text of UTF-8"), std::string::npos);
    EXPECT_NE(refusal({"median", "i.h5:/" + name, "o.h5"}).find("IN is no text"),
              std::string::npos);
    EXPECT_EQ(refusal({"median", "i.h5", name}).find('\xff'), std::string::npos);
}

TEST(KindVerbs, AKindWithItsKeysIsAJobFile) {
    EXPECT_EQ(job_text({"median", "in.h5:/x", "a b.tif", "--size", "3,5", "--difference", "0.5",
                        "--dtype", "uint8", "--set", "run.lanes=2", "--overwrite"}),
              R"(kind = "median"

[input]
file = "in.h5"
dataset = "/x"

[output]
file = "a b.tif"
dtype = "uint8"
overwrite = true

[run]
lanes = 2

[median]
size = [3,5]
difference = 0.5
)");
    EXPECT_EQ(job_text({"correct", "a.nxs", "b.h5", "--negative-log"}),
              "kind = \"correct\"\n\n[input]\nfile = \"a.nxs\"\n\n[output]\nfile = \"b.h5\"\n\n"
              "[correct]\nnegative_log = true\n");
    EXPECT_NE(
        job_text({"correct", "a.nxs", "b.h5", "--negative-log=false"}).find("negative_log = false"),
        std::string::npos);
    // A table without keys is there all the same, and a later setting counts.
    EXPECT_EQ(job_text({"denoise", "a.h5", "b.h5", "--set", "output.file=c.h5"}),
              "kind = \"denoise\"\n\n[input]\nfile = \"a.h5\"\n\n[output]\nfile = \"c.h5\"\n\n"
              "[denoise]\n");
}

TEST(KindVerbs, ARunHasTheOptionsOfRun) {
    const RunCommand run =
        std::get<RunCommand>(parse({"median", "a.h5", "b.h5", "-n", "3", "--quiet", "--backend",
                                    "cpu", "--report", "r.json", "--max-time", "90s"}));
    EXPECT_EQ(run.job, "runner median");
    EXPECT_EQ(run.ranks, 3);
    EXPECT_TRUE(run.quiet);
    EXPECT_EQ(run.backend, BackendChoice::cpu);
    EXPECT_EQ(run.reports, Words{"r.json"});
    EXPECT_EQ(run.max_seconds, 90);
    const auto saved =
        std::get<SaveJobCommand>(parse({"median", "a.h5", "b.h5", "--save-job", "j.toml"}));
    EXPECT_EQ(saved.file, "j.toml");
    EXPECT_EQ(parse_job_text(saved.text, "j.toml", {}).kind, "median");
}

TEST(KindVerbs, StepsAreAPipeline) {
    const std::string text = job_text(
        {"pipeline", "a.h5", "b.h5", "--steps",
         "median size=3,3, bin factors=[2, 2] name=half,rescale from=\"extremes\" dtype=uint8",
         "--set", "step.2.value=sum"});
    EXPECT_EQ(text, R"([input]
file = "a.h5"

[output]
file = "b.h5"

[[step]]
kind = "median"
size = [3,3]

[[step]]
kind = "bin"
value = "sum"
factors = [2, 2]
name = "half"

[[step]]
kind = "rescale"
from = "extremes"
dtype = "uint8"
)");
    EXPECT_EQ(parse_job_text(text, "", {}).pipeline->steps().size(), 3);
}

TEST(KindVerbs, ErrorsNameTheArgument) {
    EXPECT_EQ(refusal({"median", "a.h5", "b.h5", "--size", "4,4"}).substr(0, 59),
              "the job file is wrong (runner median): 1 error\n--size 4,4: ");
    EXPECT_NE(refusal({"pipeline", "a.h5", "b.h5", "--steps", "median sise=3,3"})
                  .find("\n--steps, median sise=3,3: step.1.sise: unknown key; did you mean size?"),
              std::string::npos);
    EXPECT_NE(
        refusal({"pipeline", "a.h5", "b.h5", "--steps", "medain"}).find("Did you mean median?"),
        std::string::npos);
    EXPECT_NE(refusal({"bin", "a.h5", "b.h5"}).find("--factors is required"), std::string::npos);
    EXPECT_NE(refusal({"median", "a.h5", "b.h5", "--set", "runn.lanes=2"})
                  .find("\n--set runn.lanes=2: runn: a job of kind median has no such table"),
              std::string::npos);
    EXPECT_NE(refusal({"median", "a.h5"}).find("OUT is required"), std::string::npos);
}

TEST(KindVerbs, EveryKindHasHelpWithItsKeys) {
    for (const Kind& kind : kinds()) {
        const Words words = {"help", std::string(kind.name)};
        const std::string help = std::get<PrintCommand>(parse(words)).text;
        for (const KeyText& key : kind.keys()) {
            std::string name = key.name;
            std::replace(name.begin(), name.end(), '_', '-');
            EXPECT_NE(help.find("\n  --" + name), std::string::npos) << kind.name << " " << name;
        }
    }
}

/// The words of a line, of which a part may be in single quotes.
Words words_of(const std::string& line) {
    Words words = {""};
    bool is_quoted = false;
    for (const char c : line) {
        if (c == '\'') {
            is_quoted = !is_quoted;
        } else if (c == ' ' && !is_quoted) {
            words.emplace_back();
        } else {
            words.back() += c;
        }
    }
    return words;
}

TEST(KindVerbs, TheExampleOfEachHelpIsTaken) {
    for (const Kind& kind : kinds()) {
        const std::string help =
            std::get<PrintCommand>(parse({"help", std::string(kind.name)})).text;
        const std::string mark = "Example:\n  runner ";
        const std::size_t begin = help.find(mark);
        ASSERT_NE(begin, std::string::npos) << kind.name;
        const std::string line = help.substr(begin + mark.size());
        const Words words = words_of(line.substr(0, line.find('\n')));
        EXPECT_TRUE(std::get<RunCommand>(parse(words)).text.has_value()) << line;
    }
}

TEST(StepList, CommasAndBlanksWithinValuesAreNoEnds) {
    const std::vector<ListedStep> steps =
        parse_steps_text("  convolve row_taps={ box = { radius = 1, x = 2 } } fill=1 ,bin "
                         "factors=2, 2,save='a, b.h5' ");
    ASSERT_EQ(steps.size(), 2);
    EXPECT_EQ(steps[0].kind, "convolve");
    EXPECT_EQ(steps[0].keys, (std::vector<std::pair<std::string, std::string>>{
                                 {"row_taps", "{ box = { radius = 1, x = 2 } }"}, {"fill", "1"}}));
    EXPECT_EQ(steps[1].kind, "bin");
    EXPECT_EQ(steps[1].keys, (std::vector<std::pair<std::string, std::string>>{
                                 {"factors", "2, 2"}, {"save", "'a, b.h5'"}}));
    EXPECT_THROW(parse_steps_text(""), std::invalid_argument);
    EXPECT_THROW(parse_steps_text("median 3"), std::invalid_argument);
    EXPECT_THROW(parse_steps_text("size=3"), std::invalid_argument);
}

} // namespace
} // namespace runner::cli
