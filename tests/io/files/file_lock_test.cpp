// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/file_lock.hpp"

#include "base/error.hpp"
#include "io/files/own_file.hpp"
#include "tests/io/scratch_folder.hpp"

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace runner {
namespace {

TEST(FileLock, KeepsASecondHolderAwayAndSaysWhoHoldsIt) {
    const ScratchFolder folder;
    const std::string path = folder / "out.h5.lock";
    auto first = std::make_unique<FileLock>(path, "process 7 on node3");
    try {
        const FileLock second(path, "process 8");
        FAIL() << "locked twice";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::output);
        EXPECT_EQ(error.text().where, path);
        EXPECT_NE(error.text().why.find("process 7 on node3"), std::string::npos);
    }
    first.reset();
    EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(FileLock, TakesOverAFileThatNobodyHolds) {
    const ScratchFolder folder;
    const std::string path = folder / "out.h5.lock";
    const std::string whole = "runner lock: process 1 on a host that went down, with a long name\n";
    for (const std::string& left : {whole, std::string("runner lock: x"), std::string("runner lo"),
                                    std::string(), std::string(20, '\0')}) {
        std::ofstream(path) << left;
        {
            const FileLock lock(path, "process 2");
            EXPECT_EQ(lock.was_left(), left == whole) << left;
            EXPECT_EQ(lock.was_cut_off(), left != whole) << left;
            std::string line;
            std::getline(std::ifstream(path), line);
            EXPECT_EQ(line, "runner lock: process 2");
        }
        EXPECT_FALSE(std::filesystem::exists(path));
    }
    EXPECT_FALSE(FileLock(path, "process 3").was_left());
}

TEST(FileLock, LeavesAFileThatHasComeUnderItsName) {
    const ScratchFolder folder;
    const std::string path = folder / "out.h5.lock";
    {
        const FileLock lock(path, "process 2");
        std::filesystem::rename(path, folder / "moved");
        std::ofstream(path) << "mine\n";
    }
    EXPECT_TRUE(std::filesystem::exists(path));
    EXPECT_TRUE(std::filesystem::exists(folder / "moved"));
}

TEST(FileLock, KnowsWhatOthersMayWriteTo) {
    const ScratchFolder folder;
    const FileLock lock(folder / "out.h5.lock", "process 2");
    const std::string path = folder / "out.h5.partial";
    EXPECT_EQ(lock.foreign(path), "");
    std::ofstream(path) << "rows";
    EXPECT_EQ(lock.foreign(path), "");
    EXPECT_EQ(foreign_owner(path), "");
    std::filesystem::permissions(path, std::filesystem::perms(0666));
    std::filesystem::permissions(folder / "out.h5.lock", std::filesystem::perms(0644));
    EXPECT_NE(lock.foreign(path).find("mode 666"), std::string::npos);
    std::filesystem::permissions(folder / "out.h5.lock", std::filesystem::perms(0666));
    EXPECT_EQ(lock.foreign(path), "");
}

TEST(FileLock, LeavesAFileThatIsNoLock) {
    const ScratchFolder folder;
    const std::string path = folder / "out.h5.lock";
    std::ofstream(path) << "runner-up: me\n";
    const auto error = error_of([&] { FileLock(path, "process 2"); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ExitCode::output);
    EXPECT_NE(std::string(error->what()).find("no lock of this program"), std::string::npos);
    std::string line;
    std::getline(std::ifstream(path), line);
    EXPECT_EQ(line, "runner-up: me");
}

TEST(FileLock, SaysThatTheFolderIsMissing) {
    const ScratchFolder folder;
    EXPECT_THROW(FileLock(folder / "none/out.h5.lock", "process 2"), Error);
}

} // namespace
} // namespace runner
