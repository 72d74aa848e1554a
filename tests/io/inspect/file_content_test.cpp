// SPDX-License-Identifier: BSD-3-Clause
// What an HDF5 file says beside its elements: attributes, links, marks of colour, its default.
#include "io/inspect/file_content.hpp"

#include "io/hdf5/attributes.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/hdf5/hdf5_handle.hpp"
#include "io/inspect/attribute_list.hpp"
#include "io/inspect/colour_marks.hpp"
#include "io/inspect/default_signal.hpp"
#include "io/inspect/frame_key.hpp"
#include "tests/io/scratch_folder.hpp"

#include <array>

#include <gtest/gtest.h>

namespace runner {
namespace {

using Texts = std::vector<std::string>;
using Shape = std::vector<std::int64_t>;

/// A file that is made piece by piece, by HDF5 alone.
class Hdf5Content : public testing::Test {
  protected:
    std::string file() const { return folder_ / "a.h5"; }

    void SetUp() override {
        handle_ = FileHandle(H5Fcreate(file().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
    }
    void group(const std::string& path) const {
        const GroupId made(
            H5Gcreate2(handle_.get(), path.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        ASSERT_TRUE(made.valid());
    }
    void dataset(const std::string& path, const std::vector<hsize_t>& shape) const {
        const SpaceHandle space(
            H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr));
        const DatasetHandle made(H5Dcreate2(handle_.get(), path.c_str(), H5T_STD_U16LE, space.get(),
                                            H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        ASSERT_TRUE(made.valid());
    }
    ObjectHandle open(const std::string& path) const {
        return ObjectHandle(H5Oopen(handle_.get(), path.c_str(), H5P_DEFAULT));
    }
    void text(const std::string& path, const std::string& name, const std::string& value) const {
        write_text(open(path).get(), file(), name, value);
    }
    template <class T>
    void numbers(const std::string& path, const std::string& name, hid_t type,
                 const std::vector<T>& values, bool scalar = false) const {
        const hsize_t count = values.size();
        const SpaceHandle space(scalar ? H5Screate(H5S_SCALAR)
                                       : H5Screate_simple(1, &count, nullptr));
        write_attribute(open(path).get(), file(), name, type, space, values.data());
    }
    /// "DATASET KEY", or "" where the file names none; "DATASET !FAULT" where its key has one.
    std::string found() const {
        std::string dataset;
        const OutsideFiles outside(file(), {});
        const auto failure = error_of([&] { dataset = default_signal(handle_, file(), outside); });
        return failure ? "" : dataset + " " + key_of(dataset);
    }
    std::string key_of(const std::string& dataset) const {
        const FrameKey key = find_frame_key(handle_, file(), dataset, OutsideFiles(file(), {}));
        return key.fault.empty() ? key.key : "!" + key.fault;
    }
    const FileHandle& handle() const { return handle_; }
    void close() { handle_ = {}; }

  private:
    using GroupId = ObjectHandle;
    ScratchFolder folder_;
    FileHandle handle_;
};

TEST_F(Hdf5Content, HasEachAttributeAsItIs) {
    numbers<std::int8_t>("/", "a one", H5T_NATIVE_INT8, {-5}, true);
    numbers<std::int8_t>("/", "b list of one", H5T_NATIVE_INT8, {7});
    numbers<float>("/", "c numbers", H5T_NATIVE_FLOAT, {0.5F, -2});
    text("/", "d text", "a\nb");
    write_texts(open("/").get(), file(), "e texts", {"x", "", "yz"});
    numbers<std::int32_t>("/", "f many", H5T_NATIVE_INT32, std::vector<std::int32_t>(65));
    numbers<std::uint32_t>("/", "g bits", H5T_NATIVE_B32, {1, 2});
    const AttributeList wanted = {{"a one", std::int64_t{-5}},
                                  {"b list of one", std::vector<std::int64_t>{7}},
                                  {"c numbers", std::vector<double>{0.5, -2}},
                                  {"d text", std::string("a\nb")},
                                  {"e texts", Texts{"x", "", "yz"}},
                                  {"f many", std::string("65 values, each int32")},
                                  {"g bits", std::string("2 values, each bit field of 4 bytes")}};
    EXPECT_EQ(attributes_of(open("/").get()), wanted);
}

TEST_F(Hdf5Content, TellsTheTextOfAnAttributeAndNothingElse) {
    const std::array<char, 6> fixed = {'a', 'b', ' ', ' ', '\0', 'x'};
    const TypeHandle type(H5Tcopy(H5T_C_S1));
    H5Tset_size(type.get(), fixed.size());
    write_attribute(open("/").get(), file(), "fixed", type.get(),
                    SpaceHandle(H5Screate(H5S_SCALAR)), fixed.data());
    text("/", "any length", "ab  ");
    write_texts(open("/").get(), file(), "list of one", {"ab"});
    write_texts(open("/").get(), file(), "two", {"ab", "c"});
    write_texts(open("/").get(), file(), "many", Texts(65, "ab"));
    numbers<std::int32_t>("/", "number", H5T_NATIVE_INT32, {1}, true);
    numbers<std::uint32_t>("/", "bits", H5T_NATIVE_B32, {1}, true);
    const ObjectHandle root = open("/");
    for (const char* const name : {"fixed", "any length", "list of one"}) {
        EXPECT_EQ(text_of_attribute(root.get(), name), "ab") << name;
    }
    for (const char* const name : {"two", "many", "number", "bits", "none"}) {
        EXPECT_EQ(text_of_attribute(root.get(), name), std::nullopt) << name;
    }
}

TEST_F(Hdf5Content, FollowsLinks) {
    group("/g");
    dataset("/g/d", {4, 5});
    H5Lcreate_soft("/g/d", handle().get(), "/soft", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/g", handle().get(), "/to group", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/none", handle().get(), "/g/nowhere", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_external("none.h5", "/d", handle().get(), "/outside", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_external("a.h5", "/g/d", handle().get(), "/self", H5P_DEFAULT, H5P_DEFAULT);
    close();
    const std::vector<LinkContent> links = file_content(file()).links;
    ASSERT_EQ(links.size(), 5U);
    const auto is = [](const LinkContent& link, const Texts& wanted) {
        EXPECT_EQ((Texts{link.path, link.kind, link.target}), wanted);
    };
    is(links[0], {"/g/nowhere", "soft link", "/none"});
    EXPECT_TRUE(links[0].leads_to.starts_with("dangling")) << links[0].leads_to;
    is(links[1], {"/outside", "external link", "none.h5:/d"});
    EXPECT_TRUE(links[1].leads_to.starts_with("dangling: ")) << links[1].leads_to;
    is(links[2], {"/self", "external link", "a.h5:/g/d"});
    EXPECT_EQ(links[2].leads_to, "uint16 [4, 5]");
    is(links[3], {"/soft", "soft link", "/g/d"});
    EXPECT_EQ(links[3].leads_to, "uint16 [4, 5]");
    is(links[4], {"/to group", "soft link", "/g"});
    EXPECT_EQ(links[4].leads_to, "group");
    EXPECT_EQ((std::vector<bool>{links[0].is_dataset, links[1].is_dataset, links[2].is_dataset,
                                 links[3].is_dataset, links[4].is_dataset}),
              (std::vector<bool>{false, false, true, true, false}));
}

TEST_F(Hdf5Content, HasEachDataset) {
    group("/g");
    dataset("/g/d", {4, 5});
    dataset("/a", {3});
    text("/g/d", "units", "mm");
    close();
    const FileContent content = file_content(file());
    EXPECT_EQ(content.format, "HDF5");
    EXPECT_EQ(content.bytes, std::int64_t(std::filesystem::file_size(file())));
    ASSERT_EQ(content.datasets.size(), 2U);
    EXPECT_EQ(content.datasets[0].path, "/a");
    const DatasetContent& second = content.datasets[1];
    EXPECT_EQ(second.path, "/g/d");
    EXPECT_EQ(second.type, "uint16");
    EXPECT_EQ(second.shape, (Shape{4, 5}));
    EXPECT_EQ(second.bytes, 40);
    EXPECT_EQ(second.stored_bytes, 0); // nothing was written
    EXPECT_EQ(second.offset, std::nullopt);
    EXPECT_EQ(second.attributes, (AttributeList{{"units", std::string("mm")}}));
    EXPECT_EQ(dataset_content(file(), "g/d").path, "/g/d");
}

TEST_F(Hdf5Content, KnowsColourByEitherConvention) {
    dataset("/d", {6, 5, 3});
    const auto channels = [&](const Shape& shape) {
        return marked_channels(open("/d").get(), shape);
    };
    EXPECT_EQ(channels({6, 5, 3}), std::nullopt);
    const std::vector<std::pair<std::string, std::optional<int>>> words = {
        {"rgb-image", 3}, {"hsl-image", 3}, {"image", 1},  {"spectrum", 1},
        {"scalar", 1},    {"scaler", 1},    {"vertex", {}}};
    for (const auto& [word, wanted] : words) {
        text("/d", "interpretation", word);
        EXPECT_EQ(channels({6, 5, 3}), wanted) << word;
        EXPECT_EQ(channels({5, 3}), std::nullopt) << word; // no axis is left for colour
    }
    for (const char* const word : {"rgba-image", "hsla-image", "cmyk-image"}) {
        text("/d", "interpretation", word);
        EXPECT_EQ(channels({6, 5, 4}), 4) << word;
        EXPECT_EQ(channels({6, 5, 3}), std::nullopt) << word;
    }
    text("/d", "interpretation", "vertex"); // says nothing: HDF5's own convention does
    text("/d", "CLASS", "IMAGE");
    EXPECT_EQ(channels({6, 5, 3}), std::nullopt);
    text("/d", "IMAGE_SUBCLASS", "IMAGE_GRAYSCALE");
    EXPECT_EQ(channels({6, 5, 3}), 1);
    text("/d", "IMAGE_SUBCLASS", "IMAGE_TRUECOLOR");
    EXPECT_EQ(channels({6, 5, 3}), 3);
    text("/d", "INTERLACE_MODE", "INTERLACE_PIXEL");
    EXPECT_EQ(channels({6, 5, 3}), 3);
    text("/d", "INTERLACE_MODE", "INTERLACE_PLANE"); // colour is the first axis
    EXPECT_EQ(channels({6, 5, 3}), std::nullopt);
}

TEST_F(Hdf5Content, MarksImagesAsItKnowsThem) {
    for (const int number : {1, 3, 4}) {
        const std::string path = "/d" + std::to_string(number);
        dataset(path, {6, 5, static_cast<hsize_t>(number)});
        const Shape shape = {6, 5, number};
        mark_image(open(path).get(), file(), shape, number);
        EXPECT_EQ(marked_channels(open(path).get(), shape), number);
        EXPECT_EQ(text_of_attribute(open(path).get(), "CLASS").has_value(), number == 3);
    }
    dataset("/grey", {6, 5});
    mark_image(open("/grey").get(), file(), Shape{6, 5}, 1);
    EXPECT_EQ(text_of_attribute(open("/grey").get(), "IMAGE_SUBCLASS"), "IMAGE_GRAYSCALE");
}

TEST_F(Hdf5Content, FindsTheDefaultThatItsAttributesName) {
    group("/e");
    group("/e/x");
    dataset("/e/x/counts", {4, 5});
    EXPECT_EQ(found(), "/e/x/counts "); // the only one
    dataset("/e/x/other", {4, 5});
    EXPECT_EQ(found(), "");
    text("/", "default", "e");
    text("/e", "default", "/e/x");
    EXPECT_EQ(found(), "");
    text("/e/x", "signal", "counts");
    EXPECT_EQ(found(), "/e/x/counts ");
    text("/e/x", "signal", "none");
    EXPECT_EQ(found(), "");
}

TEST_F(Hdf5Content, FindsTheDefaultByClasses) {
    for (const char* const path : {"/a", "/e", "/e/b", "/e/x"}) {
        group(path);
    }
    text("/e", "NX_class", "NXentry");
    text("/e/x", "NX_class", "NXdata");
    EXPECT_EQ(found(), "");
    dataset("/e/x/data", {4, 5});
    EXPECT_EQ(found(), "/e/x/data ");
    dataset("/e/x/other", {4, 5});
    numbers<std::int32_t>("/e/x/other", "signal", H5T_NATIVE_INT32, {1}, true);
    EXPECT_EQ(found(), "/e/x/other ");
    numbers<std::int32_t>("/e/x/other", "signal", H5T_NATIVE_INT32, {2}, true);
    EXPECT_EQ(found(), "/e/x/data ");
    text("/e/x/other", "signal", "1");
    EXPECT_EQ(found(), "/e/x/other ");
}

TEST_F(Hdf5Content, PassesOverNamesThatAreNoText) {
    group("/e");
    text("/e", "NX_class", "NXdata");
    dataset("/e/data", {4, 5});
    numbers<std::uint32_t>("/", "default", H5T_NATIVE_B32, {1}, true);
    numbers<std::uint32_t>("/e", "signal", H5T_NATIVE_B32, {1}, true);
    EXPECT_EQ(found(), "/e/data ");
}

TEST_F(Hdf5Content, FindsTheKeyOfAScan) {
    for (const char* const path : {"/e", "/e/x", "/e/instrument", "/e/instrument/d"}) {
        group(path);
    }
    text("/e", "NX_class", "NXentry");
    text("/e/x", "NX_class", "NXdata");
    text("/e/x", "signal", "data");
    dataset("/e/x/data", {4, 5, 6});
    dataset("/e/x/image_key", {5}); // not as long as the frames are many
    EXPECT_EQ(found(),
              "/e/x/data !/e/x/image_key has 5 numbers, its shape is [5], and /e/x/data has "
              "4 frames of shape [5, 6]");
    dataset("/e/x/other", {5, 5, 6}); // as many as this one's
    EXPECT_EQ(found(), "/e/x/data ");
    EXPECT_EQ(key_of("/e/x/other"), "/e/x/image_key");
    dataset("/e/instrument/d/image_key", {4});
    EXPECT_EQ(found(), "/e/x/data /e/instrument/d/image_key");
    H5Ldelete(handle().get(), "/e/x/image_key", H5P_DEFAULT);
    dataset("/e/x/image_key", {4});
    EXPECT_EQ(found(), "/e/x/data /e/x/image_key");
    EXPECT_EQ(key_of("/e/x/image_key"), "");
    EXPECT_EQ(key_of("e/x/data"), "/e/x/image_key");
    H5Ldelete(handle().get(), "/e/x/image_key", H5P_DEFAULT);
    dataset("/e/x/image_key", {4, 1});
    EXPECT_EQ(key_of("/e/x/data"), "/e/x/image_key");
}

TEST_F(Hdf5Content, EndsWhereDefaultsLeadInACircle) {
    group("/e");
    text("/", "default", "e");
    text("/e", "default", "/");
    EXPECT_EQ(found(), "");
}

} // namespace
} // namespace runner
