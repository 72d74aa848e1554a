// SPDX-License-Identifier: BSD-3-Clause
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace {

namespace fs = std::filesystem;

/// Each folder and the folders it may include from.
const std::map<std::string, std::set<std::string>> allowed = {
    {"base", {"base"}},
    {"kernels", {"base", "kernels"}},
    {"io", {"base", "io"}},
    {"jobs", {"base", "kernels", "io", "jobs"}},
    {"runner", {"base", "kernels", "io", "jobs", "runner"}}};

/// Foreign headers, by the start of their name, and the one folder that includes them.
const std::map<std::string, std::string> home = {
    {"cuda", "kernels"}, {"cub/", "kernels"}, {"nvtx", "kernels"}, {"hwy/", "kernels"},
    {"hdf5", "io"},      {"H5", "io"},        {"png", "io"},       {"tiff", "io"},
    {"isa-l", "io"},     {"zstd", "io"},      {"xxhash", "io"},    {"zlib", "io"},
    {"mpi", "runner"},   {"toml", "runner"},  {"CLI/", "runner"},  {"nlohmann", "runner"},
    {"hwloc", "runner"}};

template <class See> void for_each_include(See see) {
    const std::regex include("^\\s*#\\s*include\\s*[<\"]([^>\"]+)[>\"]");
    for (const auto& [folder, unused] : allowed) {
        for (const auto& entry : fs::recursive_directory_iterator(fs::path(SOURCE_DIR) / folder)) {
            static const std::set<std::string> endings = {".hpp", ".cpp", ".cu", ".cuh", ".in"};
            if (!endings.contains(entry.path().extension().string())) {
                continue;
            }
            std::ifstream file(entry.path());
            for (std::string line; std::getline(file, line);) {
                std::smatch match;
                if (std::regex_search(line, match, include)) {
                    see(folder, entry.path().string(), match[1].str());
                }
            }
        }
    }
}

TEST(Folders, IncludeOnlyFromTheLayersBelow) {
    int seen = 0;
    for_each_include(
        [&](const std::string& folder, const std::string& file, const std::string& header) {
            const std::string from = header.substr(0, header.find('/'));
            if (allowed.contains(from) && header.find('/') != std::string::npos) {
                ++seen;
                EXPECT_TRUE(allowed.at(folder).contains(from)) << file << " includes " << header;
            }
        });
    EXPECT_GT(seen, 50);
}

TEST(Folders, EachForeignApiHasOneHome) {
    std::set<std::string> met;
    for_each_include(
        [&](const std::string& folder, const std::string& file, const std::string& header) {
            for (const auto& [prefix, owner] : home) {
                if (header.starts_with(prefix)) {
                    met.insert(prefix);
                    EXPECT_EQ(folder, owner) << file << " includes " << header;
                }
            }
        });
    EXPECT_TRUE(met.contains("mpi"));
    EXPECT_TRUE(met.contains("cuda"));
    EXPECT_TRUE(met.contains("hdf5"));
}

} // namespace
