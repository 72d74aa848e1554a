// SPDX-License-Identifier: BSD-3-Clause
// The journal's folder: its identity, and the files of several writers together.
#include "io/output/journal.hpp"

#include "tests/io/scratch_folder.hpp"

#include <fstream>
#include <functional>

#include <gtest/gtest.h>

namespace runner {
namespace {

namespace fs = std::filesystem;

const JournalIdentity some_identity{12, "kind = convolve\ninput bytes = 1234\ncheck 1\n"};

void put(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
}

std::string get(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

void expect_refused(const std::string& what, const std::function<void()>& f) {
    const auto error = error_of(f);
    ASSERT_TRUE(error) << what;
    EXPECT_EQ(error->code(), ExitCode::output) << what;
    EXPECT_FALSE(error->text().try_this.empty()) << what;
}

TEST(JournalFolder, StandsBesideTheOutput) {
    EXPECT_EQ(journal_folder("a/b.h5"), "a/b.h5.journal");
}

TEST(JournalFolder, HasNoIdentityBeforeOneIsWritten) {
    const ScratchFolder folder;
    EXPECT_FALSE(read_identity(folder / "none"));
    EXPECT_FALSE(read_identity(folder.path()));
    put(folder / "identity.new", "half");
    EXPECT_FALSE(read_identity(folder.path()));
}

TEST(JournalFolder, GivesTheIdentityBack) {
    const ScratchFolder folder;
    for (const std::string& text :
         {some_identity.text, std::string(), std::string("\n"), std::string("5\n\ncheck 7\n"),
          std::string(70000, 'x') + "\n", std::string("\0\n", 2), std::string("ä = \xff\n")}) {
        write_identity(folder / "j", {some_identity.attempt, text});
        const auto identity = read_identity(folder / "j");
        ASSERT_TRUE(identity);
        EXPECT_EQ(identity->attempt, some_identity.attempt);
        EXPECT_EQ(identity->text, text);
    }
}

TEST(JournalFolder, NoByteOfTheIdentityCanChangeUnseen) {
    const ScratchFolder folder;
    write_identity(folder.path(), some_identity);
    const std::string text = get(folder / "identity");
    for (std::size_t at = 0; at < text.size(); ++at) {
        for (int change = 1; change < 256; ++change) {
            std::string bad = text;
            bad[at] = static_cast<char>(bad[at] ^ change);
            expect_refused("byte " + std::to_string(at), [&] { parse_identity(bad, "identity"); });
        }
    }
    for (std::size_t length = 0; length < text.size(); ++length) {
        expect_refused("cut at " + std::to_string(length),
                       [&] { parse_identity(text.substr(0, length), "identity"); });
    }
    expect_refused("longer", [&] { parse_identity(text + "\n", "identity"); });
    expect_refused("another version", [&] {
        parse_identity("runner journal 2" + text.substr(text.find('\n')), "identity");
    });
    put(folder / "identity", text.substr(0, text.size() - 1));
    expect_refused("from the file", [&] { read_identity(folder.path()); });
}

TEST(JournalFolder, JoinsTheFilesOfItsAttempt) {
    const ScratchFolder folder;
    JournalWriter(folder.path(), 1, "rank-0").append(std::vector<RowHash>{{50, 10, 1}});
    JournalWriter one(folder.path(), 2, "rank-0");
    JournalWriter two(folder.path(), 2, "rank-1");
    two.append(std::vector<RowHash>{{40, 5, 40}});
    one.append(std::vector<RowHash>{{10, 10, 10}, {0, 10, 0}});
    two.append(std::vector<RowHash>{{20, 5, 20}});
    put(folder / "2-rank-0.rows.bak", "not one of them");
    write_identity(folder.path(), {2, "x\n"});

    const JournalRows journal = read_journal(folder.path(), 2, 60);
    EXPECT_EQ(journal.rows,
              (std::vector<RowHash>{{0, 10, 0}, {10, 10, 10}, {20, 5, 20}, {40, 5, 40}}));
    EXPECT_TRUE(journal.notes.empty());
    EXPECT_FALSE(fs::exists(folder / "1-rank-0.rows")) << "files of attempts before go";
    EXPECT_FALSE(fs::exists(folder / "identity.new"));
}

TEST(JournalFolder, NotesTheTornFileByName) {
    const ScratchFolder folder;
    JournalWriter(folder.path(), 3, "rank-0").append(std::vector<RowHash>{{0, 1, 1}});
    JournalWriter(folder.path(), 3, "rank-1")
        .append(std::vector<RowHash>{{1, 1, 1}, {2, 1, 1}, {3, 1, 1}});
    fs::resize_file(folder / "3-rank-1.rows", 32 + 32 + 31);
    const JournalRows journal = read_journal(folder.path(), 3, 4);
    EXPECT_EQ(journal.rows, (std::vector<RowHash>{{0, 1, 1}, {1, 1, 1}}));
    ASSERT_EQ(journal.notes.size(), 1U);
    EXPECT_NE(journal.notes[0].find("3-rank-1.rows"), std::string::npos);
}

/// Makes the file longer by a hole, which takes no disk.
void lengthen(const std::string& path, std::uintmax_t bytes) {
    fs::resize_file(path, fs::file_size(path) + bytes);
}

TEST(JournalFolder, RefusesAHugeIdentityUnread) {
    const ScratchFolder folder;
    write_identity(folder.path(), some_identity);
    lengthen(folder / "identity", std::uintmax_t{1} << 40);
    const auto error = error_of([&] { read_identity(folder.path()); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ExitCode::output);
    EXPECT_EQ(error->text().where, folder / "identity");
    EXPECT_NE(error->text().why.find("1.00 TiB"), std::string::npos) << error->text().why;
}

TEST(JournalFolder, RefusesAFileOfMoreRecordsThanThereAreRows) {
    const ScratchFolder folder;
    JournalWriter(folder.path(), 1, "rank-0")
        .append(std::vector<RowHash>{{0, 1, 1}, {1, 1, 1}, {2, 1, 1}});
    EXPECT_EQ(read_journal(folder.path(), 1, 3).rows.size(), 3U);
    lengthen(folder / "1-rank-0.rows", 31); // what was cut off of another
    EXPECT_EQ(read_journal(folder.path(), 1, 3).rows.size(), 3U);
    for (const int power : {1, 10, 40}) {
        lengthen(folder / "1-rank-0.rows", std::uintmax_t{1} << power);
        const auto error = error_of([&] { read_journal(folder.path(), 1, 3); });
        ASSERT_TRUE(error) << power;
        EXPECT_EQ(error->code(), ExitCode::output);
        EXPECT_EQ(error->text().where, folder / "1-rank-0.rows");
        EXPECT_FALSE(error->text().try_this.empty());
    }
}

TEST(JournalFolder, SaysWhetherItMayListRows) {
    const ScratchFolder folder;
    EXPECT_FALSE(lists_rows(folder / "none"));
    write_identity(folder / "j", some_identity);
    EXPECT_FALSE(lists_rows(folder / "j"));
    JournalWriter writer(folder / "j", 3, "rank-1");
    EXPECT_FALSE(lists_rows(folder / "j")) << "a header alone";
    writer.append(std::vector<RowHash>{{0, 1, 1}});
    EXPECT_TRUE(lists_rows(folder / "j"));
    put(folder / "j/identity", "damaged");
    EXPECT_TRUE(lists_rows(folder / "j"));
}

TEST(JournalFolder, RefusesRowsThatAreListedTwice) {
    // {first of rank 0, of rank 1, where they overlap}; also one within the other, and twice in
    // one.
    using Rows = std::vector<RowHash>;
    for (const auto& [a, b] : std::vector<std::pair<Rows, Rows>>{
             {{{0, 10, 1}}, {{9, 3, 1}}},
             {{{0, 10, 1}}, {{0, 10, 1}}},
             {{{0, 30, 1}}, {{3, 1, 1}, {40, 1, 1}}},
             {{{3, 1, 1}, {40, 1, 1}}, {{0, 30, 1}}},
             {{{5, 2, 1}, {5, 2, 1}}, {}},
         }) {
        const ScratchFolder folder;
        JournalWriter(folder.path(), 1, "rank-0").append(a);
        JournalWriter(folder.path(), 1, "rank-1").append(b);
        expect_refused("listed twice", [&] { read_journal(folder.path(), 1, 100); });
        EXPECT_TRUE(error_of([&] { read_journal(folder.path(), 1, 100); })
                        ->text()
                        .why.find("listed twice") != std::string::npos);
    }
}

TEST(JournalFolder, GoesAsAWhole) {
    const ScratchFolder folder;
    const std::string journal = folder / "out.h5.journal";
    remove_journal(journal);
    write_identity(journal, some_identity);
    { const JournalWriter writer(journal, some_identity.attempt, "rank-0"); }
    remove_journal(journal);
    EXPECT_FALSE(fs::exists(journal));
}

TEST(JournalFolder, NamesWhatCannotBeWritten) {
    const ScratchFolder folder;
    put(folder / "file", "");
    expect_refused("a file in the way", [&] { write_identity(folder / "file", some_identity); });
    expect_refused("no folder", [&] { JournalWriter(folder / "none", 1, "rank-0"); });
    expect_refused("no folder", [&] { read_journal(folder / "none", 1, 1); });
}

} // namespace
} // namespace runner
