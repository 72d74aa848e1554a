// SPDX-License-Identifier: BSD-3-Clause
#include "io/output/beside_record.hpp"

#include "base/error.hpp"
#include "io/files/text_file.hpp"
#include "io/output/journal.hpp"
#include "io/rows/row_geometry.hpp"
#include "tests/io/scratch_folder.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>

#include <gtest/gtest.h>

namespace runner {
namespace {

namespace fs = std::filesystem;

BesideRecord example() {
    return {"kind = convolve\noutput.dtype = float32\n",
            {ElementType::float32, {2, 5, 3}},
            {{"job", "a \"text\"\nof two lines, \xc3\xa9"},
             {"input_bytes", std::int64_t{1} << 62},
             {"wall_seconds", 0.1},
             {"sigma", 3.0}},
            {{0, 4, 0}, {4, 6, 0xfedcba9876543210}}};
}

void make(const std::string& file, const std::string& text) { std::ofstream(file) << text; }

TEST(BesideRecord, IsReadAsItWasWritten) {
    const ScratchFolder folder;
    const std::string file = folder / "a.npy";
    make(file, "0123456789");
    EXPECT_FALSE(identity_beside(file));
    const BesideRecord record = example();
    write_beside_record(file, record);
    EXPECT_EQ(identity_beside(file), record.identity);
    const BesideRecord found = read_beside_record(file);
    EXPECT_EQ(found.identity, record.identity);
    EXPECT_EQ(found.array, record.array);
    EXPECT_EQ(found.attributes, record.attributes);
    EXPECT_EQ(found.rows, record.rows);
}

TEST(BesideRecord, IsOfTheFileWithItsBytesAndTime) {
    const ScratchFolder folder;
    const std::string file = folder / "a.tif";
    make(file, "0123456789");
    write_beside_record(file, example());
    const auto time = fs::last_write_time(file);
    make(file, "012345678");
    fs::last_write_time(file, time);
    EXPECT_FALSE(identity_beside(file)) << "another length";
    make(file, "abcdefghij");
    fs::last_write_time(file, time + std::chrono::nanoseconds(1000));
    EXPECT_FALSE(identity_beside(file)) << "another time";
    EXPECT_EQ(read_beside_record(file).rows, example().rows) << "what it was made as stays known";
    fs::last_write_time(file, time);
    EXPECT_TRUE(identity_beside(file));
    fs::rename(file, folder / "a.npy");
    fs::rename(beside_record_path(file), beside_record_path(folder / "a.npy"));
    EXPECT_FALSE(identity_beside(folder / "a.npy")) << "of another format";
}

TEST(BesideRecord, OfVersion1HasAnIdentityAlone) {
    const ScratchFolder folder;
    const std::string file = folder / "a.sand";
    make(file, "0123456789");
    write_beside_record(file, example());
    std::string text = read_text_file(beside_record_path(file), 1 << 20);
    text = text.substr(0, text.find("record = "));
    text.replace(text.find(" 3\n"), 2, " 1");
    write_text_file(beside_record_path(file), text);
    EXPECT_EQ(identity_beside(file), example().identity);
    const auto error = error_of([&] { (void)read_beside_record(file); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ExitCode::input);
}

TEST(BesideRecord, OfVersion2HasNoChecksums) {
    const ScratchFolder folder;
    const std::string file = folder / "a.npy";
    make(file, "0123456789");
    write_beside_record(file, example());
    std::string text = read_text_file(beside_record_path(file), 1 << 20);
    text = text.substr(0, text.find("record = "));
    text.replace(text.find(" 3\n"), 2, " 2");
    text += "record = {\"array\":{\"dtype\":\"float32\",\"shape\":[2,5,3]},\"attributes\":"
            "[[\"sigma\",3.0]],\"row_hashes\":[[0,4,\"0000000000000000\"],"
            "[4,6,\"fedcba9876543210\"]]}\n";
    write_text_file(beside_record_path(file), text);
    EXPECT_EQ(identity_beside(file), example().identity);
    const BesideRecord found = read_beside_record(file);
    EXPECT_EQ(found.identity, example().identity);
    EXPECT_EQ(found.array, example().array);
    EXPECT_EQ(found.rows, example().rows);
    EXPECT_FALSE(found.rows_checksum);
}

TEST(BesideRecord, ShowsEachFlippedBit) {
    const ScratchFolder folder;
    const std::string file = folder / "a.npy";
    make(file, "0123456789");
    write_beside_record(file, example());
    const std::string path = beside_record_path(file);
    const std::string whole = read_text_file(path, 1 << 20);
    EXPECT_EQ(read_beside_record(file).rows_checksum, digest_of_rows(example().rows));
    const auto rows_at = whole.find("row_hashes = ");
    for (std::size_t at = 0; at < whole.size(); ++at) {
        for (const std::size_t bit : {at % 8, (5 * at + 3) % 8}) {
            std::string text = whole;
            text[at] =
                static_cast<char>(static_cast<unsigned char>(text[at]) ^ (std::size_t{1} << bit));
            make(path, text);
            if (at < rows_at) {
                EXPECT_NE(identity_beside(file), example().identity) << at;
            }
            std::optional<BesideRecord> found;
            if (const auto error = error_of([&] { found = read_beside_record(file); })) {
                EXPECT_EQ(error->code(), ExitCode::input);
            } else { // the list, where a repair may find out what is right
                EXPECT_GT(at, rows_at);
                EXPECT_TRUE(found->rows == example().rows ||
                            found->rows_checksum != digest_of_rows(found->rows));
            }
        }
    }
}

TEST(BesideRecord, ComesFromTheJournalOfItsOwnFileOnly) {
    const ScratchFolder folder;
    const std::string file = folder / "a.npy";
    make(file, "an older one");
    make(file + ".partial", "0123456789");
    fs::last_write_time(file + ".partial", fs::last_write_time(file) + std::chrono::seconds(1));
    make_journal(journal_folder(file));
    prepare_beside_record(file, example(), RowWriter::Sync::no);
    EXPECT_FALSE(identity_in_journal(file));
    publish_beside_record(file, RowWriter::Sync::no);
    EXPECT_FALSE(fs::exists(beside_record_path(file)));
    fs::rename(file + ".partial", file);
    EXPECT_EQ(identity_in_journal(file), example().identity);
    publish_beside_record(file, RowWriter::Sync::yes);
    EXPECT_EQ(identity_beside(file), example().identity);
    EXPECT_FALSE(identity_in_journal(file));
}

TEST(BesideRecord, ReplacesNoTextOfOthers) {
    const ScratchFolder folder;
    const std::string file = folder / "a.npy";
    make(file, "0123456789");
    make(file + ".partial", "an older one");
    const std::string path = beside_record_path(file);
    EXPECT_NO_THROW(check_beside_record(file));
    write_beside_record(file, example());
    EXPECT_NO_THROW(check_beside_record(file));
    make(file, "written to since");
    EXPECT_NO_THROW(check_beside_record(file));
    const std::string whole = read_text_file(path, 1 << 20);
    for (const std::string& text :
         {std::string("my notes\n"), std::string("runner .npy output 2\n"), "x" + whole,
          whole.substr(1), std::string(300, '\0')}) {
        make(path, text);
        const auto error = error_of([&] { check_beside_record(file); });
        ASSERT_TRUE(error) << text;
        EXPECT_EQ(error->code(), ExitCode::output);
        EXPECT_EQ(error->text().where, path);
    }
    make_journal(journal_folder(file));
    make(file + ".partial", "0123456789");
    prepare_beside_record(file, example(), RowWriter::Sync::no);
    fs::rename(file + ".partial", file);
    EXPECT_TRUE(error_of([&] { publish_beside_record(file, RowWriter::Sync::no); }));
    EXPECT_EQ(read_text_file(path, 1 << 20), std::string(300, '\0'));
    make(path, "");
    publish_beside_record(file, RowWriter::Sync::no);
    EXPECT_EQ(identity_beside(file), example().identity);
}

TEST(BesideRecord, DamagedAnywhereIsRefusedOrWhole) {
    const ScratchFolder folder;
    const std::string file = folder / "a.npy";
    make(file, "0123456789");
    write_beside_record(file, example());
    const std::string path = beside_record_path(file);
    const std::string whole = read_text_file(path, 1 << 20);
    int refused = 0;
    const auto check = [&](const std::string& text) {
        make(path, text);
        const auto error = error_of([&] {
            const BesideRecord record = read_beside_record(file);
            EXPECT_EQ(gap_in(record.rows, row_count(record.array)), "");
        });
        EXPECT_TRUE(!error || error->code() == ExitCode::input);
        refused += error ? 1 : 0;
    };
    for (std::size_t at = 0; at < whole.size(); ++at) {
        check(whole.substr(0, at));
        for (const char letter : {'\0', '9', '"', ']', '\xff'}) {
            std::string text = whole;
            text[at] = letter;
            check(text);
        }
    }
    EXPECT_GT(refused, std::ssize(whole));
}

} // namespace
} // namespace runner
