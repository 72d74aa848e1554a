// SPDX-License-Identifier: BSD-3-Clause
#include "runner/job_file/job_sample.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <unistd.h>

namespace runner {
namespace {

JobFile load(const std::string& text) {
    const std::string path = (std::filesystem::path(testing::TempDir()) /
                              ("job_sample_test." + std::to_string(::getpid()) + ".toml"))
                                 .string();
    std::ofstream(path) << text;
    JobFile job = load_job_file(path, {});
    std::filesystem::remove(path);
    return job;
}

void expect_same(const JobFile& a, const JobFile& b) {
    EXPECT_EQ(a.kind, b.kind);
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.input.file, b.input.file);
    EXPECT_EQ(a.input.dataset, b.input.dataset);
    ASSERT_EQ(a.input.generate.has_value(), b.input.generate.has_value());
    if (a.input.generate) {
        EXPECT_EQ(a.input.generate->pattern, b.input.generate->pattern);
        EXPECT_EQ(a.input.generate->shape, b.input.generate->shape);
        EXPECT_EQ(a.input.generate->type, b.input.generate->type);
        EXPECT_EQ(a.input.generate->seed, b.input.generate->seed);
    }
    EXPECT_EQ(a.output.file, b.output.file);
    EXPECT_EQ(a.input.rules.outside, b.input.rules.outside);
    EXPECT_EQ(a.input.rules.missing, b.input.rules.missing);
    EXPECT_EQ(a.input.rules.max_logical_bytes, b.input.rules.max_logical_bytes);
    EXPECT_EQ(a.input.colour, b.input.colour);
    EXPECT_EQ(a.input.invalid, b.input.invalid);
    EXPECT_EQ(a.output.dataset, b.output.dataset);
    EXPECT_EQ(a.output.type, b.output.type);
    EXPECT_EQ(a.output.overwrite, b.output.overwrite);
    EXPECT_EQ(a.output.sync, b.output.sync);
    EXPECT_EQ(a.output.parts, b.output.parts);
    EXPECT_EQ(a.output.layout, b.output.layout);
    EXPECT_EQ(a.run.backend, b.run.backend);
    EXPECT_EQ(a.run.host_memory, b.run.host_memory);
    EXPECT_EQ(a.run.device_memory, b.run.device_memory);
    EXPECT_EQ(a.run.chunk_rows, b.run.chunk_rows);
    EXPECT_EQ(a.run.lanes, b.run.lanes);
    EXPECT_EQ(a.run.io_threads, b.run.io_threads);
    EXPECT_EQ(a.run.resume, b.run.resume);
    EXPECT_EQ(a.run.resume_check, b.run.resume_check);
    EXPECT_EQ(a.run.commit_seconds, b.run.commit_seconds);
    EXPECT_EQ(a.run.stall_seconds, b.run.stall_seconds);
    EXPECT_EQ(a.parameters->canonical(), b.parameters->canonical());
}

TEST(ExplainJob, ParsesBackToTheSameJob) {
    const std::string least = "kind = \"convolve\"\nname = \"n\"\n"
                              "[input]\nfile = \"a \\\"b\\\" \\\\ é.h5\"\ndataset = \"/image\"\n"
                              "[output]\nfile = \"out.h5\"\n";
    const std::string table = "[convolve]\nrow_taps = [0.1, 1e-300, -3]\n"
                              "column_taps = { gaussian = { sigma = 0.3 } }\n";
    const std::string full =
        "kind = \"convolve\"\nname = \"n\"\n"
        "[input]\nfile = \"a.h5\"\ndataset = \"/x\"\n"
        "generate = { pattern = \"index\", shape = [5, 7], dtype = \"int8\", seed = 3 }\n"
        "allow_external = true\nmissing = \"fill\"\nmax_logical_bytes = \"3GiB\"\n"
        "colour = false\ninvalid = \"none\"\n"
        "[output]\nfile = \"o.h5\"\ndataset = \"/y\"\ndtype = \"uint16\"\noverwrite = true\n"
        "sync = false\nparts = \"auto\"\nchunk = [2, 7]\ncompression = \"deflate\"\nlevel = "
        "0\nshuffle = true\n"
        "[run]\nbackend = \"cuda\"\nhost_memory = \"1537kB\"\ndevice_memory = \"33.3%\"\n"
        "chunk_rows = 3\nlanes = 4\nio_threads = 5\nresume = \"never\"\n"
        "resume_check = \"all\"\ncommit_seconds = 0.5\nstall_seconds = 0\n"
        "[convolve]\nrow_taps = { box = { radius = 2 } }\n"
        "column_taps = { file = \"t.h5\", dataset = \"/t\" }\nboundary = \"wrap\"\nfill = 2\n";
    std::string other_format = least + table; // which has no parts, chunks and compression
    other_format.replace(other_format.find("out.h5"), 6, "out.tiff");
    for (const std::string& text : {least + table, full, other_format}) {
        const JobFile job = load(text);
        const std::string explained = explain_job(job);
        const JobFile again = load(explained);
        expect_same(job, again);
        EXPECT_EQ(explain_job(again), explained);
    }
}

TEST(ExplainJob, LeavesDefaultsThatTheInputDecidesToTheInput) {
    for (const std::string kind : {"match", "denoise"}) {
        const std::string text = "kind = \"" + kind +
                                 "\"\nname = \"n\"\n[input]\nfile = \"a.h5\"\ndataset = \"/x\"\n" +
                                 "[output]\nfile = \"o.h5\"\n[" + kind + "]\n";
        const std::string usual = explain_job(load(text));
        EXPECT_NE(usual.find("\n# patch: [3, 3, 3]; for an image [1, 3, 3]\n"
                             "# window: [11, 11, 11]; for an image [1, 11, 11]\n"),
                  std::string::npos)
            << usual;
        EXPECT_EQ(explain_job(load(usual)), usual);
        const std::string set = explain_job(load(text + "patch = [1, 3, 3]\nwindow = [3, 5, 7]\n"));
        EXPECT_NE(set.find("\npatch = [1, 3, 3]\nwindow = [3, 5, 7]\n"), std::string::npos) << set;
        EXPECT_EQ(explain_job(load(set)), set);
    }
}

TEST(ExplainJob, FillsInTheDefaults) {
    const std::string text =
        explain_job(load("kind = \"convolve\"\nname = \"n\"\n"
                         "[input]\nfile = \"a.h5\"\ndataset = \"/x\"\n"
                         "[output]\nfile = \"o.h5\"\n[run]\nhost_memory = 2147483648\n"
                         "[convolve]\nrow_taps = [1]\ncolumn_taps = [1]\n"));
    EXPECT_EQ(
        text,
        "kind = \"convolve\"\nname = \"n\"\n\n"
        "[input]\nfile = \"a.h5\"\ndataset = \"/x\"\nallow_external = false\n"
        "missing = \"fail\"\n# max_logical_bytes: any that are stored\n# colour: as the file says\n"
        "invalid = \"file\"\n\n"
        "[output]\nfile = \"o.h5\"\ndataset = \"/x\"\n"
        "# dtype: the kind's default for the input's\noverwrite = false\nsync = true\n"
        "keep_fields = false\nparts = 1\n"
        "# chunk: none, the dataset is contiguous\ncompression = \"none\"\n\n"
        "[run]\nbackend = \"auto\"\nhost_memory = \"2GiB\"\n"
        "# device_memory: 80% of what is free on the rank's GPU\n"
        "chunk_rows = \"auto\"\nlanes = \"auto\"\nio_threads = \"auto\"\n"
        "halo_depth = \"auto\"\nhalo_exchange = \"auto\"\n"
        "resume = \"auto\"\nresume_check = \"few\"\n"
        "commit_seconds = 10.0\nstall_seconds = 600.0\n\n"
        "[convolve]\nrow_taps = [1.0]\ncolumn_taps = [1.0]\n"
        "boundary = \"reflect\"\nfill = 0.0\n");
}

TEST(JobSample, OfEveryKindParses) {
    for (const Kind& kind : kinds()) {
        EXPECT_EQ(load(job_sample(kind)).kind, kind.name);
    }
}

TEST(JobSample, CommentedKeysAreKeys) {
    // Every "# key = value" of the sample, taken out of its comment, must still parse.
    std::string text = job_sample(kinds().front());
    for (const std::string key :
         {"generate", "allow_external", "max_logical_bytes", "colour", "invalid",
          "dataset = \"/image\" ", "dtype", "chunk =", "compression", "level", "shuffle",
          "host_memory", "device_memory"}) {
        const std::size_t at = text.find("\n# " + key);
        ASSERT_NE(at, std::string::npos) << key;
        text.erase(at + 1, 2);
    }
    const JobFile job = load(text);
    EXPECT_TRUE(job.input.generate.has_value());
    EXPECT_TRUE(job.output.layout.shuffle);
    EXPECT_EQ(job.run.device_memory, (MemorySize{0, 0.8}));
}

} // namespace
} // namespace runner
