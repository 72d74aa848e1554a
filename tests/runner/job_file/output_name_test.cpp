// SPDX-License-Identifier: BSD-3-Clause
#include "runner/job_file/output_name.hpp"

#include "base/error.hpp"
#include "tests/io/scratch_folder.hpp"

#include <string>

#include <gtest/gtest.h>

namespace runner {
namespace {

TEST(OutputName, PutsThePartsIn) {
    const NameParts parts{"scans/b/x.y.h5", "sand", "demo"};
    EXPECT_EQ(output_name("out/{stem}_{kind}.h5", parts), "out/x.y_sand.h5");
    EXPECT_EQ(output_name("out/{dir}/{name}-{stem}{stem}.h5", parts), "out/scans/b/demo-x.yx.y.h5");
    EXPECT_EQ(output_name("{dir}/../{stem}", parts), "scans/x.y");
    EXPECT_EQ(output_name("out/{dir}/{stem}", {"a.h5", "", ""}), "out/a");
    EXPECT_EQ(output_name("out/{dir}/{stem}", {"/data/a.h5", "", ""}), "out/data/a");
    // What a name holds is not expanded again.
    EXPECT_EQ(output_name("{stem}.h5", {"{dir}.h5", "", ""}), "{dir}.h5");
}

TEST(OutputName, LeadsNowhereElse) {
    const NameParts dots{"in/...npy", "bin", "demo"}; // {stem} is ".."
    for (const char* pattern : {"out/{stem}/r.npy", "{stem}", "{stem}/r.npy", "out/{stem}"}) {
        EXPECT_TRUE(filling_fault(pattern, dots)) << pattern;
        const auto error = error_of([&] { (void)output_name(pattern, dots); });
        ASSERT_TRUE(error) << pattern;
        EXPECT_EQ(error->code(), ExitCode::usage);
        EXPECT_NE(std::string(error->what()).find("in/...npy"), std::string::npos);
    }
    EXPECT_EQ(output_name("out/{stem}.npy", dots), "out/...npy");
    const NameParts dot{"in/..npy", "bin", "."}; // {stem} is "."
    for (const char* pattern : {"out/{stem}/r", "out/.{stem}/r", "out/{stem}{stem}/r",
                                "out/{name}/r", "out/{name}{stem}/r", "out/{name}."}) {
        EXPECT_TRUE(filling_fault(pattern, dot)) << pattern;
    }
    for (const char* name : {"", "a/b", "/", "..", "../x", "/etc"}) {
        EXPECT_TRUE(filling_fault("out/{name}/r", {"a.h5", "bin", name})) << name;
        EXPECT_TRUE(filling_fault("{dir}/{name}", {"x/a.h5", "bin", name})) << name;
    }
    EXPECT_TRUE(filling_fault("out/{name}.h5", {"a.h5", "bin", std::string("a\0b", 3)}));
    EXPECT_TRUE(filling_fault("out/{dir}{name}/r", {"x/a.h5", "bin", "a/b"}));
}

TEST(OutputName, FollowsTheInputsFolderOnlyFromTheFirst) {
    const NameParts above{"../raw/a.h5", "bin", "demo"};
    EXPECT_EQ(output_name("{dir}/{stem}", above), "../raw/a");
    EXPECT_EQ(output_name("./{dir}/{stem}", above), "../raw/a");
    EXPECT_EQ(output_name("{dir}_made/{stem}", above), "../raw_made/a");
    for (const char* pattern : {"out/{dir}/{stem}", "out/{dir}x/{stem}"}) {
        EXPECT_TRUE(filling_fault(pattern, above)) << pattern;
    }
    EXPECT_EQ(output_name("out/x{dir}/{stem}", above), "out/x../raw/a");
    EXPECT_TRUE(filling_fault("{dir}./{stem}", {"a.h5", "bin", "demo"})); // ".."
    EXPECT_EQ(output_name("out/{dir}/{stem}", {"a.h5", "bin", "demo"}), "out/a");
}

TEST(OutputName, FindsFaults) {
    for (const char* good : {"a", "out/{stem}.h5", "{dir}/{stem}{kind}{name}"}) {
        EXPECT_FALSE(name_fault(good)) << good;
    }
    for (const char* bad : {"", "out/", "{stem", "stem}", "{{stem}}", "{}", "{stam}"}) {
        EXPECT_TRUE(name_fault(bad)) << bad;
    }
    const std::optional<NameFault> fault = name_fault("out/{stam}.h5");
    ASSERT_TRUE(fault);
    EXPECT_EQ(fault->at, 4U);
    EXPECT_NE(fault->text.find("did you mean {stem}?"), std::string::npos) << fault->text;
}

TEST(OutputName, KnowsTheFolderOfAll) {
    EXPECT_EQ(common_folder("out/{stem}.h5"), "out");
    EXPECT_EQ(common_folder("out/a{stem}/b.h5"), "out");
    EXPECT_EQ(common_folder("{dir}/{stem}.h5"), ".");
    EXPECT_EQ(common_folder("/x/y/{dir}/{stem}.h5"), "/x/y");
    EXPECT_EQ(common_folder("all.h5"), ".");
}

} // namespace
} // namespace runner
