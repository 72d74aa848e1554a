// SPDX-License-Identifier: BSD-3-Clause
#include "runner/job_file/job_file.hpp"

#include "base/error.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <sys/stat.h>
#include <unistd.h>

namespace runner {
namespace {

namespace fs = std::filesystem;

const fs::path source_folder = RUNNER_SOURCE_FOLDER;

const char* const least = "kind = \"convolve\"\n"
                          "[input]\nfile = \"in.h5\"\ndataset = \"/image\"\n"
                          "[output]\nfile = \"out.h5\"\n"
                          "[convolve]\nrow_taps = [1]\ncolumn_taps = [1]\n";

std::string content(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

/// What load_job_file says against the file; "" where it accepts it. Every refusal has exit code 2.
std::string refusal(const std::string& path, const std::vector<std::string>& settings = {}) {
    try {
        load_job_file(path, settings);
        return "";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::usage);
        return error.what();
    }
}

/// Runs each test in an empty folder of its own, so that messages hold short names.
class JobFileTest : public testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "job_file_test.XXXXXX").string();
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
        fs::current_path(folder_);
    }
    void TearDown() override {
        fs::current_path("/");
        fs::remove_all(folder_);
    }
    static void write(const std::string& name, const std::string& text) {
        std::ofstream(name, std::ios::binary) << text;
    }
    static JobFile load(const std::string& text, const std::vector<std::string>& settings = {}) {
        write("job.toml", text);
        return load_job_file("job.toml", settings);
    }

  private:
    fs::path folder_;
};

TEST_F(JobFileTest, LeastFileHasEveryDefault) {
    const JobFile job = load(least);
    EXPECT_EQ(job.path, "job.toml");
    EXPECT_EQ(job.text, least);
    EXPECT_EQ(job.kind, "convolve");
    EXPECT_EQ(job.name, "job");
    EXPECT_EQ(job.input.file, "in.h5");
    EXPECT_EQ(job.input.dataset, "/image");
    EXPECT_FALSE(job.input.generate.has_value());
    EXPECT_EQ(job.output.file, "out.h5");
    EXPECT_EQ(job.output.dataset, "/image");
    EXPECT_FALSE(job.output.type.has_value());
    EXPECT_FALSE(job.output.overwrite);
    EXPECT_TRUE(job.output.sync);
    EXPECT_EQ(job.output.parts, 1);
    EXPECT_EQ(job.output.layout, OutputLayout{});
    EXPECT_EQ(job.run.backend, BackendChoice::automatic);
    EXPECT_FALSE(job.run.host_memory || job.run.device_memory || job.run.chunk_rows ||
                 job.run.lanes || job.run.io_threads);
    EXPECT_EQ(job.run.resume, ResumeChoice::automatic);
    ASSERT_NE(job.parameters, nullptr);
    EXPECT_EQ(job.parameters->canonical(), "row_taps = [1.0]\ncolumn_taps = [1.0]\n"
                                           "boundary = \"reflect\"\nfill = 0.0\n");
}

const char* const steps_text = "[[step]]\nname = \"a\"\nkind = \"convolve\"\nrow_taps = [1]\n"
                               "column_taps = [1]\nsave = \"kept/{stem}_{name}.h5\"\n"
                               "[[step]]\nkind = \"convolve\"\nrow_taps = [1]\n"
                               "column_taps = [1]\n";

TEST_F(JobFileTest, ASaveIsAPatternInABatchAlone) {
    const std::string ends = "[input]\nfile = \"in.h5\"\ndataset = \"/image\"\n"
                             "[output]\nfile = \"out.h5\"\n";
    const JobFile alone = load(ends + steps_text);
    EXPECT_EQ(alone.pipeline->steps()[0].save, "kept/{stem}_{name}.h5");
    const std::string batch = std::string("[input]\ndataset = \"/image\"\n[batch]\ninputs = "
                                          "[\"*.h5\"]\noutput = \"out/{stem}.h5\"\n") +
                              steps_text;
    EXPECT_EQ(load(batch).pipeline->steps()[0].save, "kept/{stem}_{name}.h5");
    const std::vector<std::string> settings = {"input.file=\"scans/x.h5\"",
                                               "output.file=\"out/x.h5\""};
    EXPECT_EQ(load(batch, settings).pipeline->steps()[0].save, "kept/x_job.h5");
}

