// SPDX-License-Identifier: BSD-3-Clause
// A journal that a crash, a power cut or a bad disk has harmed never vouches for a row that nobody
// wrote.
#include "io/output/journal.hpp"

#include "io/files/hash.hpp"
#include "tests/io/scratch_folder.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace runner {
namespace {

constexpr std::int64_t attempt = 7;
constexpr std::int64_t total = 100000;
constexpr std::size_t record_bytes = 32;
constexpr std::size_t sector = 512;

using Bytes = std::vector<std::byte>;

/// Runs of rows with gaps between them, a hash that depends on the row.
std::vector<RowHash> some_rows(std::int64_t first, std::int64_t count) {
    std::vector<RowHash> rows;
    for (std::int64_t i = first; i < first + count; ++i) {
        rows.push_back({i * 10, 7, static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15U + 1});
    }
    return rows;
}

Bytes read_bytes(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    Bytes bytes(text.size());
    std::memcpy(bytes.data(), text.data(), text.size());
    return bytes;
}

/// The bytes of one file of records with these batches, as the writer leaves them.
Bytes written(const std::vector<std::vector<RowHash>>& batches, std::int64_t of_attempt = attempt) {
    const ScratchFolder folder;
    JournalWriter writer(folder.path(), of_attempt, "rank-0");
    for (const auto& batch : batches) {
        writer.append(batch);
    }
    return read_bytes(folder / (std::to_string(of_attempt) + "-rank-0.rows"));
}

std::vector<RowHash> joined(const std::vector<std::vector<RowHash>>& batches) {
    std::vector<RowHash> all;
    for (const auto& batch : batches) {
        all.insert(all.end(), batch.begin(), batch.end());
    }
    return all;
}

JournalRows parse(std::span<const std::byte> bytes, std::int64_t rows = total) {
    return parse_journal(bytes, attempt, rows, "a file");
}

/// What parsing gives, or nothing where it refuses with the exit code of an output.
std::optional<JournalRows> parsed_or_refused(std::span<const std::byte> bytes) {
    try {
        return parse(bytes);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::output);
        return std::nullopt;
    }
}

bool is_part_of(const std::vector<RowHash>& part, const std::vector<RowHash>& whole) {
    return std::all_of(part.begin(), part.end(), [&](const RowHash& row) {
        return std::find(whole.begin(), whole.end(), row) != whole.end();
    });
}

TEST(Journal, HashesAsXxh3Does) {
    // The first two of the values that xxHash's own sanity check lists (seed 0).
    EXPECT_EQ(hash_bytes(nullptr, 0), 0x2D06800538D394C2U);
    const std::byte first{0};
    EXPECT_EQ(hash_bytes(&first, 1), 0xC44BDFF4074EECDBU);
}

TEST(Journal, GivesBackWhatWasAppended) {
    const std::vector<std::vector<RowHash>> batches = {
        some_rows(0, 3), some_rows(3, 1), {}, some_rows(4, 40)};
    const Bytes bytes = written(batches);
    EXPECT_EQ(bytes.size(), record_bytes * (1 + 44));
    const JournalRows journal = parse(bytes);
    EXPECT_EQ(journal.rows, joined(batches));
    EXPECT_TRUE(journal.notes.empty());
}

TEST(Journal, KeepsWhatIsBeforeACut) {
    const auto rows = joined({some_rows(0, 3), some_rows(3, 2), some_rows(5, 4)});
    const Bytes bytes = written({some_rows(0, 3), some_rows(3, 2), some_rows(5, 4)});
    for (std::size_t length = 0; length < bytes.size(); ++length) {
        const JournalRows journal = parse(std::span(bytes).first(length));
        const std::size_t whole = length < record_bytes ? 0 : length / record_bytes - 1;
        const std::vector<RowHash> expected(rows.begin(),
                                            rows.begin() + static_cast<std::ptrdiff_t>(whole));
        ASSERT_EQ(journal.rows, expected) << "cut at " << length;
        ASSERT_EQ(journal.notes.size(), length % record_bytes != 0 || length == 0 ? 1U : 0U);
    }
}

