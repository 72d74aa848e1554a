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

/// Who may open HDF5 files, and which (docs/adr/0014): those that this run has made, or any, in a
/// process that may be lost.
const std::set<std::string> openers_of_own_files = {
    "assemble_output.cpp", "chunk_addresses.cpp", "create_output.cpp", "default_plot.cpp",
    "generations.cpp",     "object_names.cpp",    "row_hashes.cpp",    "write_attributes.cpp"};
const std::set<std::string> openers_in_other_processes = {
    "check_dataset.cpp",   "check_links.cpp",  "file_content.cpp",
    "inspect_dataset.cpp", "layout_of.cpp",    "object_names.cpp",
    "own_files.cpp",       "packed_chunk.cpp", "row_reader.cpp"};

TEST(Folders, Hdf5OpensFilesInKnownPlacesOnly) {
    std::set<std::string> met;
    for_each_include(
        [&](const std::string& /*folder*/, const std::string& file, const std::string& header) {
            const std::string name = fs::path(file).filename().string();
            if (header == "io/hdf5_file.hpp" && name != "hdf5_file.cpp") {
                met.insert(name);
            }
        });
    std::set<std::string> known = openers_of_own_files;
    known.insert(openers_in_other_processes.begin(), openers_in_other_processes.end());
    EXPECT_EQ(met, known);
}

TEST(Folders, FilesFromOutsideAreReadThroughFileAccessOnly) {
    // What opens a file with HDF5 in the process that calls it.
    const std::regex call(
        "(^|[^.>\\w:])(open_rows|open_rows_by_hdf5|inspect_dataset|inspect_layout|object_names|"
        "root_attributes|file_content|dataset_content|check_dataset)\\(|OwnFiles");
    const std::set<std::string> others = {"probe_child.cpp", "row_server.cpp"};
    // Of formats whose parser is our own.
    const std::set<std::string> own_formats = {"probed_files.cpp"};
    std::set<std::string> met;
    for (const char* folder : {"jobs", "runner"}) {
        for (const auto& entry : fs::recursive_directory_iterator(fs::path(SOURCE_DIR) / folder)) {
            const std::string name = entry.path().filename().string();
            std::ifstream file(entry.path());
            for (std::string line; std::getline(file, line);) {
                const std::string code = line.substr(0, line.find("//"));
                if (entry.path().extension() == ".cpp" && std::regex_search(code, call)) {
                    met.insert(name);
                    EXPECT_TRUE(others.contains(name) || own_formats.contains(name))
                        << entry.path() << ": " << line;
                }
            }
        }
    }
    EXPECT_TRUE(met.contains("probe_child.cpp"));
    EXPECT_TRUE(met.contains("row_server.cpp"));
}

} // namespace