TEST_F(JobFileTest, UntilSavedIsTheJobOfTheSavedFile) {
    const std::string ends = "[input]\nfile = \"in.h5\"\ndataset = \"/image\"\n"
                             "[output]\nfile = \"out.h5\"\ndataset = \"/other\"\n"
                             "dtype = \"uint8\"\nchunk = [1, 1]\nsync = false\n"
                             "overwrite = true\nparts = 2\n";
    const JobFile job = load(ends + steps_text, {"until_saved=\"a\""});
    EXPECT_EQ(job.output.file, "kept/{stem}_{name}.h5");
    EXPECT_EQ(job.output.dataset, "/other");
    EXPECT_FALSE(job.output.type.has_value());
    EXPECT_EQ(job.output.layout, OutputLayout{});
    EXPECT_EQ(job.output.parts, 1);
    EXPECT_FALSE(job.output.sync);
    EXPECT_TRUE(job.output.overwrite);
    ASSERT_EQ(job.pipeline->steps().size(), 1U);
    EXPECT_EQ(job.pipeline->steps()[0].save, "");
}

TEST_F(JobFileTest, ReadsEveryKey) {
    const JobFile job = load(R"(
kind = "convolve"
name = "a name"
[input]
file = "data/in.h5"
dataset = "/group/image"
generate = { pattern = "gradient", shape = [3, 5, 7], dtype = "uint16", seed = 9 }
[output]
file = "out/out.h5"
dataset = "/other"
dtype = "float64"
overwrite = true
sync = false
parts = "auto"
chunk = [1, 5, 7]
compression = "zstd"
level = 22
shuffle = true
[run]
backend = "cpu"
host_memory = "1.5GiB"
device_memory = "80%"
chunk_rows = 11
lanes = 3
io_threads = 5
resume = "require"
[convolve]
row_taps = { gaussian = { sigma = 2, radius = 8 } }
column_taps = { file = "taps.h5", dataset = "/taps" }
boundary = "constant"
fill = -1
)");
    EXPECT_EQ(job.name, "a name");
    EXPECT_EQ(job.input.dataset, "/group/image");
    ASSERT_TRUE(job.input.generate.has_value());
    EXPECT_EQ(job.input.generate->pattern, "gradient");
    EXPECT_EQ(job.input.generate->shape, (std::vector<std::int64_t>{3, 5, 7}));
    EXPECT_EQ(job.input.generate->type, ElementType::uint16);
    EXPECT_EQ(job.input.generate->seed, 9U);
    EXPECT_EQ(job.output.dataset, "/other");
    EXPECT_EQ(job.output.type, ElementType::float64);
    EXPECT_TRUE(job.output.overwrite);
    EXPECT_FALSE(job.output.sync);
    EXPECT_EQ(job.output.parts, std::nullopt);
    EXPECT_EQ(job.output.layout, (OutputLayout{{1, 5, 7}, Compression::zstd, 22, true}));
    EXPECT_EQ(job.run.backend, BackendChoice::cpu);
    EXPECT_EQ(job.run.host_memory, (MemorySize{3 * GiB / 2, 0}));
    EXPECT_EQ(job.run.device_memory, (MemorySize{0, 0.8}));
    EXPECT_EQ(job.run.chunk_rows, 11);
    EXPECT_EQ(job.run.lanes, 3);
    EXPECT_EQ(job.run.io_threads, 5);
    EXPECT_EQ(job.run.resume, ResumeChoice::require);
    EXPECT_EQ(job.parameters->canonical(),
              "row_taps = { gaussian = { sigma = 2.0, radius = 8 } }\n"
              "column_taps = { file = \"taps.h5\", dataset = \"/taps\" }\n"
              "boundary = \"constant\"\nfill = -1.0\n");
}

