// SPDX-License-Identifier: BSD-3-Clause
// Every call of the CUDA runtime goes through kernels/queue/cuda_call.hpp: `[&] { return cudaX(…);
// }`.
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace {

namespace fs = std::filesystem;

TEST(CudaCalls, AreMadeThroughCudaCall) {
    const std::regex name(R"((return )?\b(cuda[A-Z]\w*)\()");
    // These ask no device.
    const std::set<std::string> free = {"cudaGetErrorName", "cudaGetErrorString"};
    int calls = 0;
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(SOURCE_DIR) / "kernels")) {
        std::ifstream file(entry.path());
        int number = 0;
        for (std::string line; std::getline(file, line);) {
            ++number;
            const std::string code = line.substr(0, line.find("//"));
            EXPECT_EQ(code.find("<<<"), std::string::npos) << entry.path() << ":" << number;
            for (std::sregex_iterator match(code.begin(), code.end(), name), end; match != end;
                 ++match) {
                ++calls;
                EXPECT_TRUE((*match)[1].matched || free.contains((*match)[2]))
                    << entry.path() << ":" << number << ": " << (*match)[2] << " is called bare";
            }
        }
    }
    EXPECT_GT(calls, 20);
}

/// CI compiles for one architecture; packages are compiled for those from 75 on.
TEST(CudaCalls, ReductionsOfWarpsAskForTheirArchitecture) {
    int reductions = 0;
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(SOURCE_DIR) / "kernels")) {
        std::ifstream file(entry.path());
        std::string before;
        for (std::string line; std::getline(file, line); before = line) {
            if (line.find("__reduce_") != std::string::npos) {
                ++reductions;
                EXPECT_EQ(before, "#if __CUDA_ARCH__ >= 800") << entry.path() << ": " << line;
            }
        }
    }
    EXPECT_GT(reductions, 0);
}

} // namespace
