// SPDX-License-Identifier: BSD-3-Clause
#include "runner/output/identity.hpp"

#include "base/error.hpp"
#include "io/files/file_mark.hpp"
#include "io/input/open_rows.hpp"
#include "runner/output/read_files.hpp"
#include "tests/io/dataset_file.hpp"
#include "tests/io/scratch_folder.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace runner::output {
namespace {

TEST(IdentityDifference, NamesWhatDiffers) {
    EXPECT_EQ(identity_difference("a = 1\nb = 2\n", "a = 1\nb = 2\n"), "");
    EXPECT_EQ(identity_difference("a = 1\nb = 2\n", "a = 1\nb = 3\n"), "b was 2, is 3");
    EXPECT_EQ(identity_difference("a = 1\n", "c = x\n"),
              "a was 1, is not set; c was not set, is x");
    EXPECT_TRUE(only_input_differs("input.a = 1\nb = 2\n", "input.a = 2\nb = 2\n"));
    EXPECT_FALSE(only_input_differs("input.a = 1\nb = 2\n", "input.a = 2\nb = 3\n"));
    EXPECT_FALSE(only_input_differs("b = 2\n", "b = 2\n"));
}

TEST(IdentityDifference, NamesTheFirstThreeInTheOrderOfTheLines) {
    EXPECT_EQ(identity_difference("z = 1\ny = 1\nx = 1\n", "z = 2\ny = 2\nx = 2\n"),
              "z was 1, is 2; y was 1, is 2; x was 1, is 2");
    EXPECT_EQ(identity_difference("z = 1\ny = 1\nx = 1\nw = 1\na = 1\n",
                                  "z = 2\ny = 2\nx = 2\nw = 2\nb = 1\n"),
              "z was 1, is 2; y was 1, is 2; x was 1, is 2; and 3 more");
}

TEST(IdentityDifference, NamesTheComputationLast) {
    EXPECT_EQ(identity_difference("kind = a\ncomputation = a 1\nx = 1\n",
                                  "kind = b\ncomputation = b 1\nx = 2\n"),
              "kind was a, is b; x was 1, is 2; computation was a 1, is b 1");
}

TEST(IdentityDifference, WritesTimesAsDates) {
    // date -u -d @1700000000: Tue Nov 14 22:13:20 UTC 2023
    EXPECT_EQ(identity_difference("input.modified = 1700000000 s 0 ns\n",
                                  "input.modified = 1700000000 s 120000007 ns\n"),
              "input.modified was 2023-11-14T22:13:20.000000000Z, is "
              "2023-11-14T22:13:20.120000007Z");
    for (const char* odd : {"yesterday", "1 s", "1 s 2 ms", "1 s -2 ns", "1 s 1000000000 ns"}) {
        EXPECT_EQ(identity_difference("input.modified = " + std::string(odd) + "\n", ""),
                  "input.modified was " + std::string(odd) + ", is not set");
    }
}

TEST(IdentityDifference, WritesTimesOfSourcesAsDates) {
    EXPECT_EQ(identity_difference("input.source \"/a\".modified = 1700000000000000007 ns\n", ""),
              "input.source \"/a\".modified was 2023-11-14T22:13:20.000000007Z, is not set");
}

TEST(SourcesOf, AnIdentityHasTheirMarks) {
    EXPECT_EQ(sources_of("input.file = \"/in.h5\"\n"
                         "input.source \"/a = \\\"b\\\".h5\".bytes = 5\n"
                         "input.source \"/a = \\\"b\\\".h5\".modified = 7 ns\n"
                         "input.source \"/a = \\\"b\\\".h5\".samples = 18446744073709551615\n"
                         "input.source \"/c\".bytes = 6\n"
                         "input.source \"/c\".modified = 8 ns\n"
                         "input.source broken\ninput.source \"x.bytes = 1\n"),
              (FileMarks{{"/a = \"b\".h5", {5, 7}}, {"/c", {6, 8}}}));
}

TEST(IdentityDifference, CutsLongValues) {
    const std::string text = identity_difference("a = " + std::string(5000, 'x') + "\n", "a = 1\n");
    EXPECT_EQ(text, "a was " + std::string(80, 'x') + "..., is 1");
}

/// A job on a file in the folder, with more lines laid over it.
PreparedJob prepared(const ScratchFolder& folder, const std::vector<std::string>& settings = {}) {
    const std::string job = folder / "job.toml";
    std::ofstream(job) << "kind = \"convolve\"\n[input]\nfile = \"" << (folder / "in.h5")
                       << "\"\ndataset = \"/x\"\n[output]\nfile = \"" << (folder / "out.h5")
                       << "\"\n[convolve]\nrow_taps = [1, 2, 1]\ncolumn_taps = [1]\n";
    OwnFiles files;
    return prepare_job(load_job_file(job, settings), files);
}

struct JobIdentity : testing::Test {
    JobIdentity() {
        write_dataset(folder / "in.h5", "/x", {300, 700}, std::vector<std::uint8_t>(300 * 700, 1));
    }
    ScratchFolder folder;
};

TEST_F(JobIdentity, IsBlindToHowAJobIsRun) {
    const std::string identity = job_identity(prepared(folder));
    EXPECT_EQ(job_identity(prepared(folder)), identity);
    EXPECT_EQ(
        job_identity(prepared(folder, {"run.lanes=3", "run.chunk_rows=7", "run.backend=\"cpu\"",
                                       "run.host_memory=\"1GiB\"", "run.resume=\"require\"",
                                       "run.commit_seconds=1", "output.overwrite=true",
                                       "output.sync=false", "name=\"another\""})),
        identity);
}

TEST_F(JobIdentity, SeesEveryKeyThatChangesTheOutput) {
    const std::string identity = job_identity(prepared(folder));
    for (const char* setting :
         {"convolve.row_taps=[1, 2, 1.5]", "convolve.column_taps=[2]", "convolve.boundary=\"wrap\"",
          "convolve.fill=1", "output.dtype=\"float32\"", "output.dataset=\"/y\"",
          "output.chunk=[3, 4]"}) {
        EXPECT_NE(job_identity(prepared(folder, {setting})), identity) << setting;
    }
}

TEST_F(JobIdentity, HasTheDefaultsThatTheInputDecides) {
    write_dataset(folder / "deep.h5", "/x", {3, 10, 10}, std::vector<std::uint8_t>(300, 1));
    const auto identity = [&](const std::string& input, const std::string& keys) {
        const std::string job = folder / "match.toml";
        std::ofstream(job) << "kind = \"match\"\n[input]\nfile = \"" << (folder / input)
                           << "\"\ndataset = \"/x\"\n[output]\nfile = \"" << (folder / "out.h5")
                           << "\"\n[match]\n"
                           << keys;
        OwnFiles files;
        return job_identity(prepare_job(load_job_file(job, {}), files));
    };
    const std::string image = identity("in.h5", "");
    EXPECT_NE(image.find("\nmatch.patch = [1, 3, 3]\nmatch.window = [1, 11, 11]\n"),
              std::string::npos)
        << image;
    EXPECT_EQ(identity("in.h5", "patch = [1, 3, 3]\nwindow = [1, 11, 11]\n"), image);
    const std::string volume = identity("deep.h5", "");
    EXPECT_NE(volume.find("\nmatch.patch = [3, 3, 3]\nmatch.window = [11, 11, 11]\n"),
              std::string::npos)
        << volume;
}

TEST_F(JobIdentity, SeesAChangedInput) {
    const std::string identity = job_identity(prepared(folder));
    const std::filesystem::path input = folder / "in.h5";
    const auto time = std::filesystem::last_write_time(input);
    const auto size = std::filesystem::file_size(input);
    std::fstream file(input, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(size) - 10);
    file.put('\7');
    file.close();
    std::filesystem::last_write_time(input, time);
    const std::string changed = job_identity(prepared(folder));
    EXPECT_TRUE(identity_difference(identity, changed).starts_with("input.samples was "));
    EXPECT_TRUE(only_input_differs(identity, changed));
}

TEST_F(JobIdentity, SeesTheOtherFilesThatAJobReads) {
    write_dataset(folder / "taps.h5", "/t", {3}, std::vector<std::uint8_t>{1, 2, 1});
    const std::vector<std::string> settings = {"convolve.row_taps={ file = \"" +
                                               (folder / "taps.h5") + "\", dataset = \"/t\" }"};
    PreparedJob job = prepared(folder, settings);
    const std::string taps = own_path(folder / "taps.h5");
    EXPECT_EQ(job.files.size(), 2U);
    EXPECT_EQ(other_files(job), std::vector<std::string>{taps});
    EXPECT_EQ(files_beside_input(job), (FileMarks{{taps, mark_of(taps)}}));
    const std::string identity = job_identity(job);
    EXPECT_EQ(sources_of(identity), files_beside_input(job));
    EXPECT_EQ(other_files(prepared(folder)), std::vector<std::string>());
    check_files_unchanged(job);
    std::filesystem::last_write_time(taps, std::filesystem::last_write_time(taps) +
                                               std::chrono::seconds(1));
    const std::string changed = job_identity(prepared(folder, settings));
    EXPECT_TRUE(only_input_differs(identity, changed));
    EXPECT_THROW(check_files_unchanged(job), Error);
    std::filesystem::remove(taps);
    EXPECT_THROW(check_files_unchanged(job), Error);
}

} // namespace
} // namespace runner::output
