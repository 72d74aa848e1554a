// SPDX-License-Identifier: BSD-3-Clause
#include "io/formats/rows_format.hpp"

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

namespace fs = std::filesystem;

/// What only the room of the formats may name: their headers, their functions and the endings of
/// those that are written row by row, but for that of pictures, which verbs make too.
std::vector<std::string> words_of_formats() {
    std::vector<std::string> words = {"io/formats/sand_",
                                      "io/formats/npy_",
                                      "io/formats/nifti_",
                                      "io/formats/mrc_",
                                      "io/formats/png_file",
                                      "io/formats/png_reader",
                                      "io/tiff/",
                                      "io/zarr/",
                                      "is_zarr",
                                      "is_sand_name",
                                      "sand_storage"};
    for (const RowsFormat& format : rows_formats()) {
        std::istringstream endings{std::string(format.endings)};
        for (std::string ending; format.written != nullptr && endings >> ending;) {
            if (ending != ".png") {
                words.push_back('"' + ending + '"');
            }
        }
    }
    return words;
}

bool may_name_them(const std::string& file) {
    // The storage's name is one of DatasetInfo's; a kind says which format is its own.
    static const std::set<std::string> others = {"io/rows/rows.hpp", "jobs/registry.cpp"};
    return file.starts_with("io/formats/") || file.starts_with("io/tiff/") ||
           file.starts_with("io/zarr/") || file.starts_with("jobs/sand/") || others.contains(file);
}

/// A format is a file and a line of the table: no other code asks which one a file has.
TEST(Formats, AreNotNamedOutsideTheirRoom) {
    const fs::path root(SOURCE_DIR);
    const std::vector<std::string> words = words_of_formats();
    EXPECT_GT(words.size(), 10U);
    int files = 0;
    for (const char* top : {"base", "cli", "io", "jobs", "runner", "slurm", "views"}) {
        for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
            const std::string ending = entry.path().extension().string();
            const std::string name = entry.path().lexically_relative(root).string();
            if ((ending != ".cpp" && ending != ".hpp") || may_name_them(name)) {
                continue;
            }
            ++files;
            std::ifstream file(entry.path());
            for (std::string line; std::getline(file, line);) {
                line = line.substr(0, line.find("//"));
                for (const std::string& word : words) {
                    EXPECT_EQ(line.find(word), std::string::npos) << name << ": " << line;
                }
            }
        }
    }
    EXPECT_GT(files, 300);
}

} // namespace
} // namespace runner
