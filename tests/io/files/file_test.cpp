// SPDX-License-Identifier: BSD-3-Clause
// What storage does wrong, and what is said about it.
#include "io/files/file.hpp"

#include "io/files/write_back.hpp"
#include "io/output/assemble_output.hpp"
#include "io/output/create_output.hpp"
#include "io/output/open_output_rows.hpp"
#include "io/output/publish_output.hpp"
#include "io/rows/rows.hpp"
#include "tests/io/scratch_folder.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace runner {
namespace {

void expect_error(const std::optional<Error>& error, ExitCode code,
                  std::initializer_list<std::string> texts) {
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), code);
    for (const std::string& text : texts) {
        EXPECT_NE(std::string(error->what()).find(text), std::string::npos)
            << text << " is not in: " << error->what();
    }
}

void put(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

std::string get(const std::string& path) {
    std::ifstream stream(path);
    return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(File, NamesWhatCannotBeOpened) {
    const ScratchFolder folder;
    expect_error(error_of([&] { File(folder / "a", File::Mode::read); }), ExitCode::input,
                 {"cannot open the file", folder / "a", "No such file", "spelling"});
    expect_error(error_of([&] { File(folder.path(), File::Mode::read); }), ExitCode::input,
                 {folder.path(), "Is a directory"});
    expect_error(error_of([&] { File(folder.path(), File::Mode::create); }), ExitCode::output,
                 {"cannot create the file", "Is a directory"});
    expect_error(error_of([&] { File(folder / "no/a", File::Mode::create); }), ExitCode::output,
                 {folder / "no/a", "No such file", "mkdir -p " + (folder / "no")});
}

TEST(File, TakesNoMemoryWhereItLiesInIt) {
    const std::string path = "/dev/shm/runner-file-test-" + std::to_string(::getpid());
    struct statfs system {};
    if (::statfs("/dev/shm", &system) != 0 || system.f_type != TMPFS_MAGIC ||
        system.f_blocks == 0) {
        GTEST_SKIP() << "/dev/shm is no tmpfs with a limit";
    }
    const File file(path, File::Mode::create);
    file.resize(4 << 20);
    file.reserve(0, 4 << 20);
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_blocks, 0);
    const std::int64_t all = static_cast<std::int64_t>(system.f_blocks) * system.f_bsize;
    expect_error(error_of([&] { file.reserve(0, all + 1); }), ExitCode::output,
                 {"cannot take the disk space", path, "No space left"});
    std::filesystem::remove(path);
}

TEST(File, IsMadeAnewInPlaceOfAnother) {
    const ScratchFolder folder;
    put(folder / "a", "somebody has it open");
    std::filesystem::permissions(folder / "a", std::filesystem::perms(0600));
    const File before(folder / "a", File::Mode::read);
    const File made(folder / "a", File::Mode::create);
    EXPECT_EQ(before.size(), 20);
    EXPECT_EQ(made.size(), 0);
    EXPECT_NO_THROW(File("/dev/null", File::Mode::create));
    EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(File, IsHalfPublishedWithTwoNames) {
    const ScratchFolder folder;
    put(folder / "a.partial", "rows");
    EXPECT_FALSE(is_half_published(folder / "a.partial", folder / "a"));
    std::filesystem::create_hard_link(folder / "a.partial", folder / "a");
    EXPECT_TRUE(is_half_published(folder / "a.partial", folder / "a"));
    std::filesystem::create_hard_link(folder / "a", folder / "b");
    EXPECT_FALSE(is_half_published(folder / "a.partial", folder / "a"));
    std::filesystem::remove(folder / "b");
    finish_publishing(folder / "a.partial", folder / "a");
    EXPECT_FALSE(std::filesystem::exists(folder / "a.partial"));
    EXPECT_EQ(get(folder / "a"), "rows");
}

TEST(File, WritesThroughNoLink) {
    const ScratchFolder folder;
    put(folder / "precious", "years of work");
    ASSERT_EQ(::symlink((folder / "precious").c_str(), (folder / "symbolic").c_str()), 0);
    ASSERT_EQ(::symlink((folder / "new").c_str(), (folder / "dangling").c_str()), 0);
    ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
    for (const auto mode : {File::Mode::create, File::Mode::update}) {
        expect_error(error_of([&] { File(folder / "symbolic", mode); }), ExitCode::output,
                     {folder / "symbolic", "symbolic link to " + (folder / "precious")});
        expect_error(error_of([&] { File(folder / "dangling", mode); }), ExitCode::output,
                     {folder / "dangling", "symbolic link"});
        expect_error(error_of([&] { File(folder / "fifo", mode); }), ExitCode::output,
                     {folder / "fifo", "no regular file"});
    }
    ASSERT_EQ(::link((folder / "precious").c_str(), (folder / "hard").c_str()), 0);
    for (const auto mode : {File::Mode::create, File::Mode::update}) {
        expect_error(error_of([&] { File(folder / "hard", mode); }), ExitCode::output,
                     {folder / "hard", "2 names (hard links)"});
    }
    EXPECT_EQ(get(folder / "precious"), "years of work");
    EXPECT_FALSE(std::filesystem::exists(folder / "new"));
    EXPECT_EQ(File(folder / "symbolic", File::Mode::read).size(), 13); // what is read may be a link
}

TEST(File, SaysHowMuchOfATruncatedFileIsThere) {
    const ScratchFolder folder;
    put(folder / "a", "12345");
    const File file(folder / "a", File::Mode::read);
    std::array<std::byte, 10> bytes{};
    file.read(1, 4, bytes.data());
    EXPECT_EQ(bytes[3], std::byte{'5'});
    expect_error(error_of([&] { file.read(2, 6, bytes.data()); }), ExitCode::input,
                 {"truncated", "it has 5 bytes and should have at least 8"});
}

TEST(File, ReadsRowsToPlacesThatLieApart) {
    const ScratchFolder folder;
    constexpr std::int64_t rows = 1000; // more than one call takes
    constexpr std::int64_t row = 3;
    constexpr std::int64_t pitch = 7;
    std::string bytes(rows * row + 2, ' ');
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<char>(i * 37 % 251);
    }
    put(folder / "a", bytes);
    const File file(folder / "a", File::Mode::read);
    std::string read(rows * pitch, '.');
    file.read_rows(2, rows, row, reinterpret_cast<std::byte*>(read.data()), pitch);
    for (std::size_t i = 0; i < rows; ++i) {
        ASSERT_EQ(read.substr(i * pitch, pitch), bytes.substr(2 + i * row, row) + "....") << i;
    }
    expect_error(error_of([&] {
                     file.read_rows(4, rows, row, reinterpret_cast<std::byte*>(read.data()), pitch);
                 }),
                 ExitCode::input, {"truncated", "it has 3002 bytes and should have at least 3004"});
}

TEST(File, NamesTheByteAndTheRemedyOfAFailingWrite) {
    const std::array<std::byte, 16> bytes{};
    const File full("/dev/full", File::Mode::update);
    expect_error(error_of([&] { full.write(4096, 16, bytes.data()); }), ExitCode::output,
                 {"cannot write (/dev/full, byte 4096)", "No space left", "Free space"});
}

/// Files end at `bytes` while it lives: writes beyond fail with EFBIG, as on a full disk.
class FileLimit {
  public:
    explicit FileLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        const struct rlimit limit = {bytes, before_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    FileLimit(const FileLimit&) = delete;
    FileLimit& operator=(const FileLimit&) = delete;
    ~FileLimit() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }

  private:
    struct rlimit before_ {};
    void (*handler_)(int);
};

TEST(File, NamesTheByteWhereALimitCutsAWriteShort) {
    const ScratchFolder folder;
    const std::vector<std::byte> bytes(1000);
    const auto error = error_of([&] {
        const FileLimit limit(600);
        const File file(folder / "a", File::Mode::create);
        file.write(0, 1000, bytes.data());
    });
    expect_error(error, ExitCode::output, {"byte 600", "File too large", "ulimit -f"});
}

TEST(CreateOutput, FailsWhereTheFileCannotBeAsLong) {
    const ScratchFolder folder;
    const auto error = error_of([&] {
        const FileLimit limit(100000);
        create_output({folder / "a.h5", "x", {ElementType::uint8, {1000, 1000}}, {}});
    });
    expect_error(error, ExitCode::output, {folder / "a.h5", "File too large"});
}

TEST(AssembleOutput, FailsWhereTheChunksDoNotFitAndKeepsTheShards) {
    const ScratchFolder folder;
    const OutputDataset output{
        folder / "a.h5", "x", {ElementType::uint8, {64, 1000}}, {{8, 1000}, Compression::zstd}};
    std::vector<std::byte> rows(64000);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows[i] = static_cast<std::byte>(i * i * 2654435761U >> 13);
    }
    create_output(output);
    for (int rank = 0; rank < 2; ++rank) {
        const auto writer = open_output_rows(output, rank, 1);
        writer->write(rank * 32, 32, rows.data() + rank * 32000);
        writer->finish(RowWriter::Sync::no);
    }
    const auto error = error_of([&] {
        const FileLimit limit(20000);
        assemble_output(output);
    });
    expect_error(error, ExitCode::output, {folder / "a.h5", "File too large"});
    EXPECT_TRUE(std::filesystem::exists(folder / "a.h5.shard-1-1"));
}

