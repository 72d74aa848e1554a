// SPDX-License-Identifier: BSD-3-Clause
#include "cli/command_line.hpp"

#include "base/error.hpp"
#include "cli/kind_verbs.hpp"

#include <gtest/gtest.h>

namespace runner::cli {
namespace {

using Words = std::vector<std::string>;

std::string version() { return "runner 0.1.0\n"; }

Command parse(const Words& arguments) { return parse_command_line(arguments, version); }

template <class T> T parse_as(const Words& arguments) { return std::get<T>(parse(arguments)); }

std::string refusal(const Words& arguments) {
    try {
        parse(arguments);
        return "";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::usage);
        return error.what();
    }
}

TEST(CommandLine, ARunHasItsDefaults) {
    for (const Words& words : {Words{"job.toml"}, Words{"run", "job.toml"}}) {
        const RunCommand run = parse_as<RunCommand>(words);
        EXPECT_EQ(run.job, "job.toml");
        EXPECT_TRUE(run.settings.empty());
        EXPECT_FALSE(run.backend || run.resume || run.trace || run.quiet);
        EXPECT_TRUE(run.reports.empty());
    }
}

TEST(CommandLine, ARunTakesEveryOption) {
    const RunCommand run =
        parse_as<RunCommand>({"--set", "run.lanes=2", "jobs/a.toml", "--set=output.file=\"b=c.h5\"",
                              "--backend", "cuda", "--resume", "require", "--quiet", "--report",
                              "a.json", "--report", "b.html", "--trace", "t.json"});
    EXPECT_EQ(run.job, "jobs/a.toml");
    EXPECT_EQ(run.settings, (Words{"run.lanes=2", "output.file=\"b=c.h5\""}));
    EXPECT_EQ(run.backend, BackendChoice::cuda);
    EXPECT_EQ(run.resume, ResumeChoice::require);
    EXPECT_TRUE(run.quiet);
    EXPECT_EQ(run.reports, (Words{"a.json", "b.html"}));
    EXPECT_EQ(run.trace, "t.json");
}

TEST(CommandLine, RanksMayStandBeforeTheVerb) {
    for (const Words& ranks : {Words{"-n", "3"}, {"-n3"}, {"--ranks", "3"}, {"--ranks=3"}}) {
        const auto with = [&](const Words& rest) {
            Words words = ranks;
            words.insert(words.end(), rest.begin(), rest.end());
            return words;
        };
        EXPECT_EQ(parse_as<RunCommand>(with({"job.toml"})).ranks, 3);
        EXPECT_EQ(parse_as<RunCommand>(with({"run", "job.toml"})).ranks, 3);
        EXPECT_EQ(parse_as<batch::Command>(with({"batch", "job.toml"})).run.ranks, 3);
        EXPECT_EQ(parse_as<PlanCommand>(with({"plan", "job.toml"})).ranks, 3);
        const auto kind = parse_as<RunCommand>(with({"median", "in.h5", "out.h5"}));
        EXPECT_EQ(kind.ranks, 3);
        EXPECT_NE(kind.text.value().find("in.h5"), std::string::npos);
        EXPECT_NE(refusal(with({"inspect", "in.h5"})).find("no option"), std::string::npos);
    }
    EXPECT_NE(refusal({"-n", "median", "in.h5"}).find("-n"), std::string::npos);
}

TEST(CommandLine, AShapeHasNoMoreAxesThanAFile) {
    std::string shape = "1";
    for (int i = 1; i < 33; ++i) {
        shape += ",1";
    }
    EXPECT_NE(refusal({"generate", "noise", "o.npy", "--shape", shape, "--dtype", "uint8"})
                  .find("--shape has 33 extents, and a file has at most 32 axes"),
              std::string::npos);
    EXPECT_NE(refusal({"convert", "i.raw", "o.npy", "--shape", shape, "--dtype", "uint8"})
                  .find("33 extents"),
              std::string::npos);
}

TEST(CommandLine, TheHelpNamesTheCompressionByDefault) {
    for (const char* verb : {"convert", "generate"}) {
        const std::string help = parse_as<PrintCommand>({verb, "--help"}).text;
        EXPECT_NE(help.find("blosc-zstd (default: none)"), std::string::npos);
    }
}

TEST(CommandLine, VerifyAndRepairTakeAnOutput) {
    const auto least = parse_as<VerifyCommand>({"verify", "out.h5"});
    EXPECT_EQ(least.file, "out.h5");
    EXPECT_FALSE(least.sample || least.recompute || least.input || least.json);
    const auto all = parse_as<VerifyCommand>(
        {"verify", "out.h5", "--sample", "7", "--recompute", "0", "--input", "in.h5", "--json"});
    EXPECT_EQ(all.sample, 7);
    EXPECT_EQ(all.recompute, 0);
    EXPECT_EQ(all.input, "in.h5");
    EXPECT_TRUE(all.json);
    EXPECT_FALSE(parse_as<RepairCommand>({"repair", "out.h5"}).input);
    EXPECT_EQ(parse_as<RepairCommand>({"repair", "out.h5", "--input", "b.h5"}).input, "b.h5");
}

TEST(CommandLine, PlanTakesRanksAndSizes) {
    const PlanCommand least = parse_as<PlanCommand>({"plan", "a.toml"});
    EXPECT_EQ(least.ranks, 1);
    EXPECT_FALSE(least.device_memory || least.host_memory || least.json);
    const PlanCommand plan = parse_as<PlanCommand>({"plan", "a.toml", "-n", "8", "--device-memory",
                                                    "80GiB", "--host-memory", "1.5 GB", "--json",
                                                    "--set", "a.b=1", "--backend", "auto"});
    EXPECT_EQ(plan.job, "a.toml");
    EXPECT_EQ(plan.settings, Words{"a.b=1"});
    EXPECT_EQ(plan.backend, BackendChoice::automatic);
    EXPECT_EQ(plan.ranks, 8);
    EXPECT_EQ(plan.device_memory, 80 * GiB);
    EXPECT_EQ(plan.host_memory, 1'500'000'000);
    EXPECT_TRUE(plan.json);
}

TEST(CommandLine, GenerateTakesShapeTypeAndSeed) {
    const GenerateCommand least = parse_as<GenerateCommand>(
        {"generate", "noise", "a.h5", "--shape", "7", "--dtype", "uint8"});
    EXPECT_EQ(least.request.shape, std::vector<std::int64_t>{7});
    EXPECT_EQ(least.request.seed, 0U);
    EXPECT_EQ(least.dataset, "/data");
    EXPECT_FALSE(least.overwrite);
    const GenerateCommand generate =
        parse_as<GenerateCommand>({"generate", "index", "a.h5", "--shape", "2,3,5", "--dtype",
                                   "float64", "--seed", "42", "--dataset", "/x/y", "--overwrite"});
    EXPECT_TRUE(generate.overwrite);
    EXPECT_EQ(generate.request.pattern, "index");
    EXPECT_EQ(generate.file, "a.h5");
    EXPECT_EQ(generate.request.shape, (std::vector<std::int64_t>{2, 3, 5}));
    EXPECT_EQ(generate.request.type, ElementType::float64);
    EXPECT_EQ(generate.request.seed, 42U);
    EXPECT_EQ(generate.dataset, "/x/y");
}

TEST(CommandLine, DatasetsAreCutFromTheirFiles) {
    EXPECT_EQ(parse_as<InspectCommand>({"inspect", "a.h5"}).what, (DatasetName{"a.h5", ""}));
    EXPECT_EQ(parse_as<InspectCommand>({"inspect", "d:e/a.h5:/g/x"}).what,
              (DatasetName{"d:e/a.h5", "/g/x"}));
    const CompareCommand compare = parse_as<CompareCommand>(
        {"compare", "a.h5:/x", "b.h5:/y", "--tolerance", "1e-6", "--json"});
    EXPECT_TRUE(compare.json);
    EXPECT_TRUE(parse_as<InspectCommand>({"inspect", "a.h5", "--json"}).json);
    EXPECT_EQ(compare.a, (DatasetName{"a.h5", "/x"}));
    EXPECT_EQ(compare.b, (DatasetName{"b.h5", "/y"}));
    EXPECT_EQ(compare.tolerance, 1e-6);
    EXPECT_EQ(parse_as<CompareCommand>({"compare", "a.h5:/x", "b.h5:/y"}).tolerance, 0.0);
    const RenderCommand render = parse_as<RenderCommand>({"render", "a.h5:/x", "p.png"});
    EXPECT_EQ(render.what, (std::vector<DatasetName>{{"a.h5", "/x"}}));
    EXPECT_EQ(render.picture, "p.png");
    EXPECT_FALSE(render.frames);
    EXPECT_FALSE(render.axis);
    EXPECT_FALSE(render.projection);
    EXPECT_FALSE(render.percentiles);
    EXPECT_FALSE(render.colour);
    EXPECT_FALSE(render.difference);
    EXPECT_FALSE(render.exact);
    const RenderCommand cut =
        parse_as<RenderCommand>({"render", "a:/x", "b:/x", "p.png", "--axis", "2", "--project",
                                 "min", "--percentiles", "1,99", "--difference", "--exact"});
    EXPECT_EQ(cut.axis, 2);
    EXPECT_EQ(cut.projection, Projection::minimum);
    EXPECT_EQ(cut.percentiles, (Percentiles{0.01, 0.99}));
    EXPECT_TRUE(cut.difference);
    EXPECT_TRUE(cut.exact);
    EXPECT_EQ(parse_as<RenderCommand>({"render", "a:/x", "p.png", "--colour=false"}).colour, false);
    EXPECT_EQ(parse_as<RenderCommand>({"render", "a:/x", "p.png", "--colour"}).colour, true);
    EXPECT_EQ(render.size, 1024);
    EXPECT_FALSE(render.same_contrast);
    const RenderCommand other =
        parse_as<RenderCommand>({"render", "a.h5:/x", "b.h5:/y", "--same-contrast", "p.png",
                                 "--frame", "3", "--size", "64"});
    EXPECT_EQ(other.what, (std::vector<DatasetName>{{"a.h5", "/x"}, {"b.h5", "/y"}}));
    EXPECT_EQ(other.picture, "p.png");
    EXPECT_TRUE(other.same_contrast);
    EXPECT_EQ(other.frames, one_frame(3));
    EXPECT_EQ(other.size, 64);
}

TEST(CommandLine, ConvertHasItsDefaultsAndTakesEveryOption) {
    const auto least = parse_as<ConvertCommand>({"convert", "a.sand", "b.h5"});
    EXPECT_EQ(least.input, (DatasetName{"a.sand", "/frames"}));
    EXPECT_EQ(least.output, (DatasetName{"b.h5", "/frames"}));
    EXPECT_FALSE(least.frames || least.first_generation || least.palette || least.overwrite);
    const auto all = parse_as<ConvertCommand>({"convert", "a.h5:/run/x", "p.png", "--frames",
                                               "1:9:2", "--first-generation", "0", "--palette",
                                               "grey", "--overwrite", "--trust-input"});
    EXPECT_EQ(all.input, (DatasetName{"a.h5", "/run/x"}));
    EXPECT_EQ(all.frames, parse_frames("1:9:2"));
    EXPECT_EQ(all.first_generation, 0);
    EXPECT_EQ(all.palette, Palette::grey);
    EXPECT_TRUE(all.overwrite);
    EXPECT_EQ(all.rules.outside, InputRules::Outside::anywhere);
    EXPECT_EQ(parse_as<ConvertCommand>({"convert", "a.h5", "b.h5:/y"}).output,
              (DatasetName{"b.h5", "/y"}));
    EXPECT_EQ(parse_as<CompareCommand>({"compare", "a.sand", "b.sand:/y"}).a,
              (DatasetName{"a.sand", ""}));
}

TEST(CommandLine, DevicesAndExplain) {
    EXPECT_FALSE(parse_as<DevicesCommand>({"devices"}).json);
    EXPECT_FALSE(parse_as<DevicesCommand>({"devices"}).measure);
    EXPECT_TRUE(parse_as<DevicesCommand>({"devices", "--json"}).json);
    EXPECT_TRUE(parse_as<DevicesCommand>({"devices", "--measure"}).measure);
    const ExplainCommand explain =
        parse_as<ExplainCommand>({"explain", "a.toml", "--set", "run.lanes=2"});
    EXPECT_EQ(explain.job, "a.toml");
    EXPECT_EQ(explain.settings, Words{"run.lanes=2"});
}

TEST(CommandLine, PrintsVersionAndHelp) {
    EXPECT_EQ(parse_as<PrintCommand>({"--version"}).text, "runner 0.1.0\n");
    const std::string help = parse_as<PrintCommand>({"--help"}).text;
    EXPECT_EQ(parse_as<PrintCommand>({"-h"}).text, help);
    for (const Verb& verb : verbs()) {
        const std::string name(verb.name);
        EXPECT_NE(help.find("\n  " + name + " "), std::string::npos) << name;
        const std::string text = parse_as<PrintCommand>({name, "--help"}).text;
        EXPECT_NE(text.find("Usage: runner " + name), std::string::npos) << name;
        EXPECT_NE(text.find("Example:\n  "), std::string::npos) << name;
    }
    for (const std::string kind : {"convolve"}) {
        EXPECT_NE(help.find("\n  " + kind + " "), std::string::npos);
    }
}

TEST(CommandLine, MistakesHaveOneWholeMessage) {
    const auto wrong = [](const std::string& verb, const std::string& why,
                          const std::string& try_this = "") {
        const std::string call = "runner " + verb;
        return "the command line is wrong (" + call + "): " + why + ". " +
               (try_this.empty() ? "See " + call + " --help" : try_this);
    };
    std::string kind_list;
    for (const std::string& kind : kind_names()) {
        kind_list += (kind_list.empty() ? "" : ", ") + kind;
    }
    std::string all;
    for (const Verb& verb : all_verbs()) {
        all += (all.empty() ? "" : ", ") + std::string(verb.name);
    }
    const std::vector<std::pair<Words, std::string>> cases = {
        {{},
         "no job file is named: write runner JOB.toml, or runner KIND IN OUT. runner --help says "
         "what else there is"},
        {{"plna", "x.toml"}, "unknown verb (\"plna\"): did you mean plan?"},
        {{"fold", "a", "b"},
         "unknown verb (\"fold\"): the verbs and kinds are " + all +
             ". A job file is named with its ending, as in runner job.toml"},
        {{"run"}, wrong("run", "JOB is required")},
        {{"a.toml", "b.toml"}, wrong("run", "unexpected argument \"b.toml\"")},
        {{"a.toml", "--qiet"},
         wrong("run", "there is no option \"--qiet\"", "Did you mean --quiet?")},
        {{"a.toml", "--max-time", "soon"},
         wrong("run", "--max-time is a time like 90s, 30min, 2h or 1:30:00, not \"soon\"")},
        {{"a.toml", "--set"}, wrong("run", "--set: 1 required KEY=VALUE missing")},
        {{"a.toml", "--backend", "cdua"},
         wrong("run", "--backend is one of auto, cpu, cuda, not \"cdua\"", "Did you mean cuda?")},
        {{"a.toml", "--resume", "yes"},
         wrong("run", "--resume is one of auto, never, require, not \"yes\"")},
        {{"a.toml", "--report", "a.txt"},
         wrong("run", "--report writes a file that ends in .json or .html, not \"a.txt\"")},
        {{"plan", "a.toml", "-n", "0"},
         wrong("plan", "-n is an integer of at least 1 and at most 1000000, not \"0\"")},
        {{"plan", "a.toml", "-n", "2.5"},
         wrong("plan", "-n is an integer of at least 1 and at most 1000000, not \"2.5\"")},
        {{"plan", "a.toml", "--device-memory", "80%"},
         wrong("plan", "--device-memory is a size like 64GiB, not \"80%\"")},
        {{"generate", "noisy", "a.h5", "--shape", "1", "--dtype", "uint8"},
         wrong("generate",
               "PATTERN is one of noise, index, gradient, sample-1, sample-2, sample-3, sample-4, "
               "sand-noise, phantom, xray, tomo-scan, phase-scan, shadows, "
               "not \"noisy\"",
               "Did you mean noise?")},
        {{"generate", "noise", "a.h5"}, wrong("generate", "--shape is required")},
        {{"generate", "noise", "a.h5", "--shape", "3,,4", "--dtype", "uint8"},
         wrong("generate", "each extent of --shape is an integer of at least 1, not \"\"")},
        {{"generate", "noise", "a.h5", "--shape", "3,", "--dtype", "uint8"},
         wrong("generate", "each extent of --shape is an integer of at least 1, not \"\"")},
        {{"inspect", ":/x"},
         wrong("inspect", "FILE[:/dataset] is a file and a dataset in it, not "
                          "\":/x\"")},
        {{"compare", "a:/x", "b:/x", "--tolerance", "-1"},
         wrong("compare", "--tolerance is a number of at least 0, not \"-1\"")},
        {{"compare", "a:/x", "b:/x", "--tolerance", "nan"},
         wrong("compare", "--tolerance is a number of at least 0, not \"nan\"")},
        {{"render", "a:/x", "a.jpg"},
         wrong("render", "the picture is a PNG and its name must end in .png, not \"a.jpg\"")},
        {{"render", "a:/x", "b:/x"},
         wrong("render", "the picture is a PNG and its name must end in .png, not \"b:/x\"")},
        {{"render", "a:/x", "p.png", "--colour", "--axis", "0"},
         wrong("render", "--colour is of images, not of volumes that --axis and --project cut")},
        {{"render", "p.png"}, wrong("render", "no dataset is named before \"p.png\"")},
        {{"render", "a:/x", "p.png", "--frames", "3:3"},
         wrong("render", "--frames is all, A:B or A:B:STEP with A below B, not \"3:3\"")},
        {{"render", "a:/x", "p.png", "--difference"},
         wrong("render", "--difference is of two datasets, not of 1")},
        {{"render", "a:/x", "p.png", "--percentiles", "99,1"},
         wrong("render", "--percentiles rise from 0 to 100, not \"99,1\"")},
        {{"render", "a:/x", "p.png", "--percentiles", "5"},
         wrong("render", "--percentiles is two numbers like 0.5,99.5, not \"5\"")},
        {{"render", "a:/x", "p.png", "--project", "sum"},
         wrong("render", "--project is one of max, min, mean, not \"sum\"")},
        {{"convert", "a.h5", "p.png", "--frame", "1", "--frames", "all"},
         wrong("convert", "--frame and --frames are both given", "Give one of them")},
        {{"convert", "a.h5", "a.sand", "--palette", "sand"},
         wrong("convert", "--palette is for pictures")},
        {{"convert", "a.h5"}, wrong("convert", "OUT is required")},
        {{"verify", "a.h5", "--sample", "0"},
         wrong("verify", "--sample is an integer of at least 1, not \"0\"")},
        {{"verify"}, wrong("verify", "OUT.h5 is required")},
        {{"repair", "a.h5", "--inptu", "b.h5"},
         wrong("repair", "there is no option \"--inptu\"", "Did you mean --input?")},
        {{"init", "convolv"},
         wrong("init", "KIND is one of " + kind_list + ", not \"convolv\"",
               "Did you mean convolve?")},
    };
    for (const auto& [words, expected] : cases) {
        EXPECT_EQ(refusal(words), expected);
    }
}

} // namespace
} // namespace runner::cli
