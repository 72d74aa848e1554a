// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/file_names.hpp"

#include "base/error.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <unistd.h>

namespace runner {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

TEST(PathPattern, MatchesAsAShellDoes) {
    struct Case {
        const char* pattern;
        const char* path;
        bool matches;
    };
    for (const Case& one : std::initializer_list<Case>{
             {"a.h5", "a.h5", true},
             {"a.h5", "b.h5", false},
             {"*.h5", "a.h5", true},
             {"*.h5", "a.h5.partial", false},
             {"*.h5", "b/a.h5", false},
             {"*.h5", ".a.h5", false},
             {".*.h5", ".a.h5", true},
             {"*", "a", true},
             {"a*b*c", "axxbyyc", true},
             {"a*b*c", "axxbyy", false},
             {"*ab", "aab", true},
             {"?.h5", "a.h5", true},
             {"?.h5", ".h5", false},
             {"?.h5", "ab.h5", false},
             {"?.h5", "\xc3\xa4.h5", true}, // one character of two bytes
             {"**/a.h5", "a.h5", true},
             {"**/a.h5", "b/c/a.h5", true},
             {"**/a.h5", ".b/a.h5", false},
             {"s/**/*.h5", "s/a.h5", true},
             {"s/**/*.h5", "s/t/u/a.h5", true},
             {"s/**/*.h5", "t/a.h5", false},
             {"s/**", "s/t/a", true},
             {"s/**", "s", false},
             {"**/**/a", "a", true},
             {"./s//a", "s/./a", true},
             {"/s/*", "/s/a", true},
             {"/s/*", "s/a", false},
             {"a[1].h5", "a[1].h5", true},
             {"a[1].h5", "a1.h5", false},
         }) {
        EXPECT_EQ(matches_pattern(one.pattern, one.path), one.matches)
            << one.pattern << " " << one.path;
    }
}

class ExpandPattern : public testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "path_pattern.XXXXXX").string();
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
        fs::current_path(folder_);
        for (const char* name :
             {"s/b.h5", "s/a.h5", "s/t/c.h5", "s/t/u/d.h5", "s/.e.h5", "s/.f/g.h5", "s/n.txt"}) {
            fs::create_directories(fs::path(name).parent_path());
            std::ofstream(name) << "x";
        }
        fs::create_directories("s/folder.h5");
    }
    void TearDown() override {
        fs::current_path("/");
        fs::remove_all(folder_);
    }

  private:
    fs::path folder_;
};

TEST_F(ExpandPattern, FindsFilesSortedAndOnce) {
    EXPECT_EQ(expand_pattern("s/*.h5").files, (Names{"s/a.h5", "s/b.h5"}));
    const Names all = {"s/a.h5", "s/b.h5", "s/t/c.h5", "s/t/u/d.h5"};
    EXPECT_EQ(expand_pattern("s/**/*.h5").files, all);
    EXPECT_EQ(expand_pattern("**/s/**/**/*.h5").files, all);
    EXPECT_EQ(expand_pattern("./s/*/?.h5").files, Names{"s/t/c.h5"});
    EXPECT_EQ(expand_pattern("s/**/.*.h5").files, Names{"s/.e.h5"});
    EXPECT_EQ(expand_pattern("s/a.h5").files, Names{"s/a.h5"});
    EXPECT_EQ(expand_pattern("s/x*.h5").files, Names{});
    EXPECT_EQ(expand_pattern("nowhere/*.h5").files, Names{});
    for (const std::string& file : expand_pattern((fs::current_path() / "**").string()).files) {
        EXPECT_TRUE(file.starts_with("/")) << file;
    }
}

TEST_F(ExpandPattern, GoesIntoLinksOnlyByName) {
    fs::create_directory_symlink("..", "s/t/up"); // round and round
    fs::create_directory_symlink("t", "s/link");
    fs::create_symlink("a.h5", "s/z.h5");
    EXPECT_EQ(expand_pattern("s/**/*.h5").files,
              (Names{"s/a.h5", "s/b.h5", "s/t/c.h5", "s/t/u/d.h5", "s/z.h5"}));
    EXPECT_EQ(expand_pattern("s/l*/*.h5").files, Names{"s/link/c.h5"});
}

} // namespace
} // namespace runner
