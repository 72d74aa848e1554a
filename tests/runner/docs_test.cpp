// SPDX-License-Identifier: BSD-3-Clause
#include "runner/job_sample.hpp"
#include "runner/verbs.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include <unistd.h>

// docs/job-file.md is written by hand; these hold it to the program.

namespace runner {
namespace {

namespace fs = std::filesystem;

std::string page() {
    std::ostringstream text;
    text << std::ifstream(fs::path(RUNNER_SOURCE_FOLDER) / "docs/job-file.md").rdbuf();
    return text.str();
}

std::set<std::string> found(const std::string& text, const std::string& pattern) {
    std::set<std::string> words;
    const std::regex expression(pattern);
    for (std::sregex_iterator match(text.begin(), text.end(), expression), end; match != end;
         ++match) {
        words.insert((*match)[1]);
    }
    return words;
}

TEST(JobFilePage, HasEveryVerbAndOptionAndNoOther) {
    std::set<std::string> options = {"--version"};
    std::set<std::string> names;
    for (const Verb& verb : verbs()) {
        const std::vector<std::string> words = {std::string(verb.name), "--help"};
        const std::string help = std::get<PrintCommand>(parse_command_line(words, "")).text;
        // At the beginning of a help line; examples repeat them.
        options.merge(found(help, "\n  (?:-\\w,)?(--[a-z-]+)"));
        names.insert(std::string(verb.name));
    }
    EXPECT_EQ(found(page(), "[^-](--[a-z][a-z-]*)"), options);
    std::set<std::string> told = found(page(), "`runner ([a-z]+)[ `]");
    EXPECT_EQ(told, names);
}

TEST(JobFilePage, ItsExampleParsesAndItsKeysAreTheSamplesKeys) {
    const std::string text = page();
    const std::size_t begin = text.find("```toml\n") + 8;
    const std::string example = text.substr(begin, text.find("```", begin) - begin);
    const fs::path path =
        fs::path(testing::TempDir()) / ("docs_test." + std::to_string(::getpid()) + ".toml");
    std::ofstream(path) << example;
    const JobFile job = load_job_file(path.string(), {});
    fs::remove(path);
    EXPECT_EQ(job.name, "demo");

    // Every key that explain prints, as a value or in a comment, has its row.
    const std::set<std::string> rows = found(text, "\n\\| `([a-z_]+)` \\|");
    for (const std::string& key : found(explain_job(job), "\n(?:# )?([a-z_]+)(?: =|:)")) {
        EXPECT_TRUE(rows.contains(key)) << key;
    }
}

} // namespace
} // namespace runner
