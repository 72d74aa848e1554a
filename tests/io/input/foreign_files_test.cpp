// SPDX-License-Identifier: BSD-3-Clause
// Whole conversions against numpy, tifffile and nibabel are in tests/end_to_end/convert_files.py.
#include "io/files/file.hpp"
#include "io/formats/nifti_file.hpp"
#include "io/formats/npy_file.hpp"
#include "io/formats/rows_format.hpp"
#include "io/input/open_rows.hpp"
#include "io/output/open_output_rows.hpp"
#include "io/rows/dense_rows.hpp"
#include "io/tiff/tiff_file.hpp"
#include "tests/io/dataset_file.hpp"
#include "tests/io/scratch_folder.hpp"

#include <cstring>
#include <fstream>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

namespace runner {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
    return std::as_bytes(std::span(text));
}

TEST(Npy, HeaderSaysWhatItIsMadeOf) {
    for (const ElementType type : all_element_types) {
        const ArrayInfo array{type, {3, 70000000000, 1}};
        const std::string header = npy_header(array);
        EXPECT_EQ(header.size() % 64, 0U);
        const DenseLayout layout = parse_npy(bytes_of(header), "f");
        EXPECT_EQ(layout.array, array);
        EXPECT_EQ(layout.offset, std::ssize(header));
        EXPECT_EQ(layout.bytes, DenseLayout::Bytes::little_endian);
        EXPECT_EQ(layout.order, DatasetInfo::Order::last_fastest);
    }
}

