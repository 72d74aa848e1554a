// SPDX-License-Identifier: BSD-3-Clause
#include "runner/job_file/output_name.hpp"

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
