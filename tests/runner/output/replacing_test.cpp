// SPDX-License-Identifier: BSD-3-Clause
#include "runner/output/replacing.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace runner::output {
namespace {

using Names = std::vector<std::string>;

TEST(FirstForeignObject, IsNoneOfWhatWasMade) {
    const Names made = {"/@kind", "/image", "/image@CLASS"};
    EXPECT_EQ(first_foreign_object(made, "/@kind\n/image\n/image@CLASS\n"), std::nullopt);
    EXPECT_EQ(first_foreign_object(Names{}, ""), std::nullopt);
    EXPECT_EQ(first_foreign_object(Names{"/@objects"}, ""), std::nullopt) << "the record itself";
    EXPECT_EQ(first_foreign_object(Names{"/image"}, "/image\n/gone since\n"), std::nullopt);
}

TEST(FirstForeignObject, NamesTheFirst) {
    const Names names = {"/@kind", "/b", "/c"};
    EXPECT_EQ(first_foreign_object(names, "/@kind\n"), "/b");
    EXPECT_EQ(first_foreign_object(names, ""), "/@kind");
    EXPECT_EQ(first_foreign_object(names, "/@kind\n/b/c\n/c\n"), "/b") << "whole names";
}

} // namespace
} // namespace runner::output