TEST_F(JobFileTest, AutoAndBytesAreTaken) {
    const JobFile job = load(std::string(least) + "[run]\nchunk_rows = \"auto\"\nlanes = \"auto\"\n"
                                                  "io_threads = \"auto\"\nhost_memory = 4096\n"
                                                  "backend = \"auto\"\nresume = \"auto\"\n");
    EXPECT_FALSE(job.run.chunk_rows || job.run.lanes || job.run.io_threads);
    EXPECT_EQ(job.run.host_memory, (MemorySize{4096, 0}));
}

TEST_F(JobFileTest, SettingsLieOverTheFile) {
    const std::string text = std::string(least) + "[run]\nlanes = 2\n";
    const JobFile job =
        load(text, {"run.lanes=4", "output.file=\"other.h5\"", "output.chunk = [1, 2]",
                    "convolve.row_taps={ box = { radius = 1 } }", "name='a=b'", "run.lanes=5"});
    EXPECT_EQ(job.text, text); // the file's own
    EXPECT_EQ(job.run.lanes, 5);
    EXPECT_EQ(job.output.file, "other.h5");
    EXPECT_EQ(job.output.layout.chunk, (std::vector<std::int64_t>{1, 2}));
    EXPECT_EQ(job.name, "a=b");
    EXPECT_EQ(job.parameters->canonical().substr(0, 35), "row_taps = { box = { radius = 1 } }");
}

TEST_F(JobFileTest, SettingsReachIntoTablesAndMakeThem) {
    const JobFile job =
        load(std::string(least).substr(0, std::string(least).find("[convolve]")),
             {"convolve.row_taps.gaussian.sigma=1.0", "convolve.row_taps.gaussian.radius=3",
              "convolve.column_taps=[1]", "run.backend=\"cpu\""});
    EXPECT_EQ(job.parameters->canonical().substr(0, 53),
              "row_taps = { gaussian = { sigma = 1.0, radius = 3 } }");
    EXPECT_EQ(job.run.backend, BackendChoice::cpu);
}

TEST_F(JobFileTest, BadSettingsAreNamed) {
    write("job.toml", least);
    const std::string head = "the job file is wrong (job.toml): 1 error\n--set ";
    const std::string no_value = ": the value is not one of TOML: text takes quotes, as in '";
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"run.lanes=0", "run.lanes=0: run.lanes: must be from 1 to 64, got 0"},
        {"run.lane=2", "run.lane=2: run.lane: unknown key; did you mean lanes?"},
        {"run.lanes", "run.lanes: expected table.key=value"},
        {"=3", "=3: expected table.key=value, but the key is not one of TOML"},
        {"run.lanes=", "run.lanes=" + no_value + "run.lanes=\"text\"'"},
        {"output.file='o.h5", "output.file='o.h5" + no_value + "output.file=\"text\"'"},
        {"run.lanes=2\nrun.backend=\"cpu\"",
         "\"run.lanes=2\\nrun.backend=\\\"cpu\\\"\"" + no_value + "run.lanes=\"text\"'"},
        {"input=3", "input=3: input: expected a table, got an integer"},
    };
    for (const auto& [setting, expected] : cases) {
        EXPECT_EQ(refusal("job.toml", {setting}), head + expected);
    }
}

TEST_F(JobFileTest, FileAndSettingsAreReportedTogether) {
    write("job.toml", std::string(least) + "[run]\nbackend = \"gpu\"\n");
    EXPECT_EQ(refusal("job.toml", {"run.chunk_rows=-1"}),
              "the job file is wrong (job.toml): 2 errors\n"
              "job.toml:11:11: run.backend: unknown value \"gpu\"; possible: "
              "auto, cpu, cuda\n"
              "--set run.chunk_rows=-1: run.chunk_rows: must be at least 1, got -1");
}

TEST_F(JobFileTest, OfManyErrorsTheFirstTwentyAreReported) {
    std::string text(least);
    text += "[run]\n";
    for (int i = 0; i < 5000; ++i) {
        text += "wrong_" + std::to_string(i) + " = 1\n";
    }
    write("job.toml", text);
    const std::string told = refusal("job.toml");
    EXPECT_TRUE(told.starts_with("the job file is wrong (job.toml): 5000 errors\n"
                                 "job.toml:11:1: run.wrong_0: unknown key"))
        << told.substr(0, 200);
    EXPECT_TRUE(told.ends_with("\nand 4980 more")) << told.substr(told.size() - 200);
    EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 21);
}

