// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/object_names.hpp"

#include "tests/io/dataset_file.hpp"
#include "tests/io/scratch_folder.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hdf5.h>

namespace runner {
namespace {

using Names = std::vector<std::string>;

/// Opens the file for writing and lets `change` change it.
template <class Change> void change_file(const std::string& path, const Change& change) {
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    ASSERT_GE(file, 0);
    change(file);
    ASSERT_GE(H5Fclose(file), 0);
}

void add_group(hid_t file, const char* name) {
    const hid_t group = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    ASSERT_GE(group, 0);
    ASSERT_GE(H5Gclose(group), 0);
}

void add_attribute(hid_t object, const char* name) {
    const hid_t space = H5Screate(H5S_SCALAR);
    const hid_t attribute =
        H5Acreate2(object, name, H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT);
    ASSERT_GE(attribute, 0);
    ASSERT_GE(H5Aclose(attribute), 0);
    ASSERT_GE(H5Sclose(space), 0);
}

struct ObjectNames : testing::Test {
    ObjectNames() { write_dataset(file, "/a", {2, 2}, std::vector<std::uint8_t>(4, 1)); }
    ScratchFolder folder;
    std::string file = folder / "x.h5";
};

TEST_F(ObjectNames, ListsObjectsLinksAndAttributes) {
    EXPECT_EQ(object_names(file), (Names{"/a"}));
    change_file(file, [](hid_t id) {
        add_group(id, "g");
        add_attribute(id, "root");
        const hid_t group = H5Gopen2(id, "g", H5P_DEFAULT);
        add_attribute(group, "of g");
        ASSERT_GE(H5Lcreate_hard(id, "a", group, "same", H5P_DEFAULT, H5P_DEFAULT), 0);
        ASSERT_GE(H5Lcreate_hard(id, "g", group, "circle", H5P_DEFAULT, H5P_DEFAULT), 0);
        ASSERT_GE(H5Lcreate_soft("/nowhere", group, "soft", H5P_DEFAULT, H5P_DEFAULT), 0);
        ASSERT_GE(H5Lcreate_external("none.h5", "/x", group, "outside", H5P_DEFAULT, H5P_DEFAULT),
                  0);
        ASSERT_GE(H5Gclose(group), 0);
        const hid_t type = H5Tcopy(H5T_NATIVE_INT);
        ASSERT_GE(H5Tcommit2(id, "type", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), 0);
        ASSERT_GE(H5Tclose(type), 0);
    });
    EXPECT_EQ(object_names(file),
              (Names{"/@root", "/a", "/g", "/g@of g", "/g/circle", "/g/circle@of g", "/g/outside",
                     "/g/same", "/g/soft", "/type"}));
}

TEST_F(ObjectNames, EachIsOneLine) {
    change_file(file, [](hid_t id) {
        add_group(id, "b\nc");
        add_group(id, "d\\nc");
    });
    EXPECT_EQ(object_names(file), (Names{"/a", "/b\\nc", "/d\\\\nc"}));
}

TEST_F(ObjectNames, StopsAtTheMost) {
    change_file(file, [](hid_t id) {
        for (std::size_t i = 0; i < most_object_names + 10; ++i) {
            add_group(id, ("g" + std::to_string(10000 + i)).c_str());
        }
    });
    const Names names = object_names(file);
    EXPECT_EQ(names.size(), most_object_names);
    EXPECT_EQ(names.front(), "/a");
    EXPECT_EQ(names.back(), "/g10998");
}

TEST_F(ObjectNames, RefusesWhatIsNotHdf5) {
    const auto error = error_of([&] { (void)object_names(folder / "none.h5"); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ExitCode::input);
}

} // namespace
} // namespace runner
