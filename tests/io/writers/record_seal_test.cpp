// SPDX-License-Identifier: BSD-3-Clause
#include "io/writers/record_seal.hpp"

#include "base/error.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/object_names.hpp"
#include "io/input/open_rows.hpp"
#include "io/writers/row_hashes.hpp"
#include "tests/io/dataset_file.hpp"
#include "tests/io/scratch_folder.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hdf5.h>

namespace runner {
namespace {

/// Opens the file for writing and lets `change` change it.
template <class Change> void change_file(const std::string& path, const Change& change) {
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    ASSERT_GE(file, 0);
    change(file);
    ASSERT_GE(H5Fclose(file), 0);
}

/// An output with rows, their checksums, attributes and coordinates.
struct RecordSeal : testing::Test {
    RecordSeal() {
        write_dataset(file, "/a", {2, 2}, std::vector<std::uint8_t>{1, 2, 3, 4});
        write_row_hashes(file, {{0, 2, 7}});
        write_attributes(file, {{"identity", "row_taps = [0.25]"}, {"ranks", std::int64_t{2}}});
        change_file(file, [](hid_t id) {
            const hsize_t count = 3;
            const hid_t space = H5Screate_simple(1, &count, nullptr);
            const hid_t data =
                H5Dcreate2(id, "x", H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
            const std::vector<double> values = {0, 0.5, 1};
            ASSERT_GE(
                H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
            ASSERT_GE(H5Dclose(data), 0);
            ASSERT_GE(H5Sclose(space), 0);
        });
    }

    void seal() const {
        OutputDataset output;
        output.file = file;
        output.dataset = "/a";
        seal_record(output);
    }
    std::string damage() const {
        OwnFiles files;
        return record_damage(files, file, files.root_attributes(file), {"/a"});
    }
    /// Writes elements of a dataset.
    template <class T>
    void write(const std::string& dataset, hid_t type, const std::vector<T>& values) const {
        change_file(file, [&](hid_t id) {
            const hid_t data = H5Dopen2(id, dataset.c_str(), H5P_DEFAULT);
            ASSERT_GE(H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
            ASSERT_GE(H5Dclose(data), 0);
        });
    }

    ScratchFolder folder;
    std::string file = folder / "x.h5";
};

TEST_F(RecordSeal, IsOfTheSameFileTheSame) {
    EXPECT_EQ(damage(), "") << "an earlier version has none";
    seal();
    EXPECT_EQ(damage(), "");
}

TEST_F(RecordSeal, DoesNotMindWhatOthersAdd) {
    seal();
    write_attributes(file, {{"mine", "added"}});
    change_file(file, [](hid_t id) {
        const hid_t group = H5Gcreate2(id, "b", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        ASSERT_GE(H5Gclose(group), 0);
        ASSERT_GE(H5Lcreate_soft("/nowhere", id, "soft", H5P_DEFAULT, H5P_DEFAULT), 0);
    });
    EXPECT_EQ(damage(), "");
}

TEST_F(RecordSeal, IsNotOfRowsWithChecksumsOfTheirOwn) {
    seal();
    write<std::uint8_t>("/a", H5T_NATIVE_UINT8, {9, 9, 9, 9});
    write<std::uint64_t>(row_hashes_dataset, H5T_NATIVE_UINT64, {0, 2, 8});
    EXPECT_EQ(damage(), "");
}

TEST_F(RecordSeal, NoticesAnotherAttribute) {
    seal();
    write_attributes(file, {{"identity", "row_taps = [0.65]"}});
    EXPECT_NE(damage().find(record_checksum_attribute), std::string::npos);
    write_attributes(file, {{"identity", "row_taps = [0.25]"}});
    EXPECT_EQ(damage(), "");
    write_attributes(file, {{"ranks", 2.0}}); // another type
    EXPECT_NE(damage(), "");
}

TEST_F(RecordSeal, NoticesOtherCoordinates) {
    seal();
    write<double>("/x", H5T_NATIVE_DOUBLE, {0, 0.5, 1.5});
    EXPECT_NE(damage(), "");
}

TEST_F(RecordSeal, NoticesWhatIsGone) {
    seal();
    change_file(file, [](hid_t id) { ASSERT_GE(H5Adelete(id, "ranks"), 0); });
    EXPECT_NE(damage(), "");
    write_attributes(file, {{"ranks", std::int64_t{2}}});
    EXPECT_EQ(damage(), "");
    change_file(file, [](hid_t id) { ASSERT_GE(H5Ldelete(id, "x", H5P_DEFAULT), 0); });
    EXPECT_NE(damage(), "");
}

/// h5py refuses a text of an unknown character set, and no checksum covers the seals themselves.
TEST_F(RecordSeal, HasTheTypeThatItIsWrittenWith) {
    seal();
    const std::string sealed = folder / "sealed.h5";
    std::filesystem::copy_file(file, sealed);
    for (const char* const object : {"/", "/runner"}) {
        change_file(file, [&](hid_t id) {
            const hid_t old =
                H5Aopen_by_name(id, object, record_checksum_attribute, H5P_DEFAULT, H5P_DEFAULT);
            const hid_t type = H5Tcopy(H5T_C_S1); // in ASCII
            ASSERT_GE(H5Tset_size(type, H5T_VARIABLE), 0);
            const hid_t space = H5Aget_space(old);
            char* text = nullptr;
            const hid_t stored = H5Aget_type(old);
            ASSERT_GE(H5Aread(old, stored, static_cast<void*>(&text)), 0);
            ASSERT_GE(H5Tclose(stored), 0);
            ASSERT_GE(H5Aclose(old), 0);
            ASSERT_GE(H5Adelete_by_name(id, object, record_checksum_attribute, H5P_DEFAULT), 0);
            const hid_t changed = H5Acreate_by_name(id, object, record_checksum_attribute, type,
                                                    space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
            ASSERT_GE(H5Awrite(changed, type, static_cast<const void*>(&text)), 0);
            ASSERT_GE(H5Aclose(changed), 0);
            ASSERT_GE(H5free_memory(text), 0);
            ASSERT_GE(H5Sclose(space), 0);
            ASSERT_GE(H5Tclose(type), 0);
        });
        EXPECT_THROW((void)damage(), Error) << object;
        std::filesystem::copy_file(sealed, file, std::filesystem::copy_options::overwrite_existing);
        EXPECT_EQ(damage(), "");
    }
}

TEST_F(RecordSeal, IsMissedWhereItWas) {
    seal();
    change_file(file, [](hid_t id) { ASSERT_GE(H5Adelete(id, record_checksum_attribute), 0); });
    EXPECT_NE(damage().find("gone"), std::string::npos);
    change_file(file, [](hid_t id) { ASSERT_GE(H5Adelete(id, objects_attribute), 0); });
    EXPECT_NE(damage().find("gone"), std::string::npos) << "a block of attributes is lost";
    seal();
    change_file(file, [](hid_t id) { ASSERT_GE(H5Adelete(id, objects_attribute), 0); });
    EXPECT_NE(damage(), "");
    seal();
    change_file(file, [](hid_t id) {
        const hid_t group = H5Gopen2(id, "runner", H5P_DEFAULT);
        ASSERT_GE(H5Adelete(group, record_checksum_attribute), 0);
        ASSERT_GE(H5Gclose(group), 0);
    });
    EXPECT_NE(damage().find("gone"), std::string::npos);
}

TEST(RowHashes, HaveAChecksumOfTheirOwn) {
    const std::vector<RowHash> rows = {{0, 2, 7}, {2, 1, 8}};
    EXPECT_EQ(digest_of_rows(rows).size(), 32U);
    EXPECT_NE(digest_of_rows(rows), digest_of_rows({{0, 2, 7}, {2, 1, 9}}));
}

} // namespace
} // namespace runner