TEST_F(JobFileTest, WhatIsNoJobFileIsRefusedBeforeParsing) {
    fs::create_directory("folder.toml");
    ASSERT_EQ(::mkfifo("pipe.toml", 0600), 0);
    write("large.toml", "# " + std::string(1 << 20, 'a'));
    EXPECT_EQ(refusal("folder.toml"),
              "cannot read the job file (folder.toml): it is a directory. Name a file in it");
    EXPECT_EQ(
        refusal("pipe.toml"),
        "cannot read the job file (pipe.toml): it is a pipe, not a regular file. Every rank reads "
        "the job file, so save it to a file first");
    EXPECT_EQ(refusal("/dev/zero").substr(0, 37), "cannot read the job file (/dev/zero):");
    EXPECT_EQ(refusal("large.toml"),
              "cannot read the job file (large.toml): it has 1.00 MiB and may have at most "
              "1.00 MiB. Check that this is the job file");
}

TEST_F(JobFileTest, MissingFileNamesTheNearest) {
    fs::create_directory("jobs");
    write("jobs/conv_32k.toml", least);
    write("other.toml", least);
    const std::string missing = ": No such file or directory. ";
    EXPECT_EQ(refusal("jobs/conv_23k.toml"), "cannot read the job file (jobs/conv_23k.toml)" +
                                                 missing + "Did you mean jobs/conv_32k.toml?");
    EXPECT_EQ(refusal("a.toml"),
              "cannot read the job file (a.toml)" + missing + "There is other.toml");
    EXPECT_EQ(refusal("job/a.toml"),
              "cannot read the job file (job/a.toml)" + missing +
                  "There is no folder job; names are relative to the working directory, " +
                  fs::current_path().string());
}

TEST_F(JobFileTest, OutputThroughALinkToTheInputIsRefused) {
    write("in.h5", "data");
    fs::create_hard_link("in.h5", "hard.h5");
    fs::create_symlink("in.h5", "soft.h5");
    write("job.toml", least);
    for (const std::string output : {"hard.h5", "soft.h5", "../in.h5"}) {
        const std::string setting = "output.file=\"" + output + "\"";
        const bool is_other = output.starts_with("..");
        EXPECT_EQ(refusal("job.toml", {setting}),
                  is_other ? ""
                           : "the job file is wrong (job.toml): 1 error\n--set " + setting +
                                 ": output.file: is the same file as input.file, \"in.h5\"; a job "
                                 "never writes into its input");
    }
}

TEST_F(JobFileTest, HostileTextIsRefusedAndDoesNoHarm) {
    const std::string deep = "nested too deeply";
    std::string dots = "a";
    std::string tables;
    for (int i = 0; i < 100000; ++i) {
        dots += ".a";
        tables += "{a=";
    }
    const std::vector<std::pair<std::string, bool>> cases = {
        {dots + " = 1", true},
        {"[" + dots + "]", true},
        {"a = " + tables, true},
        {"a = " + std::string(500000, '['), true},
        {"a = \"\"\"\"\"\n" + dots + " = 1\n\"\"\"", false}, // within a text: nothing to refuse
        {"a = '" + dots + "'", false},
        {"# " + dots, false},
        {"a = \"\\\"" + dots + "\"", false},
        {"a = [" + std::string(50000, ' ') + "1.5, 2.5, 3.5]", false},
    };
    for (const auto& [text, refused] : cases) {
        write("job.toml", text);
        const std::string message = refusal("job.toml");
        EXPECT_EQ(message.find(deep) != std::string::npos, refused) << text.substr(0, 20);
        EXPECT_LT(message.size(), 2000U);
    }
    std::string numbers = "a = [";
    for (int i = 0; i < 1000; ++i) {
        numbers += "0.5, ";
    }
    write("job.toml", numbers + "]");
    EXPECT_EQ(refusal("job.toml").find(deep), std::string::npos);
}

