// SPDX-License-Identifier: BSD-3-Clause
#include "cli/manual.hpp"
#include "cli/verbs.hpp"
#include "jobs/kind.hpp"
#include "runner/job_file/job_sample.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include <unistd.h>

// docs/job-file.md is written by hand; these hold it to the program.

namespace runner::cli {
namespace {

namespace fs = std::filesystem;

std::string read_page(const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(fs::path(RUNNER_SOURCE_FOLDER) / "docs" / name).rdbuf();
    return text.str();
}

std::string page() { return read_page("job-file.md"); }

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
        const std::string help = std::get<PrintCommand>(parse_command_line(words, nullptr)).text;
        // At the beginning of a help line; examples repeat them.
        options.merge(found(help, "\n  (?:-\\w,)?(--[a-z-]+)"));
        names.insert(std::string(verb.name));
    }
    EXPECT_EQ(found(page(), "[^-](--[a-z][a-z-]*)"), options);
    std::set<std::string> told = found(page(), "`runner ([a-z]+)[ `]");
    EXPECT_EQ(told, names);
}

TEST(JobFilePage, HasARowForEachOptionOfEachVerb) {
    std::map<std::string, std::set<std::string>> rows;
    const std::string text = page();
    const std::regex row("\n\\| ([a-z]+(?:, [a-z]+)*) \\| (`-[^|]*) \\|");
    for (std::sregex_iterator match(text.begin(), text.end(), row), end; match != end; ++match) {
        for (const std::string& verb : found((*match)[1].str(), "([a-z]+)")) {
            rows[verb].merge(found((*match)[2].str(), "`(--[a-z-]+)"));
        }
    }
    for (const Verb& verb : verbs()) {
        const std::string name(verb.name);
        const std::vector<std::string> words = {name, "--help"};
        const std::string help = std::get<PrintCommand>(parse_command_line(words, nullptr)).text;
        std::set<std::string> options = found(help, "\n  (?:-\\w,)?(--[a-z-]+)");
        options.erase("--help");
        EXPECT_EQ(rows[name], options) << name;
    }
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

/// What stands between a heading and the next of its rank or above; "" where there is none.
std::string part_under(const std::string& text, const std::string& heading) {
    const std::size_t begin = text.find("\n" + heading + "\n");
    if (begin == std::string::npos) {
        return "";
    }
    const std::size_t body = begin + heading.size() + 2;
    const std::string rank = "\n" + heading.substr(0, heading.find(' ') + 1);
    return text.substr(body,
                       std::min(text.find(rank, body - 1), text.find("\n## ", body - 1)) - body);
}

/// The keys of a table's rows, each of them "table.key"; a row's first cell may name several.
std::set<std::string> keys_in(const std::string& part, const std::string& table) {
    std::set<std::string> keys;
    for (const std::string& cell : found(part, "\n\\| ((?:`[a-z_]+`(?:, )?)+) \\|")) {
        for (const std::string& key : found(cell, "`([a-z_]+)`")) {
            keys.insert(table + key);
        }
    }
    return keys;
}

/// Every key of `known` in a table of this name; keys of tables within it are told in its rows.
std::set<std::string> of_table(const std::set<std::string>& known, const std::string& table) {
    std::set<std::string> keys;
    for (const std::string& key : known) {
        if (key.starts_with(table) && key.find('.', table.size()) == std::string::npos) {
            keys.insert(key);
        }
    }
    return keys;
}

TEST(JobFilePage, NamesTheKeysThatTheParserKnowsAndNoOther) {
    const std::string text = page();
    std::set<std::string> known = known_keys("[batch]\n[input]\ngenerate = {}\n[output]\nchunk = "
                                             "[1, 1]\ncompression = \"zstd\"\n[run]\n");
    std::set<std::string> tables = {"input", "output", "run", "batch", "sweep"};
    for (const Kind& kind : kinds()) {
        const std::string name(kind.name);
        tables.insert(name);
        const std::set<std::string> of_kind =
            known_keys("kind = \"" + name + "\"\n[" + name + "]\n");
        // Its own page, where it has one with a table of keys; else here.
        const std::string own = part_under(read_page(name + ".md"), "## Keys");
        const std::string part = own.empty() ? part_under(text, "### [" + name + "]") : own;
        EXPECT_EQ(keys_in(part, name + "."), of_table(of_kind, name + ".")) << name;
        EXPECT_NE(part_under(text, "### [" + name + "]"), "") << name;
    }
    for (const std::string table : {"input", "output", "run", "batch", "sweep"}) {
        EXPECT_EQ(keys_in(part_under(text, "### [" + table + "]"), table + "."),
                  of_table(known, table + "."))
            << table;
    }
    std::set<std::string> top = keys_in(part_under(text, "### Top"), "");
    top.merge(std::set<std::string>(tables));
    std::set<std::string> known_top = of_table(known, "");
    for (const Kind& kind : kinds()) {
        known_top.insert(std::string(kind.name));
    }
    EXPECT_EQ(top, known_top);
}

/// The names of a kind's keys, as scripts/key-tables writes them into a sentence.
std::string key_names(const Kind& kind) {
    std::string names;
    for (const KeyText& key : kind.keys()) {
        names += (names.empty() ? "`" : ", `") + key.name + "`" +
                 (key.usual == "required" ? " (required)" : "");
    }
    return names;
}

TEST(KeyTables, AreThoseOfTheDeclarations) {
    const std::string job_file = page();
    for (const Kind& kind : kinds()) {
        const std::string name(kind.name);
        const std::string own = part_under(read_page(name + ".md"), "## Keys");
        const std::string here = part_under(job_file, "### [" + name + "]");
        EXPECT_NE((own.empty() ? here : own).find(key_table(kind)), std::string::npos)
            << name << ": run scripts/key-tables build/bin/runner";
        EXPECT_TRUE(own.empty() ||
                    here.find("keys: " + key_names(kind) + ".\n") != std::string::npos)
            << name << ": run scripts/key-tables build/bin/runner";
    }
}

TEST(Keys, ArePrintedForReadingAndForPrograms) {
    const auto printed = [](const std::vector<std::string>& words) {
        return std::get<PrintCommand>(parse_command_line(words, nullptr)).text;
    };
    EXPECT_EQ(printed({"keys", "transpose", "--markdown"}), key_table(kinds().back()));
    EXPECT_TRUE(printed({"keys", "transpose"})
                    .starts_with("[transpose] other orders of axes\n\npermutation (integers, "
                                 "required)\n    output axis i"));
    EXPECT_EQ(printed({"keys", "all", "--json"}), kinds_json(kinds()));
    for (const Kind& kind : kinds()) {
        for (const KeyText& key : kind.keys()) {
            EXPECT_NE(bash_completion().find(std::string(kind.name) + "." + key.name + "="),
                      std::string::npos);
        }
    }
}

TEST(Troubleshooting, QuotesErrorsThatTheProgramHas) {
    std::string sources;
    for (const char* folder :
         {"base", "cli", "io", "jobs", "kernels", "runner", "slurm", "views"}) {
        for (const auto& entry :
             fs::recursive_directory_iterator(fs::path(RUNNER_SOURCE_FOLDER) / folder)) {
            if (entry.path().extension() == ".cpp") {
                std::ostringstream text;
                text << std::ifstream(entry.path()).rdbuf();
                sources += text.str();
            }
        }
    }
    const std::string text = read_page("troubleshooting.md");
    const std::string of_errors = text.substr(0, text.find("## No error, but"));
    const std::set<std::string> messages = found(of_errors, "\n\\| `([^`]+)` \\|");
    EXPECT_GT(messages.size(), 20U);
    for (const std::string& message : messages) {
        EXPECT_NE(sources.find("\"" + message), std::string::npos) << message;
    }
}

TEST(Pages, AreAllInTheIndex) {
    const std::set<std::string> linked = found(read_page("README.md"), "\\]\\(([a-z-]+\\.md)\\)");
    for (const fs::directory_entry& entry :
         fs::directory_iterator(fs::path(RUNNER_SOURCE_FOLDER) / "docs")) {
        const std::string name = entry.path().filename().string();
        if (name.ends_with(".md") && name != "README.md") {
            EXPECT_TRUE(linked.contains(name)) << name;
        }
    }
}

} // namespace
} // namespace runner::cli
