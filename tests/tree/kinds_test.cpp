// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/kind.hpp"

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace runner {
namespace {

namespace fs = std::filesystem;

/// Names of kinds that are also names of something else, and where that is.
bool means_something_else(const std::string& kind, const std::string& file) {
    // The file format and the palette of that name.
    static const std::set<std::string> sand = {"io/formats/rows_format.cpp",
                                               "io/formats/rows_format.hpp", "io/rows/rows.hpp",
                                               "cli/verb_parser.cpp", "cli/completion.cpp"};
    // The codec of Zarr that has that name.
    static const std::set<std::string> transpose = {"io/filters/transpose.cpp",
                                                    "io/zarr/zarr_codecs.cpp"};
    // The choice of input.missing that has that name.
    static const std::set<std::string> fill = {"cli/verb_parser.cpp",
                                               "runner/job_file/input_section.cpp",
                                               "runner/job_file/job_sample.cpp"};
    // What coarser levels of an image have of a block.
    const bool is_of_levels = kind == "median" && file == "io/rows/output_layout.hpp";
    // The phases of a run, in the report.
    const bool is_of_run = kind == "phase" && (file == "runner/report/report.cpp" ||
                                               file == "runner/trial/part_run.cpp");
    return is_of_run || is_of_levels || (kind == "sand" && sand.contains(file)) ||
           (kind == "fill" && fill.contains(file)) ||
           (kind == "transpose" && transpose.contains(file));
}

/// A kind is new files and a line of the registry: no code that serves all kinds names one.
TEST(Kinds, AreNotNamedByCodeForAllKinds) {
    const fs::path root(SOURCE_DIR);
    int files = 0;
    for (const char* top : {"base", "cli", "io", "runner", "slurm", "views"}) {
        for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
            const std::string ending = entry.path().extension().string();
            if (ending != ".cpp" && ending != ".hpp") {
                continue;
            }
            const std::string name = entry.path().lexically_relative(root).string();
            ++files;
            std::ifstream file(entry.path());
            for (std::string line; std::getline(file, line);) {
                line = line.substr(0, line.find("//"));
                for (const Kind& kind : kinds()) {
                    const std::string of(kind.name);
                    const bool named = line.find('"' + of + '"') != std::string::npos ||
                                       line.find("jobs/" + of + "/") != std::string::npos;
                    EXPECT_FALSE(named && !means_something_else(of, name)) << name << ": " << line;
                }
            }
        }
    }
    EXPECT_GT(files, 300);
}

} // namespace
} // namespace runner
