// SPDX-License-Identifier: BSD-3-Clause
// The checksums that a finished output holds, and lists of them that are not to be trusted.
#include "io/writers/row_hashes.hpp"

#include "io/hdf5/hdf5_handle.hpp"
#include "io/input/open_rows.hpp"
#include "tests/io/dataset_file.hpp"
#include "tests/io/scratch_folder.hpp"

#include <array>
#include <limits>

#include <gtest/gtest.h>

namespace runner {
namespace {

using List = std::vector<std::uint64_t>;

OwnFiles& own_files() {
    static OwnFiles files;
    return files;
}

void make_output(const std::string& file) {
    write_dataset(file, "/image", {6, 4}, std::vector<float>(24, 1.5F));
}

/// What somebody may have stored where the checksums are expected.
struct Stored {
    hid_t type = H5T_STD_U64LE;
    std::vector<hsize_t> shape;
    std::vector<hsize_t> chunk; ///< nothing: contiguous
};

void store(const std::string& file, const Stored& stored, const List& list) {
    make_output(file);
    FileHandle handle(H5Fopen(file.c_str(), H5F_ACC_RDWR, H5P_DEFAULT));
    const PropertyHandle links(H5Pcreate(H5P_LINK_CREATE));
    ASSERT_GE(H5Pset_create_intermediate_group(links.get(), 1), 0);
    const PropertyHandle creation(H5Pcreate(H5P_DATASET_CREATE));
    if (!stored.chunk.empty()) {
        ASSERT_GE(H5Pset_chunk(creation.get(), static_cast<int>(stored.chunk.size()),
                               stored.chunk.data()),
                  0);
        ASSERT_GE(H5Pset_deflate(creation.get(), 6), 0);
    }
    const SpaceHandle space(
        H5Screate_simple(static_cast<int>(stored.shape.size()), stored.shape.data(), nullptr));
    DatasetHandle dataset(H5Dcreate2(handle.get(), row_hashes_dataset, stored.type, space.get(),
                                     links.get(), creation.get(), H5P_DEFAULT));
    ASSERT_TRUE(dataset.valid());
    if (!list.empty()) {
        ASSERT_GE(
            H5Dwrite(dataset.get(), H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, list.data()),
            0);
    }
    ASSERT_TRUE(dataset.close());
    ASSERT_TRUE(handle.close());
}

void expect_refused(const std::string& file, const std::string& why) {
    const auto error = error_of([&] { read_row_hashes(own_files(), file, 6); });
    ASSERT_TRUE(error) << why;
    EXPECT_EQ(error->code(), ExitCode::input);
    EXPECT_NE(std::string(error->what()).find(why), std::string::npos) << error->what();
    EXPECT_NE(std::string(error->what()).find(file), std::string::npos) << error->what();
}

TEST(RowHashes, AreGivenBackAsStored) {
    const ScratchFolder folder;
    make_output(folder / "a.h5");
    const std::vector<RowHash> hashes = {
        {0, 1, 5}, {1, 4, std::numeric_limits<std::uint64_t>::max()}, {5, 1, 0}};
    write_row_hashes(folder / "a.h5", hashes);
    EXPECT_EQ(read_row_hashes(own_files(), folder / "a.h5", 6), hashes);
    EXPECT_EQ(read_dataset<float>(folder / "a.h5", "/image"), std::vector<float>(24, 1.5F));
    // Any HDF5 program sees them: n × 3 unsigned integers.
    EXPECT_EQ(read_dataset<std::uint64_t>(folder / "a.h5", row_hashes_dataset),
              (List{0, 1, 5, 1, 4, std::numeric_limits<std::uint64_t>::max(), 5, 1, 0}));
}

TEST(RowHashes, AreStoredOnce) {
    const ScratchFolder folder;
    make_output(folder / "a.h5");
    write_row_hashes(folder / "a.h5", {{0, 6, 5}});
    const auto error = error_of([&] { write_row_hashes(folder / "a.h5", {{0, 6, 6}}); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ExitCode::output);
    EXPECT_EQ(read_row_hashes(own_files(), folder / "a.h5", 6), (std::vector<RowHash>{{0, 6, 5}}));
}

TEST(RowHashes, AreReadFromARepackedFileToo) {
    const ScratchFolder folder;
    List list;
    for (std::uint64_t row = 0; row < 600; ++row) {
        list.insert(list.end(), {row, 1, 7});
    }
    store(folder / "a.h5", {H5T_STD_U64BE, {600, 3}, {600, 3}}, list);
    const auto hashes = read_row_hashes(own_files(), folder / "a.h5", 600);
    ASSERT_EQ(hashes.size(), 600U);
    EXPECT_EQ(hashes[599], (RowHash{599, 1, 7}));
}

TEST(RowHashes, MustCoverEachRowOnce) {
    constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
    const ScratchFolder folder;
    int number = 0;
    for (const auto& [list, why] : std::vector<std::pair<List, std::string>>{
             {{1, 5, 0}, "line 0"},
             {{0, 3, 0, 4, 2, 0}, "line 1"},          // a gap
             {{0, 3, 0, 2, 4, 0}, "line 1"},          // twice
             {{0, 3, 0, 0, 3, 0}, "line 1"},          // from the start again
             {{0, 3, 0, 3, 0, 0, 3, 3, 0}, "line 1"}, // a run of none
             {{0, 7, 0}, "line 0"},                   // beyond the end
             {{0, largest, 0}, "line 0"},
             {{0, 3, 0, 3, largest - 2, 0}, "line 1"},
             {{largest, 1, 0}, "line 0"},
             {{0, 3, 0, 3, 2, 0}, "row 5 of 6"},
         }) {
        const std::string file = folder / std::to_string(number++);
        store(file, {H5T_STD_U64LE, {list.size() / 3, 3}, {}}, list);
        expect_refused(file, why);
    }
    store(folder / "none", {H5T_STD_U64LE, {0, 3}, {}}, {});
    expect_refused(folder / "none", "an axis of extent 0");
}

TEST(RowHashes, MustBeAListOfNumbers) {
    const ScratchFolder folder;
    make_output(folder / "without");
    expect_refused(folder / "without", "there are none");
    store(folder / "two", {H5T_STD_U64LE, {1, 2}, {}}, {0, 6});
    expect_refused(folder / "two", "n × 3 numbers");
    store(folder / "line", {H5T_STD_U64LE, {3}, {}}, {0, 6, 1});
    expect_refused(folder / "line", "n × 3 numbers");
    store(folder / "deep", {H5T_STD_U64LE, {1, 3, 1}, {}}, {0, 6, 1});
    expect_refused(folder / "deep", "n × 3 numbers");
    store(folder / "text", {H5T_C_S1, {1, 3}, {}}, {});
    expect_refused(folder / "text", "n × 3 numbers");
    store(folder / "float", {H5T_IEEE_F64LE, {1, 3}, {}}, {0, 6, 1});
    expect_refused(folder / "float", "n × 3 numbers");
    store(folder / "signed", {H5T_STD_I64LE, {1, 3}, {}}, {0, 6, 1});
    expect_refused(folder / "signed", "n × 3 numbers");
    store(folder / "narrow", {H5T_STD_U32LE, {1, 3}, {}}, {0, 6, 1});
    expect_refused(folder / "narrow", "n × 3 numbers");
}

TEST(RowHashes, AHugeListThatIsNotThereTakesNoMemory) {
    const ScratchFolder folder;
    store(folder / "chunked", {H5T_STD_U64LE, {hsize_t{1} << 58, 3}, {1024, 3}}, {});
    store(folder / "contiguous", {H5T_STD_U64LE, {hsize_t{1} << 50, 3}, {}}, {});
    for (const char* file : {"chunked", "contiguous"}) {
        expect_refused(folder / file, "n × 3 numbers");
        // Where the output claims as many rows.
        EXPECT_TRUE(
            error_of([&] { read_row_hashes(own_files(), folder / file, std::int64_t{1} << 58); }));
    }
}

} // namespace
} // namespace runner
