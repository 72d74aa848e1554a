// SPDX-License-Identifier: BSD-3-Clause
#include "io/formats/mrc_file.hpp"

#include "base/error.hpp"
#include "io/formats/nifti_file.hpp"

#include <cstring>

#include <gtest/gtest.h>

namespace runner {
namespace {

template <std::size_t bytes> class Header {
  public:
    template <class T> Header& put(std::size_t byte, T value) {
        std::memcpy(head.data() + byte, &value, sizeof(value));
        return *this;
    }
    std::array<std::byte, bytes> head{};
};

/// A little-endian volume of float32, [3, 5, 7], of which voxels are 1.5 Å wide.
Header<mrc_header_bytes> volume() {
    Header<mrc_header_bytes> made;
    std::size_t byte = 0;
    for (const std::int32_t value : {7, 5, 3, 2, 1, 0, 0, 7, 5, 3}) {
        made.put(byte, value);
        byte += 4;
    }
    made.put(40, 10.5F).put(44, 10.0F).put(48, 12.0F);
    made.put(64, std::int32_t{1}).put(68, std::int32_t{2}).put(72, std::int32_t{3});
    made.put(88, std::int32_t{1}).put(92, std::int32_t{80});
    std::memcpy(made.head.data() + 208, "MAP DD", 6);
    return made;
}

std::string where_refused(const Header<mrc_header_bytes>& header) {
    try {
        (void)parse_mrc(header.head, "f");
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::input);
        return error.text().where;
    }
    return "";
}

TEST(Mrc, HasVoxelsAndAnExtendedHeader) {
    const DenseLayout layout = parse_mrc(volume().head, "f");
    EXPECT_EQ(layout.array, (ArrayInfo{ElementType::float32, {3, 5, 7}}));
    EXPECT_EQ(layout.offset, 1104);
    EXPECT_EQ(layout.axes.each[2], (Axis{"x", "angstrom", 1.5, 1.5})); // NXSTART is 1
    EXPECT_EQ(layout.axes.each[1], (Axis{"y", "angstrom", 2.0, 0.0}));
    EXPECT_EQ(layout.axes.each[0].spacing, 4);
}

TEST(Mrc, SaysTheByteThatIsWrong) {
    EXPECT_EQ(where_refused(volume()), "");
    for (const std::size_t byte : {0U, 4U, 8U, 12U, 64U, 68U, 72U, 92U}) {
        auto header = volume();
        EXPECT_EQ(where_refused(header.put(byte, std::int32_t{-1})),
                  "f, byte " + std::to_string(byte));
    }
    auto header = volume();
    EXPECT_EQ(where_refused(header.put(212, 0)), "f, byte 212");
    EXPECT_EQ(where_refused(header.put(208, 0)), "f, byte 208");
}

TEST(Mrc, HoldsSomeTypesAndShapes) {
    EXPECT_EQ(mrc_place({ElementType::int16, {2, 3}}).file_bytes, 1036);
    for (const ArrayInfo& array :
         {ArrayInfo{ElementType::uint8, {2, 3}}, ArrayInfo{ElementType::float64, {2, 3}},
          ArrayInfo{ElementType::int8, {3}}, ArrayInfo{ElementType::int8, {1, 1, 1, 1, 1}},
          ArrayInfo{ElementType::int8, {1, std::int64_t{1} << 31}},
          ArrayInfo{ElementType::int8, {1 << 16, 1 << 16, 1, 1}}}) {
        EXPECT_THROW((void)mrc_place(array), Error) << type_text(array) << shape_text(array.shape);
    }
}

TEST(Mrc, IsReadAsItWasWritten) {
    for (const std::vector<std::int64_t>& shape :
         {std::vector<std::int64_t>{5, 7}, {3, 5, 7}, {1, 5, 7}, {2, 3, 5, 7}}) {
        const ArrayInfo array{ElementType::uint16, shape};
        Axes axes;
        axes.each.assign(shape.size(), {"", "nm", 2.0, 4.0});
        Header<mrc_header_bytes> made;
        mrc_structure(array, axes, [&](std::int64_t offset, std::span<const std::byte> bytes) {
            ASSERT_EQ(offset, 0);
            ASSERT_EQ(bytes.size(), made.head.size());
            std::copy(bytes.begin(), bytes.end(), made.head.begin());
        });
        const DenseLayout found = parse_mrc(made.head, "f");
        EXPECT_EQ(found.array, array);
        EXPECT_NEAR(found.axes.each.back().spacing.value_or(0), 20, 1e-5);
        EXPECT_NEAR(found.axes.each.back().origin.value_or(0), 40, 1e-5);
    }
}

TEST(Mrc, KeepsTheAxisOfOneSectionWithoutASize) {
    const ArrayInfo array{ElementType::uint16, {1, 5, 7}};
    Axes axes;
    axes.each = {{"z", "", {}, {}}, {"y", "nm", 2.0, {}}, {"x", "nm", 2.0, {}}};
    Header<mrc_header_bytes> made;
    mrc_structure(array, axes, [&](std::int64_t /*offset*/, std::span<const std::byte> bytes) {
        std::copy(bytes.begin(), bytes.end(), made.head.begin());
    });
    EXPECT_EQ(parse_mrc(made.head, "f").array, array);
}

TEST(Nifti, IsReadAsItWasWritten) {
    const ArrayInfo array{ElementType::int16, {2, 3, 5, 7}};
    Axes axes;
    axes.each = {{"t", "s", 2.0, 1.0}, {"z", "mm", 4.0}, {"y", "mm", 0.5}, {"x", "mm", 0.25}};
    // A turn by a quarter about z, mirrored.
    axes.qform = {1, {{0, 0, 0}, {0, 0, -4}, {-0.5, 0, 0}, {0, 0.25, 0}}, {}, {7, 8, 9}};
    axes.sform = axes.qform;
    axes.sform->steps[1] = {1, 0, -4};
    std::array<std::byte, nifti_header_bytes> head{};
    nifti_structure(array, axes, [&](std::int64_t, std::span<const std::byte> bytes) {
        ASSERT_EQ(bytes.size(), 352U);
        std::copy_n(bytes.begin(), head.size(), head.begin());
    });
    const DenseLayout found = parse_nifti(head, "f");
    EXPECT_EQ(found.array, array);
    EXPECT_EQ(found.offset, 352);
    EXPECT_EQ(found.axes.each, axes.each);
    EXPECT_EQ(found.axes.sform, axes.sform);
    ASSERT_TRUE(found.axes.qform);
    for (std::size_t axis = 0; axis < 4; ++axis) {
        for (std::size_t i = 0; i < 3; ++i) {
            EXPECT_NEAR(found.axes.qform->steps[axis].at(i), axes.qform->steps[axis].at(i), 1e-6);
        }
    }
}

} // namespace
} // namespace runner