TEST(Npy, HeaderOfHalvesIsRefused) {
    const auto error = error_of([] { (void)npy_header({ElementType::bytes2, {3, 4}}); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ExitCode::usage);
}

TEST(Npy, CutOffAnywhereIsToldAtThatByte) {
    const std::string whole = npy_header({ElementType::float32, {4, 6}});
    for (std::size_t length = 0; length < whole.size(); ++length) {
        const std::string cut = whole.substr(0, length);
        const auto error = error_of([&] { (void)parse_npy(bytes_of(cut), "f"); });
        ASSERT_TRUE(error) << length;
        EXPECT_EQ(error->code(), ExitCode::input);
        EXPECT_EQ(error->text().where, "f, byte " + std::to_string(length < 6 ? 0 : length));
    }
}

std::array<std::byte, nifti_header_bytes> nifti_header() {
    std::array<std::byte, nifti_header_bytes> head{};
    const auto put = [&](std::size_t at, auto value) {
        std::memcpy(head.data() + at, &value, sizeof(value));
    };
    put(0, std::int32_t{348});
    const std::array<std::int16_t, 4> dim = {3, 7, 5, 2};
    put(40, dim);
    put(70, std::int16_t{4});
    put(72, std::int16_t{16});
    put(108, 352.0F);
    std::memcpy(head.data() + 344, "n+1", 4);
    return head;
}

TEST(Nifti, TheShapeIsDimBackwards) {
    const DenseLayout layout = parse_nifti(nifti_header(), "f");
    EXPECT_EQ(layout.array, (ArrayInfo{ElementType::int16, {2, 5, 7}}));
    EXPECT_EQ(layout.offset, 352);
    EXPECT_FALSE(layout.scale);
}

TEST(Nifti, ScalesOnlyWhereASlopeSaysSo) {
    struct Case {
        float slope;
        float intercept;
        bool scales;
    };
    for (const Case& each :
         {Case{0, 5, false}, Case{1, 0, false}, Case{1, 5, true}, Case{-2, 0, true},
          Case{std::numeric_limits<float>::quiet_NaN(), 5, false}}) {
        auto head = nifti_header();
        std::memcpy(head.data() + 112, &each.slope, 4);
        std::memcpy(head.data() + 116, &each.intercept, 4);
        const DenseLayout layout = parse_nifti(head, "f");
        EXPECT_EQ(layout.scale.has_value(), each.scales) << each.slope;
        EXPECT_EQ(layout.notes.size(), each.scales ? 1U : 0U);
    }
}

class Dense : public testing::Test {
  protected:
    /// A raw file of the numbers 0, 1, … as big-endian uint16.
    std::string raw_file(std::int64_t count) {
        const std::string path = folder_ / "a.raw";
        std::ofstream file(path, std::ios::binary);
        for (std::int64_t i = 0; i < count; ++i) {
            file.put(static_cast<char>(i >> 8)).put(static_cast<char>(i));
        }
        return path;
    }

    ScratchFolder folder_;
};

TEST_F(Dense, RowsOfAnyPartWhereTheFirstAxisRunsFastest) {
    const std::vector<std::int64_t> shape = {5, 3, 4, 6};
    DenseLayout layout;
    layout.array = {ElementType::uint16, shape};
    layout.bytes = DenseLayout::Bytes::big_endian;
    layout.order = DatasetInfo::Order::first_fastest;
    const auto reader = open_raw_rows(raw_file(360), layout, 2);
    EXPECT_EQ(reader->info().order, DatasetInfo::Order::first_fastest);
    const auto value = [&](std::int64_t row, std::int64_t column) {
        const std::int64_t k = row % 4;
        const std::int64_t j = row / 4 % 3;
        const std::int64_t i = row / 12;
        return static_cast<std::uint16_t>(i + 5 * (j + 3 * (k + 4 * column)));
    };
    for (std::int64_t first = 0; first < 60; ++first) {
        for (std::int64_t rows = 1; first + rows <= 60; ++rows) {
            std::vector<std::uint16_t> found(static_cast<std::size_t>(rows * 6));
            reader->read(first, rows, reinterpret_cast<std::byte*>(found.data()));
            for (std::int64_t i = 0; i < rows * 6; ++i) {
                ASSERT_EQ(found[static_cast<std::size_t>(i)], value(first + i / 6, i % 6));
            }
        }
    }
    // Runs of rows that share all numbers but the first axis', and others.
    for (const RowRuns& runs : {RowRuns{3, 5, 4, 12, 0, 6}, RowRuns{0, 12, 5, 12, 0, 6},
                                RowRuns{2, 3, 4, 12, 1, 4}, RowRuns{10, 3, 2, 20, 0, 6}}) {
        std::vector<std::uint16_t> found(
            static_cast<std::size_t>(runs.runs * runs.rows * runs.columns));
        reader->read_runs(runs, reinterpret_cast<std::byte*>(found.data()));
        std::size_t at = 0;
        for (std::int64_t run = 0; run < runs.runs; ++run) {
            for (std::int64_t row = 0; row < runs.rows; ++row) {
                for (std::int64_t column = 0; column < runs.columns; ++column) {
                    ASSERT_EQ(found[at++], value(runs.first + run * runs.stride + row,
                                                 runs.first_column + column));
                }
            }
        }
    }
}

TEST_F(Dense, ScalesInFloat64) {
    DenseLayout layout;
    layout.array = {ElementType::uint16, {300, 1000}};
    layout.bytes = DenseLayout::Bytes::big_endian;
    layout.scale = Scale{0.1, -7};
    const auto reader = open_raw_rows(raw_file(300000), layout, 2);
    EXPECT_EQ(reader->info().array.type, ElementType::float64);
    std::vector<double> found(200000);
    reader->read(50, 200, reinterpret_cast<std::byte*>(found.data()));
    for (std::size_t i = 0; i < found.size(); ++i) {
        const double product = 0.1 * static_cast<double>((i + 50000) % 65536);
        ASSERT_EQ(found[i], product + -7);
    }
}

TEST_F(Dense, BytesAreThereToTheLast) {
    DenseLayout layout;
    layout.array = {ElementType::uint16, {10, 10}};
    const std::string file = raw_file(100);
    EXPECT_TRUE(open_raw_rows(file, layout, 1)->info().notes.empty());
    layout.offset = 1;
    const auto error = error_of([&] { (void)open_raw_rows(file, layout, 1); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->text().where, file + ", byte 200");
    layout.offset = INT64_MAX;
    EXPECT_TRUE(error_of([&] { (void)open_raw_rows(file, layout, 1); }));
}

TEST_F(Dense, EveryFormatThatIsMadeIsReadAgainInAnyOrder) {
    ArrayInfo array{ElementType::uint16, {4, 30, 7}};
    std::vector<std::uint16_t> values(840);
    std::iota(values.begin(), values.end(), std::uint16_t{0});
    int made = 0;
    for (const RowsFormat& format : rows_formats()) {
        if (format.written == nullptr ||
            format.written->elements != WrittenFormat::Elements::numbers) {
            continue;
        }
        ++made;
        const std::string file =
            folder_ / ("a" + std::string(format.endings.substr(0, format.endings.find(' '))));
        // Those that are always packed hold one image, here of one strip.
        const bool is_packed = format.written->usual != Compression::none;
        array.shape =
            is_packed ? std::vector<std::int64_t>{120, 7} : std::vector<std::int64_t>{4, 30, 7};
        const std::int64_t together = is_packed ? 120 : 30;
        const auto writer = make_rows({file, "", array, {}}, {.threads = 2});
        for (std::int64_t first = 120; (first -= together) >= 0;) {
            writer->write(first, together, reinterpret_cast<std::byte*>(values.data() + first * 7));
        }
        writer->finish(RowWriter::Sync::no);
        const auto reader = open_rows(file, "", 2);
        EXPECT_EQ(reader->info().array, array) << file;
        for (const auto& [first, rows] :
             {std::pair<std::int64_t, std::int64_t>{0, 120}, {100, 20}, {5, 70}, {29, 2}}) {
            std::vector<std::uint16_t> found(static_cast<std::size_t>(rows * 7));
            reader->read(first, rows, reinterpret_cast<std::byte*>(found.data()));
            EXPECT_TRUE(std::equal(found.begin(), found.end(), values.begin() + first * 7)) << file;
        }
    }
    EXPECT_EQ(made, 9);
}

TEST_F(Dense, ATiffThatPasses4GiBIsABigTiff) {
    using Shape = std::vector<std::int64_t>;
    for (const Shape& shape : {Shape{2, 40000, 50000}, {3, 40000, 50000}, {3, 40000, 16000, 3}}) {
        const ArrayInfo array{ElementType::uint8, shape};
        const std::string file = folder_ / "large.tif";
        const OutputDataset output{file, "", array, {}};
        const DataPlace place = place_tiff(output, TiffFlavour::imagej);
        {
            const File sparse(file, File::Mode::create);
            sparse.resize(place.file_bytes);
            make_tiff_structure(output, TiffFlavour::imagej,
                                [&](std::int64_t offset, std::span<const std::byte> bytes) {
                                    EXPECT_TRUE(offset + std::ssize(bytes) <= place.begin ||
                                                offset >= place.begin + place.bytes);
                                    sparse.write(offset, std::ssize(bytes), bytes.data());
                                });
        }
        const StoredRows found = survey_tiff(file); // by libtiff
        EXPECT_EQ(found.info.array, array);
        EXPECT_EQ(found.info.offset, place.begin);
        std::array<std::byte, 3> head{};
        File(file, File::Mode::read).read(0, 3, head.data());
        EXPECT_EQ(head[2], std::byte(shape[0] == 2 ? 42 : 43)) << shape_text(shape);
    }
}

TEST(RowsFormats, AreKnownByTheEndOfTheName) {
    for (const char* name : {"a.npy", "b/a.tif.partial", "a.tiff", "a.nii.gz", "a.nii", "a.png",
                             "A.TIF", "a.Npy.partial", "A.NII.GZ", "a.btf", "a.NDPI", "a.mrc",
                             "a.MRCS", "a.rec", "a.st", "a.map"}) {
        EXPECT_NE(rows_format_of(name), nullptr) << name;
    }
    for (const char* name : {"a.h5", "npy", "a.npy.h5", "a.gz", "", ".partial"}) {
        EXPECT_EQ(rows_format_of(name), nullptr) << name;
    }
}

TEST(RowsFormats, SayWhichNamesAreWritten) {
    for (const char* name :
         {"a.h5", "50%/a.NXS", "a.hdf5.partial", "a.he5", "a.TIF", "a.sand", "a.nii", "a.NII.gz",
          "a.nii.gz.partial", "a.Mrc", "a.png", "a.ome.Zarr", "a.zarr"}) {
        EXPECT_EQ(output_name_fault(name), "") << name;
    }
    for (const char* name : {"a", "a.mrcs", "a.btf", "a.jpg", "h5", "a.gz"}) {
        EXPECT_NE(output_name_fault(name).find(".nexus"), std::string::npos) << name;
        EXPECT_NE(output_name_fault(name).find(", .ome.zarr and .zarr"), std::string::npos) << name;
    }
    EXPECT_EQ(output_name_fault("a_*.npy").find("holds *"), 0U);
    EXPECT_EQ(output_name_fault("a_%04d.h5").find("holds %"), 0U);
}

TEST_F(Dense, FirstBytesSayTheFormatWhereTheEndingDoesNot) {
    const auto format = [&](const std::string& name, std::string_view bytes) {
        std::ofstream(folder_ / name) << bytes;
        const RowsFormat* const found = rows_format_of(folder_ / name);
        return found == nullptr ? std::string() : std::string(found->name);
    };
    using namespace std::string_view_literals;
    EXPECT_EQ(format("a", "II*\0"sv), "TIFF");
    EXPECT_EQ(format("a.dat", "MM\0+"sv), "TIFF");
    EXPECT_EQ(format("b.dat", "\x93NUMPY\1"sv), "numpy");
    EXPECT_EQ(format("c", std::string(344, '\0') + std::string("n+1\0", 4)), "NIfTI-1");
    const std::string before(208, '\0');
    EXPECT_EQ(format("f", before + std::string("MAP DD\0\0", 8)), "MRC");
    EXPECT_EQ(format("g", before + std::string("MAP \x11\x11\0\0", 8)), "MRC");
    EXPECT_EQ(format("h", before + std::string("MAP \0\0\0\0", 8)), "");
    EXPECT_EQ(format("a.nxs", "II*\0"sv), "");
    EXPECT_EQ(format("d", "\x89HDF\r\n\x1a\n"sv), "");
    EXPECT_EQ(format("e", ""sv), "");
}

} // namespace
} // namespace runner
