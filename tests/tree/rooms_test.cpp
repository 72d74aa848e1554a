// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_files_of_a_room = 30;

/// Foreign headers, by the start of their name, and the one folder of the top level that includes
/// them.
const std::map<std::string, std::string> home = {
    {"cuda", "kernels"},  {"cub/", "kernels"},  {"nvtx", "kernels"}, {"hwy/", "kernels"},
    {"hdf5", "io"},       {"H5", "io"},         {"png", "io"},       {"tiff", "io"},
    {"isa-l", "io"},      {"zstd", "io"},       {"xxhash", "io"},    {"zlib", "io"},
    {"lz4", "io"},        {"bzlib", "io"},      {"blosc", "io"},     {"libaec", "io"},
    {"libdeflate", "io"}, {"mpi", "runner"},    {"toml", "runner"},  {"hwloc", "runner"},
    {"CLI/", "cli"},      {"nlohmann", "base"}, {"fmt/", "base"}};

/// A room is a folder whose CMakeLists.txt calls runner_room(); its USES are the rooms it may
/// include from. runner_kind() adds to those of the folder above.
using Rooms = std::map<std::string, std::set<std::string>>;

std::string read_file(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// The words behind USES in a call, up to the next keyword.
std::set<std::string> used_rooms(const std::string& call) {
    std::istringstream words(call);
    std::set<std::string> used;
    bool listed = false;
    for (std::string word; words >> word;) {
        const bool keyword = std::all_of(word.begin(), word.end(), [](unsigned char c) {
            return std::isupper(c) != 0 || c == '_';
        });
        if (keyword) {
            listed = word == "USES";
        } else if (listed) {
            used.insert(word);
        }
    }
    return used;
}

const Rooms& rooms() {
    static const Rooms all = [] {
        Rooms found;
        const fs::path root(SOURCE_DIR);
        for (const char* top :
             {"base", "cli", "io", "jobs", "kernels", "runner", "slurm", "views"}) {
            for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
                if (entry.path().filename() != "CMakeLists.txt") {
                    continue;
                }
                const std::string text = read_file(entry.path());
                const fs::path folder = entry.path().parent_path().lexically_relative(root);
                for (const auto& [function, room] :
                     {std::pair("runner_room(", folder), {"runner_kind(", folder.parent_path()}}) {
                    if (const std::size_t begin = text.find(function); begin != std::string::npos) {
                        found[room.string()].merge(
                            used_rooms(text.substr(begin, text.find(')', begin) - begin)));
                    }
                }
            }
        }
        return found;
    }();
    return all;
}

/// The room of a file, or of a header's name; "" for none.
std::string room_of(fs::path file) {
    while (file.has_parent_path() && file.has_relative_path()) {
        file = file.parent_path();
        if (rooms().contains(file.string())) {
            return file.string();
        }
    }
    return "";
}

std::vector<fs::path> source_files(const std::string& room) {
    static const std::set<std::string> endings = {".hpp", ".cpp", ".cu", ".cuh", ".in"};
    std::vector<fs::path> files;
    const fs::path root(SOURCE_DIR);
    for (const auto& entry : fs::recursive_directory_iterator(root / room)) {
        const fs::path name = entry.path().lexically_relative(root);
        if (endings.contains(entry.path().extension().string()) && room_of(name) == room) {
            files.push_back(name);
        }
    }
    return files;
}

void for_each_include(
    const std::function<void(const std::string&, const fs::path&, const std::string&)>& see) {
    const std::regex include("^\\s*#\\s*include\\s*[<\"]([^>\"]+)[>\"]");
    for (const auto& [room, used] : rooms()) {
        for (const fs::path& name : source_files(room)) {
            std::ifstream file(fs::path(SOURCE_DIR) / name);
            for (std::string line; std::getline(file, line);) {
                std::smatch match;
                if (std::regex_search(line, match, include)) {
                    see(room, name, match[1].str());
                }
            }
        }
    }
}

TEST(Rooms, IncludeOnlyWhatTheirCMakeFileNames) {
    std::map<std::string, std::set<std::string>> included;
    for_each_include([&](const std::string& room, const fs::path& file, const std::string& header) {
        const std::string other = room_of(header);
        if (!other.empty() && other != room) {
            included[room].insert(other);
            EXPECT_TRUE(rooms().at(room).contains(other))
                << file << " includes " << header << ", and " << room
                << "/CMakeLists.txt does not name " << other << " among its USES";
        }
    });
    for (const auto& [room, used] : rooms()) {
        for (const std::string& other : used) {
            EXPECT_TRUE(included[room].contains(other))
                << room << "/CMakeLists.txt names " << other << ", which no file there includes";
        }
    }
    EXPECT_GT(rooms().size(), 25U);
}

TEST(Rooms, IncludeNoTestsAndBenchmarks) {
    for_each_include([](const std::string&, const fs::path& file, const std::string& header) {
        EXPECT_FALSE(header.starts_with("tests/") || header.starts_with("bench/"))
            << file << " includes " << header;
    });
}

TEST(Rooms, HaveNoCircle) {
    Rooms left = rooms();
    for (bool removed = true; removed;) { // a room that uses none of those left is on their bottom
        removed = false;
        for (auto room = left.begin(); room != left.end();) {
            const bool bottom =
                std::none_of(room->second.begin(), room->second.end(),
                             [&](const std::string& other) { return left.contains(other); });
            removed = removed || bottom;
            room = bottom ? left.erase(room) : std::next(room);
        }
    }
    for (const auto& [room, used] : left) {
        ADD_FAILURE() << room << " is in a circle, or above one";
    }
}

TEST(Rooms, HaveFewFiles) {
    for (const auto& [room, used] : rooms()) {
        std::map<fs::path, std::size_t> files;
        for (const fs::path& file : source_files(room)) {
            ++files[file.parent_path()];
        }
        for (const auto& [folder, count] : files) {
            EXPECT_LE(count, most_files_of_a_room) << folder;
        }
    }
}

TEST(Rooms, EachForeignApiHasOneHome) {
    std::set<std::string> met;
    for_each_include([&](const std::string& room, const fs::path& file, const std::string& header) {
        for (const auto& [prefix, owner] : home) {
            if (header.starts_with(prefix)) {
                met.insert(prefix);
                EXPECT_EQ(room.substr(0, room.find('/')), owner) << file << " includes " << header;
            }
        }
    });
    for (const char* prefix : {"mpi", "cuda", "hdf5", "CLI/"}) {
        EXPECT_TRUE(met.contains(prefix)) << prefix;
    }
}

} // namespace
