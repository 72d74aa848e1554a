// SPDX-License-Identifier: BSD-3-Clause
// A finished output that is damaged on purpose, and mended or left alone. end_to_end.verify has
// every kind and storage.
#include "runner/verify/repair.hpp"

#include "io/files/file_lock.hpp"
#include "io/files/hash.hpp"
#include "io/input/open_rows.hpp"
#include "io/output/journal.hpp"
#include "runner/output/output_claim.hpp"
#include "runner/report/report.hpp"
#include "runner/report/version.hpp"
#include "runner/verify/verify.hpp"
#include "tests/io/dataset_file.hpp"
#include "tests/io/scratch_folder.hpp"
#include "tests/support/probing_main.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

namespace runner::verify {
namespace {

namespace fs = std::filesystem;

using Bytes = std::vector<std::uint8_t>;

/// An image of 6 x 3 bytes and what a job that doubles it has made of it, in runs of 2, 1 and 3
/// rows.
struct RepairTest : testing::Test {
    RepairTest() {
        for (std::size_t i = 0; i < image.size(); ++i) {
            image[i] = static_cast<std::uint8_t>(i + 1);
            doubled[i] = static_cast<std::uint8_t>(2 * image[i]);
        }
        write_dataset(input, "/x", {6, 3}, image);
        make(doubled);
        right = content();
    }

    /// The output of the job with these elements, which a run that is wrong may have made.
    void make(const Bytes& elements) {
        const std::string text = "kind = \"convolve\"\n[input]\nfile = \"" + input +
                                 "\"\ndataset = \"/x\"\n[output]\nfile = \"" + output +
                                 "\"\nsync = false\noverwrite = true\n"
                                 "[convolve]\nrow_taps = [2]\ncolumn_taps = [1]\n";
        OwnFiles files;
        const PreparedJob job = prepare_job(parse_job_text(text, "job.toml", {}), files);
        output::Claim claim(output, "a test", prober);
        claim.replace(job, output::rules_of(job.file));
        const output::Beginning beginning = claim.begin(job, 1, 1);
        const auto* const bytes = reinterpret_cast<const std::byte*>(elements.data());
        const auto writer = open_output_rows(output_dataset(job), 0, 1);
        writer->write(0, 6, bytes);
        writer->finish(RowWriter::Sync::no);
        runs = {{0, 2, hash_bytes(bytes, 6)},
                {2, 1, hash_bytes(bytes + 6, 3)},
                {3, 3, hash_bytes(bytes + 9, 9)}};
        JournalWriter(journal_folder(output), beginning.attempt, "rank-0").append(runs);
        (void)claim.complete(job, beginning,
                             {{"runner_version", version()},
                              {"job", text},
                              {"job_settings", ""},
                              {job_checksum_attribute, job_checksum(text, "")},
                              {"input_bytes", std::int64_t(fs::file_size(input))},
                              {"input_modified", "2026-11-23T00:00:00Z"}});
        claim.release(job);
    }