TEST(Journal, NoByteCanChangeUnseen) {
    const std::vector<std::vector<RowHash>> batches = {some_rows(0, 2), some_rows(2, 2),
                                                       some_rows(4, 3)};
    const auto rows = joined(batches);
    const Bytes bytes = written(batches);
    const std::size_t newest = record_bytes * (1 + 4);
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        for (int change = 1; change < 256; ++change) {
            Bytes bad = bytes;
            bad[at] ^= static_cast<std::byte>(change);
            const auto journal = parsed_or_refused(bad);
            if (at < record_bytes) {
                ASSERT_FALSE(journal) << "header byte " << at;
            } else if (journal) {
                // Whole but for the one that changed, and said so.
                ASSERT_EQ(journal->rows.size(), rows.size() - 1) << "byte " << at;
                ASSERT_TRUE(is_part_of(journal->rows, rows));
                ASSERT_EQ(journal->notes.size(), 1U);
            } else {
                ASSERT_LT(at, newest) << "a torn last append is no damage";
            }
        }
    }
}

TEST(Journal, DamageBeforeTheLastAppendIsAnError) {
    // The first record of two, of three batches: the batch's other record is behind it.
    Bytes bytes = written({some_rows(0, 2), some_rows(2, 1), some_rows(3, 1)});
    bytes[record_bytes + 5] ^= std::byte{1};
    const auto error = error_of([&] { parse(bytes); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ExitCode::output);
    EXPECT_NE(std::string(error->what()).find("a file, byte 32"), std::string::npos);
    EXPECT_NE(std::string(error->what()).find("resume"), std::string::npos);

    // The only record of a batch that others follow: its number is missing.
    bytes = written({some_rows(0, 2), some_rows(2, 1), some_rows(3, 1)});
    bytes[3 * record_bytes + 5] ^= std::byte{1};
    EXPECT_FALSE(parsed_or_refused(bytes));
    bytes = written({some_rows(0, 1), some_rows(1, 1)});
    bytes[record_bytes + 5] ^= std::byte{1};
    EXPECT_FALSE(parsed_or_refused(bytes));
}

/// A sector that the last append wrote to may hold what it held before, zeros where the file was
/// shorter, or anything else where it was new.
enum class Fate { written, as_before, garbage };

TEST(Journal, ATornAppendLosesItsOwnRecordsAlone) {
    const std::vector<std::vector<RowHash>> before = {some_rows(0, 20), some_rows(20, 3)};
    const std::vector<RowHash> last = some_rows(23, 45);
    const Bytes old = written(before);
    Bytes with_last = old;
    {
        auto batches = before;
        batches.push_back(last);
        with_last = written(batches);
    }
    const std::size_t first_sector = old.size() / sector;
    const std::size_t sectors = (with_last.size() + sector - 1) / sector - first_sector;
    ASSERT_EQ(sectors, 4U);
    std::mt19937_64 random(1);
    for (int fates = 0; fates < 81; ++fates) {
        Bytes bytes = with_last;
        std::vector<RowHash> expected = joined(before);
        int rest = fates;
        for (std::size_t i = 0; i < sectors; ++i, rest /= 3) {
            const std::size_t begin = std::max((first_sector + i) * sector, old.size());
            const std::size_t end = std::min((first_sector + i + 1) * sector, bytes.size());
            for (std::size_t at = begin; at < end && rest % 3 != 0; ++at) {
                bytes[at] = Fate(rest % 3) == Fate::garbage ? std::byte(random()) : std::byte{0};
            }
            for (std::size_t at = begin; at < end && rest % 3 == 0; at += record_bytes) {
                expected.push_back(last[(at - old.size()) / record_bytes]);
            }
        }
        const JournalRows journal = parse(bytes);
        ASSERT_EQ(journal.rows, expected) << "fates " << fates;
        ASSERT_EQ(journal.notes.size(), fates == 0 ? 0U : 1U);
        // The same when the file's new length did not reach the disk either.
        for (std::size_t length = old.size(); length < bytes.size(); length += 8) {
            const JournalRows shorter = parse(std::span(bytes).first(length));
            ASSERT_GE(shorter.rows.size(), joined(before).size());
            ASSERT_TRUE(is_part_of(shorter.rows, expected));
        }
    }
}

TEST(Journal, RecordsOfAnotherRunThatLieInTheFileCountForNothing) {
    // As a file system may leave them behind where a file grew before its data were written.
    Bytes bytes = written({some_rows(0, 2)});
    const Bytes other = written({some_rows(10, 1), some_rows(11, 3)}, attempt - 1);
    bytes.insert(bytes.end(), other.begin() + record_bytes, other.end());
    const JournalRows journal = parse(bytes);
    EXPECT_EQ(journal.rows, some_rows(0, 2));
    EXPECT_EQ(journal.notes.size(), 1U);
}

TEST(Journal, RefusesFilesOfAnotherRunOrVersion) {
    EXPECT_FALSE(parsed_or_refused(written({some_rows(0, 2)}, attempt + 1)));
    Bytes bytes = written({some_rows(0, 2)});
    bytes[6] = std::byte{'2'};
    EXPECT_FALSE(parsed_or_refused(bytes));
    EXPECT_FALSE(parsed_or_refused(Bytes(320)));
}

TEST(Journal, AHeaderThatNeverReachedTheDiskIsNoDamage) {
    const JournalRows journal = parse(Bytes(32));
    EXPECT_TRUE(journal.rows.empty());
    EXPECT_EQ(journal.notes.size(), 1U);
    EXPECT_FALSE(parsed_or_refused(Bytes(33)));
}

TEST(Journal, RefusesRowsThatTheOutputDoesNotHave) {
    constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
    for (const RowHash& row : std::vector<RowHash>{{0, 0, 1},
                                                   {-1, 2, 1},
                                                   {0, -1, 1},
                                                   {9, 2, 1},
                                                   {10, 1, 1},
                                                   {largest, 1, 1},
                                                   {1, largest, 1},
                                                   {-largest, largest, 1}}) {
        EXPECT_THROW(parse(written({{row}}), 10), Error) << row.first << ' ' << row.rows;
    }
    EXPECT_EQ(parse(written({{{9, 1, 1}}, {{0, 9, 1}}}), 10).rows.size(), 2U);
}

TEST(Journal, NoChangedFileGivesARowThatWasNotWritten) {
    std::vector<std::vector<RowHash>> batches;
    for (std::int64_t i = 0; i < 12; ++i) {
        batches.push_back(some_rows(5 * i, 1 + i % 5));
    }
    const auto rows = joined(batches);
    const Bytes bytes = written(batches);
    std::mt19937_64 random(2);
    int refused = 0;
    for (int round = 0; round < 20000; ++round) {
        Bytes bad = bytes;
        for (auto changes = random() % 4 + 1; changes > 0; --changes) {
            const auto length = random() % 40;
            const auto from = random() % (bad.size() - length);
            const auto to = random() % (bad.size() - length);
            if (random() % 2 == 0) {
                std::memmove(bad.data() + to, bad.data() + from, length);
            } else {
                std::memset(bad.data() + to, static_cast<int>(random() % 256), length);
            }
        }
        bad.resize(random() % 4 == 0 ? random() % (bad.size() + 1) : bad.size());
        const auto journal = parsed_or_refused(bad);
        refused += journal ? 0 : 1;
        ASSERT_TRUE(!journal || is_part_of(journal->rows, rows)) << "round " << round;
    }
    EXPECT_GT(refused, 1000);
    EXPECT_LT(refused, 19900);
}

} // namespace
} // namespace runner
