// SPDX-License-Identifier: BSD-3-Clause
// Metadata as HDF5 files keep it: what is written is read again. Files of h5py are in
// tests/end_to_end/metadata.py.
#include "io/metadata/axis_metadata.hpp"
#include "io/metadata/write_metadata.hpp"

#include "io/metadata/read_metadata.hpp"
#include "io/output/default_plot.hpp"
#include "tests/io/dataset_file.hpp"
#include "tests/io/metadata/metadata_values.hpp"
#include "tests/io/scratch_folder.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

namespace runner {
namespace {

/// A file with a dataset of 2 x 3, which its group has as its signal.
class WriteMetadata : public testing::Test {
  protected:
    void make(const std::string& dataset) const {
        write_dataset(file(), dataset, {2, 3}, std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6});
        write_default_plot(file(), dataset);
    }
    std::string file() const { return folder_ / "a.h5"; }
    Metadata read(const std::string& dataset) const { return read_metadata(file(), dataset, {}); }
    std::string bytes() const {
        std::ifstream from(file(), std::ios::binary);
        return {std::istreambuf_iterator<char>(from), {}};
    }

  private:
    ScratchFolder folder_;
};

/// One attribute of each kind and two axes' coordinates.
Metadata everything() {
    Metadata made;
    made.shape = {2, 3};
    PlainValue truth = numbers<std::int8_t>({0, 1});
    truth.kind = PlainValue::Kind::truth;
    PlainValue fixed = texts({"ab", "", "c"});
    fixed.text_bytes = 2;
    fixed.utf8 = true;
    PlainValue matrix = numbers<float>({1, 2, 3, 4});
    matrix.shape = {2, 2};
    PlainValue empty;
    empty.space = PlainValue::Space::empty;
    made.dataset = {{"empty", empty},
                    {"fixed", fixed},
                    {"gain", scalar(std::uint16_t{65535})},
                    {"list", numbers<std::int64_t>({-1, 5})},
                    {"matrix", matrix},
                    {"nothing", numbers<double>({})},
                    {"truth", truth},
                    {"units", text("mm")},
                    {"words", texts({"one", "", "three"})}};
    made.group = {{"run", scalar(12)}, {"title", text("a scan")}};
    made.axes = {"y", "x"};
    made.coordinates = {{"y", 0, numbers<double>({1, 2}), {{"units", text("mm")}}},
                        {"x", 1, numbers<std::int16_t>({0, 1, 2, 3}), {}}};
    return made;
}

TEST_F(WriteMetadata, IsReadAsItWasWritten) {
    make("/entry/data");
    EXPECT_TRUE(write_metadata(file(), "/entry/data", everything()).empty());
    EXPECT_EQ(read("/entry/data"), everything());
}

TEST_F(WriteMetadata, KeepsAxes) {
    make("/entry/data");
    Metadata metadata = everything();
    metadata.placement.each = {{"y", "mm", 0.5, 3.0}, {"x", "mm", 0.25}};
    set_axes(metadata, metadata.placement);
    EXPECT_TRUE(write_metadata(file(), "/entry/data", metadata).empty());
    const Metadata found = read("/entry/data");
    EXPECT_EQ(found.placement, metadata.placement);
    ASSERT_EQ(found.dataset.size() + 1, metadata.dataset.size());
    EXPECT_TRUE(std::any_of(found.dataset.begin(), found.dataset.end(), [](const auto& each) {
        return each.name == "element_size_um" && each.value.count() == 2;
    }));
    EXPECT_EQ(decode_metadata(encode_metadata(found)), found);
}

TEST_F(WriteMetadata, MakesTheSameBytes) {
    make("/entry/data");
    (void)write_metadata(file(), "/entry/data", everything());
    const std::string first = bytes();
    make("/entry/data");
    const std::string bare = bytes();
    (void)write_metadata(file(), "/entry/data", everything());
    EXPECT_EQ(bytes(), first);
    EXPECT_NE(bytes(), bare);
}

TEST_F(WriteMetadata, OfNothingLeavesTheFile) {
    make("/entry/data");
    const std::string bare = bytes();
    Metadata nothing;
    nothing.shape = {2, 3};
    nothing.left_out = {"for people"};
    EXPECT_TRUE(write_metadata(file(), "/entry/data", nothing).empty());
    EXPECT_EQ(bytes(), bare);
}

TEST_F(WriteMetadata, LeavesWhatIsThere) {
    make("/entry/data");
    (void)write_metadata(file(), "/entry/data", everything());
    Metadata other = everything();
    other.dataset = {{"units", text("inch")}, {"new", scalar(1)}};
    other.group = {{"title", text("another")}};
    other.axes = {"z", "x"};
    other.coordinates = {{"x", 1, numbers<double>({7, 8, 9}), {}},
                         {"z", 0, numbers<double>({5, 6}), {}}};
    EXPECT_EQ(write_metadata(file(), "/entry/data", other),
              std::vector<std::string>{"x: the output has something else of that name"});
    const Metadata found = read("/entry/data");
    EXPECT_EQ(found.group, everything().group);
    EXPECT_EQ(found.axes, everything().axes);
    ASSERT_EQ(found.dataset.size(), everything().dataset.size() + 1);
    EXPECT_EQ(found.dataset[5].name, "new");
    EXPECT_EQ(found.dataset[8].value, text("mm"));
    ASSERT_EQ(found.coordinates.size(), 3U); // z is one of axis 0 too
    EXPECT_EQ(found.coordinates[1].values, numbers<std::int16_t>({0, 1, 2, 3}));
    EXPECT_EQ(found.coordinates[2].name, "z");
    EXPECT_EQ(found.coordinates[2].axis, 0);
}

TEST_F(WriteMetadata, InTheRootHasOnlyATitleOfTheGroup) {
    make("/data");
    Metadata metadata = everything();
    metadata.dataset.clear();
    (void)write_metadata(file(), "/data", metadata);
    const Metadata found = read("/data");
    EXPECT_TRUE(found.group.empty()); // the root's are the file's own
    EXPECT_EQ(found.axes, everything().axes);
    EXPECT_EQ(found.coordinates, everything().coordinates);
}

TEST_F(WriteMetadata, OfAxesWithoutCoordinatesIsNotWritten) {
    make("/entry/data");
    Metadata metadata = everything();
    metadata.axes = {".", "."};
    metadata.coordinates.clear();
    (void)write_metadata(file(), "/entry/data", metadata);
    EXPECT_TRUE(read("/entry/data").axes.empty());
    EXPECT_EQ(read("/entry/data").dataset, everything().dataset);
}

} // namespace
} // namespace runner