    std::string content() const {
        std::ifstream file(output, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    /// Flips a bit of an element where it lies in the file.
    void damage(std::size_t element) const {
        const std::string elements(doubled.begin(), doubled.end());
        const std::size_t at = right.find(elements);
        ASSERT_NE(at, std::string::npos);
        std::fstream file(output, std::ios::binary | std::ios::in | std::ios::out);
        file.seekp(static_cast<std::streamoff>(at + element));
        file.put(static_cast<char>(doubled[element] ^ 0x40U));
    }
    /// Puts another checksum of a run into the list.
    void damage_list(std::size_t run) {
        std::vector<RowHash> wrong = runs;
        wrong[run].hash ^= 1U;
        OwnFiles files;
        replace_row_hashes(files, output, wrong);
    }
    Repair mend(const std::optional<std::string>& other_input = {}) {
        return repair({output, other_input, 1}, prober);
    }
    /// What is said where nothing is repaired.
    std::string refusal(const std::optional<std::string>& other_input = {}) {
        const std::string before = content();
        const auto error = error_of([&] { (void)mend(other_input); });
        EXPECT_EQ(content(), before);
        return error ? error->what() : "";
    }

    ScratchFolder folder;
    const std::string input = folder / "in.h5";
    const std::string output = folder / "out.h5";
    Bytes image = Bytes(18);
    Bytes doubled = Bytes(18);
    std::vector<RowHash> runs;
    std::string right;
    Prober prober;
};

TEST_F(RepairTest, LeavesWhatIsRight) {
    const Repair done = mend();
    EXPECT_EQ(done.runs, 3);
    EXPECT_TRUE(done.rows.empty() && done.checksums.empty());
    EXPECT_EQ(content(), right);
    EXPECT_EQ(repair_text(done), output + ": nothing to repair, all 3 runs of rows are right\n");
}

TEST_F(RepairTest, ComputesDamagedRowsAgain) {
    damage(7);  // of row 2
    damage(17); // of row 5
    EXPECT_NE(content(), right);
    const Repair done = mend();
    EXPECT_EQ(done.rows, (std::vector<RowRange>{{2, 3}, {3, 6}}));
    EXPECT_TRUE(done.checksums.empty());
    EXPECT_EQ(content(), right);
    // Two runs that touch are told as one.
    EXPECT_EQ(repair_text(done),
              "repaired: rows 2 to 5\n" + output + ": all 3 runs of rows are right\n");
    EXPECT_FALSE(fs::exists(lock_path(output)));
}

TEST_F(RepairTest, MendsTheListWhereTheRowsAreRight) {
    damage_list(1);
    EXPECT_TRUE(verify({output, {}, 0, {}, 1}, prober).differs());
    const Repair done = mend();
    EXPECT_TRUE(done.rows.empty());
    EXPECT_EQ(done.checksums, (std::vector<RowRange>{{2, 3}}));
    EXPECT_EQ(content(), right);
    EXPECT_EQ(repair_text(done),
              "repaired: the checksum of row 2\n" + output + ": all 3 runs of rows are right\n");
}

TEST_F(RepairTest, MendsRowsAndTheListAtOnce) {
    damage(0);
    damage_list(2);
    const Repair done = mend();
    EXPECT_EQ(done.rows, (std::vector<RowRange>{{0, 2}}));
    EXPECT_EQ(done.checksums, (std::vector<RowRange>{{3, 6}}));
    EXPECT_EQ(content(), right);
}

TEST_F(RepairTest, ChangesNothingWhereRowAndChecksumAreBothOthers) {
    damage(7);
    damage_list(1);
    damage(0); // this one could be mended
    const std::string told = refusal();
    EXPECT_NE(told.find("cannot repair, and changed nothing"), std::string::npos) << told;
    EXPECT_NE(told.find("row 2"), std::string::npos) << told;
}

TEST_F(RepairTest, ChangesNothingFromAnotherInput) {
    damage(7);
    const std::string copy = folder / "copy.h5";
    fs::copy_file(input, copy);
    Bytes other = image;
    other[7] ^= 1U; // of the damaged row
    const std::string changed = folder / "changed.h5";
    write_dataset(changed, "/x", {6, 3}, other);
    fs::rename(changed, input);
    EXPECT_NE(refusal().find("changed nothing"), std::string::npos);
    EXPECT_NE(refusal(input).find("changed nothing"), std::string::npos);
    EXPECT_EQ(mend(copy).rows, (std::vector<RowRange>{{2, 3}}));
    EXPECT_EQ(content(), right);
}

TEST_F(RepairTest, NeedsNoInputWhereNothingIsWrong) {
    fs::remove(input);
    EXPECT_EQ(mend().runs, 3);
    damage(7);
    EXPECT_NE(refusal().find(input), std::string::npos);
}

TEST_F(RepairTest, WaitsForNobody) {
    damage(7);
    const FileLock lock(lock_path(output), "another");
    EXPECT_NE(refusal().find("another"), std::string::npos);
}

TEST_F(RepairTest, TakesFinishedOutputsAlone) {
    EXPECT_NE(error_of([&] { (void)repair({input, {}, 1}, prober); }), std::nullopt);
    EXPECT_NE(error_of([&] { (void)repair({folder / "none.h5", {}, 1}, prober); }), std::nullopt);
}

TEST(RepairText, HasOneRunWithoutANumber) {
    EXPECT_EQ(repair_text({"o\n.h5", {ElementType::uint8, {6, 3}}, 1, {}, {}}),
              "o\\x0a.h5: nothing to repair, the only run of rows is right\n");
}

} // namespace
} // namespace runner::verify