TEST_F(JobFileTest, LineBreaksOfWindowsAreTaken) {
    std::string text;
    for (const char* c = least; *c != '\0'; ++c) {
        text += *c == '\n' ? "\r\n" : std::string(1, *c);
    }
    EXPECT_EQ(load(text).kind, "convolve");
}

TEST(ShippedJobFiles, AllParse) {
    int files = 0;
    for (const auto& entry : fs::directory_iterator(source_folder / "jobs")) {
        if (entry.path().extension() == ".toml") {
            EXPECT_EQ(refusal(entry.path().string()), "") << entry.path();
            ++files;
        }
    }
    EXPECT_GE(files, 3);
}

const char* const batch = "kind = \"convolve\"\nname = \"a/b\"\n"
                          "[input]\ndataset = \"/image\"\n"
                          "[convolve]\nrow_taps = [1]\ncolumn_taps = [1]\n"
                          "[batch]\ninputs = [\"s/*.h5\", \"x.h5\"]\n"
                          "output = \"out/{dir}/{stem}.h5\"\n";

TEST_F(JobFileTest, ABatchNamesInputsAndOutputs) {
    const JobFile job = load(batch);
    ASSERT_TRUE(job.batch);
    EXPECT_EQ(job.input.file, "");
    EXPECT_EQ(job.output.file, "");
    EXPECT_EQ(job.output.dataset, "/image");
    ASSERT_EQ(job.batch->inputs.size(), 2U);
    EXPECT_EQ(job.batch->inputs[1].text, "x.h5");
    EXPECT_EQ(job.batch->inputs[1].place, (SourcePlace{9, 21, 0}));
    EXPECT_FALSE(job.batch->manifest);
    EXPECT_EQ(job.batch->output.text, "out/{dir}/{stem}.h5");
    EXPECT_EQ(job.batch->state, "out/a_b.state");
    EXPECT_THROW(require_one_dataset(job), Error);

    const JobFile listed = load(batch, {"batch.inputs=\"list.txt\"", "batch.state=\"here\""});
    ASSERT_TRUE(listed.batch && listed.batch->manifest);
    EXPECT_EQ(listed.batch->manifest->text, "list.txt");
    EXPECT_TRUE(listed.batch->inputs.empty());
    EXPECT_EQ(listed.batch->state, "here");
}

TEST_F(JobFileTest, SettingsPickOneDatasetOfABatch) {
    const JobFile job = load(batch, {"input.file=\"s/1.h5\"", "output.file=\"out/1.h5\""});
    EXPECT_FALSE(job.batch);
    EXPECT_EQ(job.input.file, "s/1.h5");
    EXPECT_EQ(job.output.file, "out/1.h5");
    EXPECT_NO_THROW(require_one_dataset(job));
    // One of the two does not.
    write("job.toml", batch);
    EXPECT_NE(refusal("job.toml", {"input.file=\"s/1.h5\""}).find("batch.inputs names"),
              std::string::npos);
}

TEST(BadJobFiles, EachHasItsWholeMessage) {
    const fs::path folder = source_folder / "tests/runner/job_file/bad_job_files";
    const fs::path before = fs::current_path();
    fs::current_path(folder); // for short names in the messages
    int files = 0;
    for (const auto& entry : fs::directory_iterator(".")) {
        if (entry.path().extension() == ".toml") {
            const std::string name = entry.path().filename().string();
            fs::path expected = name;
            expected.replace_extension(".txt");
            std::string text = content(expected);
            if (const std::size_t at = text.find("KINDS"); at != std::string::npos) {
                std::string names;
                for (const std::string& kind : kind_names()) {
                    names += (names.empty() ? "" : ", ") + kind;
                }
                text.replace(at, 5, names);
            }
            EXPECT_EQ(refusal(name) + "\n", text) << name;
            ++files;
        }
    }
    fs::current_path(before);
    EXPECT_GE(files, 30);
}

} // namespace
} // namespace runner
