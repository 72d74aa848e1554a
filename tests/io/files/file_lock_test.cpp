// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/file_lock.hpp"

#include "base/error.hpp"
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
    for (const std::string left :
         {"runner lock: process 1 on a host that went down, with a long name\n", "runner lo", ""}) {
        std::ofstream(path) << left;
        {
            const FileLock lock(path, "process 2");
            EXPECT_TRUE(lock.was_left());
            std::string line;
            std::getline(std::ifstream(path), line);
            EXPECT_EQ(line, "runner lock: process 2");
        }
        EXPECT_FALSE(std::filesystem::exists(path));
    }
    EXPECT_FALSE(FileLock(path, "process 3").was_left());
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