TEST(PublishOutput, GivesTheNameOnceAndReplacesOnlyWhenTold) {
    const ScratchFolder folder;
    put(folder / "a.partial", "new");
    publish_output(folder / "a.partial", folder / "a", Overwrite::no, RowWriter::Sync::yes);
    EXPECT_EQ(get(folder / "a"), "new");
    EXPECT_FALSE(std::filesystem::exists(folder / "a.partial"));

    put(folder / "a.partial", "newer");
    expect_error(error_of([&] {
                     publish_output(folder / "a.partial", folder / "a", Overwrite::no,
                                    RowWriter::Sync::no);
                 }),
                 ExitCode::output, {folder / "a)", "a file of that name exists", "overwrite"});
    EXPECT_EQ(get(folder / "a"), "new");
    EXPECT_EQ(get(folder / "a.partial"), "newer");

    publish_output(folder / "a.partial", folder / "a", Overwrite::yes, RowWriter::Sync::no);
    EXPECT_EQ(get(folder / "a"), "newer");
}

TEST(PublishOutput, KeepsTheResultWhenTheNameCannotBe) {
    const ScratchFolder folder;
    put(folder / "a.partial", "new");
    for (const Overwrite overwrite : {Overwrite::no, Overwrite::yes}) {
        expect_error(error_of([&] {
                         publish_output(folder / "a.partial", folder / "no/a", overwrite,
                                        RowWriter::Sync::yes);
                     }),
                     ExitCode::output, {folder / "no/a", "No such file", "The result is in"});
    }
    EXPECT_EQ(get(folder / "a.partial"), "new");
}

TEST(WriteBack, IsDueAfterSomeBytesAndThenBeginsToCountAgain) {
    WriteBack count;
    const std::int64_t most = std::int64_t{64} << 20;
    EXPECT_FALSE(count.is_due(most - 1));
    EXPECT_TRUE(count.is_due(1));
    EXPECT_FALSE(count.is_due(most - 1));
    EXPECT_TRUE(count.is_due(5 * most));
    EXPECT_FALSE(count.is_due(0));
}

} // namespace
} // namespace runner
