// SPDX-License-Identifier: BSD-3-Clause
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace {

namespace fs = std::filesystem;

template <class See> void for_each_source(const std::set<std::string>& folders, See see) {
    static const std::set<std::string> endings = {".hpp", ".cpp", ".cu", ".cuh", ".in"};
    for (const std::string& folder : folders) {
        for (const auto& entry : fs::recursive_directory_iterator(fs::path(SOURCE_DIR) / folder)) {
            if (endings.contains(entry.path().extension().string())) {
                see(entry.path());
            }
        }
    }
}

/// Who may open HDF5 files, and which (docs/adr/0014): those that this run has made, or any, in a
/// process that may be lost.
const std::set<std::string> openers_of_own_files = {
    "assemble_output.cpp", "row_writers.cpp",    "create_output.cpp", "default_plot.cpp",
    "generations.cpp",     "object_names.cpp",   "record_facts.cpp",  "row_hashes.cpp",
    "attributes.cpp",      "write_metadata.cpp", "write_scan.cpp",    "write_setup.cpp",
    "kept_frames.cpp"};
const std::set<std::string> openers_in_other_processes = {
    "check_dataset.cpp",   "links.cpp",         "virtual_parts.cpp", "file_content.cpp",
    "inspect_dataset.cpp", "layout_of.cpp",     "object_names.cpp",  "open_rows.cpp",
    "chunk_list.cpp",      "read_metadata.cpp", "record_facts.cpp",  "side_datasets.cpp"};

TEST(FileAccess, Hdf5OpensFilesInKnownPlacesOnly) {
    std::set<std::string> met;
    for_each_source({"io", "jobs", "runner", "slurm", "views"}, [&](const fs::path& path) {
        std::ifstream file(path);
        for (std::string line; std::getline(file, line);) {
            if (line == "#include \"io/hdf5/hdf5_file.hpp\"" &&
                path.filename() != "hdf5_file.cpp") {
                met.insert(path.filename().string());
            }
        }
    });
    std::set<std::string> known = openers_of_own_files;
    known.insert(openers_in_other_processes.begin(), openers_in_other_processes.end());
    EXPECT_EQ(met, known);
}

TEST(FileAccess, FilesFromOutsideAreReadThroughFileAccessOnly) {
    // What opens a file with HDF5 in the process that calls it.
    const std::regex call(
        "(^|[^.>\\w:])(open_rows|open_rows_by_hdf5|inspect_dataset|inspect_layout|object_names|"
        "root_attributes|file_content|dataset_content|check_dataset|read_metadata)\\(|OwnFiles");
    const std::set<std::string> others = {"probe_child.cpp", "row_server.cpp"};
    // Files of formats whose parser is our own.
    const std::set<std::string> own_formats = {"probed_files.cpp"};
    std::set<std::string> met;
    for_each_source({"cli", "jobs", "runner", "slurm"}, [&](const fs::path& path) {
        if (path.extension() != ".cpp") {
            return;
        }
        const std::string name = path.filename().string();
        std::ifstream file(path);
        for (std::string line; std::getline(file, line);) {
            const std::string code = line.substr(0, line.find("//"));
            if (std::regex_search(code, call)) {
                met.insert(name);
                EXPECT_TRUE(others.contains(name) || own_formats.contains(name))
                    << path << ": " << line;
            }
        }
    });
    EXPECT_TRUE(met.contains("probe_child.cpp"));
    EXPECT_TRUE(met.contains("row_server.cpp"));
}

} // namespace
