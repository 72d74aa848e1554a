// SPDX-License-Identifier: BSD-3-Clause
// Which stored types are taken as what. Whole files are in tests/end_to_end/transpose_runs.py.
#include "io/hdf5/hdf5_type.hpp"

#include <array>
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

using Members = std::vector<std::pair<const char*, hid_t>>;

class Hdf5Type : public testing::Test {
  protected:
    void SetUp() override { start_hdf5(); }
};

TypeHandle compound(const Members& members) {
    std::size_t size = 0;
    for (const auto& [name, type] : members) {
        size += H5Tget_size(type);
    }
    TypeHandle made(H5Tcreate(H5T_COMPOUND, size));
    std::size_t offset = 0;
    for (const auto& [name, type] : members) {
        EXPECT_GE(H5Tinsert(made.get(), name, offset, type), 0);
        offset += H5Tget_size(type);
    }
    return made;
}

TypeHandle string_of(std::size_t bytes) {
    TypeHandle made(H5Tcopy(H5T_C_S1));
    EXPECT_GE(H5Tset_size(made.get(), bytes), 0);
    EXPECT_GE(H5Tset_strpad(made.get(), H5T_STR_NULLPAD), 0);
    return made;
}

ArrayInfo array_of(const TypeHandle& type) {
    const auto element = element_type_of(type.get());
    EXPECT_TRUE(element) << describe_type(type.get());
    return {element.value(), {1}, stored_type_of(type.get(), element.value())};
}

TEST_F(Hdf5Type, NumbersAreStoredAsTheyWere) {
    const TypeHandle type(H5Tcopy(H5T_STD_I16BE));
    const ArrayInfo array = array_of(type);
    EXPECT_EQ(array, (ArrayInfo{ElementType::int16, {1}}));
    EXPECT_GT(H5Tequal(memory_type(array).get(), H5T_NATIVE_INT16), 0);
    EXPECT_TRUE(is_plain(type.get(), array));
    EXPECT_EQ(describe_type(type.get()), "big-endian int16");
}

TEST_F(Hdf5Type, ComplexNumbersKeepTheNamesOfTheirParts) {
    for (const auto& [real, imaginary] :
         {std::pair("r", "i"), std::pair("re", "im"), std::pair("real", "imag")}) {
        const TypeHandle type = compound({{real, H5T_IEEE_F64LE}, {imaginary, H5T_IEEE_F64LE}});
        const ArrayInfo array = array_of(type);
        EXPECT_EQ(array.type, ElementType::complex128);
        EXPECT_GT(H5Tequal(memory_type(array).get(), type.get()), 0);
        EXPECT_TRUE(is_plain(type.get(), array));
    }
    EXPECT_EQ(type_text(array_of(compound({{"r", H5T_IEEE_F32LE}, {"i", H5T_IEEE_F32LE}}))),
              "complex64");
}

TEST_F(Hdf5Type, BigEndianComplexNumbersBecomeNative) {
    const TypeHandle type = compound({{"r", H5T_IEEE_F32BE}, {"i", H5T_IEEE_F32BE}});
    const TypeHandle native = compound({{"r", H5T_IEEE_F32LE}, {"i", H5T_IEEE_F32LE}});
    const ArrayInfo array = array_of(type);
    EXPECT_EQ(array.type, ElementType::complex64);
    EXPECT_EQ(array, array_of(native));
    EXPECT_GT(H5Tequal(memory_type(array).get(), native.get()), 0);
    EXPECT_FALSE(is_plain(type.get(), array)); // its parts are to be turned, not the whole
    EXPECT_EQ(describe_type(type.get()), "big-endian complex64");
}

TEST_F(Hdf5Type, OtherPairsAreBytes) {
    for (const Members& members : {Members{{"x", H5T_IEEE_F32LE}, {"y", H5T_IEEE_F32LE}},
                                   Members{{"i", H5T_IEEE_F32LE}, {"r", H5T_IEEE_F32LE}},
                                   Members{{"r", H5T_STD_I32LE}, {"i", H5T_STD_I32LE}}}) {
        EXPECT_EQ(array_of(compound(members)).type, ElementType::bytes8);
    }
}

TEST_F(Hdf5Type, BytesAreKeptAsTheyAreStored) {
    const TypeHandle truth(H5Tenum_create(H5T_STD_I8LE));
    for (const auto& [name, number] : {std::pair("FALSE", 0), std::pair("TRUE", 1)}) {
        const auto value = static_cast<signed char>(number);
        ASSERT_GE(H5Tenum_insert(truth.get(), name, &value), 0);
    }
    const TypeHandle text = string_of(4);
    const TypeHandle mixed =
        compound({{"a", H5T_STD_I32BE}, {"b", H5T_IEEE_F64BE}, {"c", text.get()}});
    const TypeHandle opaque(H5Tcreate(H5T_OPAQUE, 2));
    ASSERT_GE(H5Tset_tag(opaque.get(), "tag\n"), 0);
    for (const auto& [type, element, says] :
         {std::tuple(&truth, ElementType::bytes1,
                     "enumeration of int8 {FALSE = 0x00, TRUE = 0x01}"),
          std::tuple(&text, ElementType::bytes4, "string of 4 bytes"),
          std::tuple(&opaque, ElementType::bytes2, "opaque of 2 bytes (tag\\x0a)"),
          std::tuple(&mixed, ElementType::bytes16,
                     "compound of 3 members {a: big-endian int32, b: big-endian float64, c: "
                     "string of 4 bytes}")}) {
        const ArrayInfo array = array_of(*type);
        EXPECT_EQ(array.type, element);
        EXPECT_EQ(array.stored.text, says);
        EXPECT_GT(H5Tequal(memory_type(array).get(), type->get()), 0) << says;
        EXPECT_TRUE(is_plain(type->get(), array)) << says;
    }
}

TEST_F(Hdf5Type, WhatHasPartsElsewhereIsRefused) {
    TypeHandle any_length(H5Tcopy(H5T_C_S1));
    ASSERT_GE(H5Tset_size(any_length.get(), H5T_VARIABLE), 0);
    const TypeHandle list(H5Tvlen_create(H5T_STD_I32LE)); // of 16 bytes
    const hsize_t one = 1;
    const TypeHandle array(H5Tarray_create2(list.get(), 1, &one));
    const TypeHandle numbers(H5Tarray_create2(H5T_STD_I32LE, 1, &one));
    for (const hid_t type : {any_length.get(), list.get(), H5T_STD_REF_OBJ, array.get()}) {
        EXPECT_FALSE(element_type_of(type)) << describe_type(type);
        EXPECT_FALSE(element_type_of(compound({{"x", type}}).get())) << describe_type(type);
    }
    EXPECT_FALSE(element_type_of(numbers.get()));
    EXPECT_TRUE(element_type_of(compound({{"x", numbers.get()}}).get()));
    EXPECT_FALSE(element_type_of(string_of(3).get()));
    EXPECT_FALSE(element_type_of(string_of(32).get()));
}

TEST_F(Hdf5Type, NumbersOfFewerBitsThanTheirBytesAreConverted) {
    const TypeHandle type(H5Tcopy(H5T_STD_U16LE));
    ASSERT_GE(H5Tset_precision(type.get(), 12), 0);
    ASSERT_GE(H5Tset_offset(type.get(), 4), 0);
    const ArrayInfo array = array_of(type);
    EXPECT_EQ(array.type, ElementType::uint16);
    EXPECT_FALSE(is_plain(type.get(), array));
}

TEST_F(Hdf5Type, NumbersOfMoreBitsThanTheirBytesAreRefused) {
    // Two bytes before the message, 8 to the offset in bits, the precision behind it.
    constexpr std::size_t offset_at = 10;
    constexpr std::size_t precision_at = 12;
    for (const hid_t type : {H5T_STD_U32LE, H5T_STD_B32LE, H5T_STD_I32BE}) {
        std::array<unsigned char, 64> encoded{};
        std::size_t bytes = encoded.size();
        ASSERT_GE(H5Tencode(type, encoded.data(), &bytes), 0);
        ASSERT_EQ(encoded[precision_at], 32);
        for (const auto& [at, value] : {std::pair(precision_at + 1, 0x7f),
                                        {precision_at, 33},
                                        {precision_at, 0},
                                        {offset_at, 1},
                                        {offset_at + 1, 0xff}}) {
            auto damaged = encoded;
            damaged[at] = static_cast<unsigned char>(value);
            const TypeHandle decoded(H5Tdecode(damaged.data()));
            EXPECT_FALSE(element_type_of(decoded.get())) << at << " " << value;
            EXPECT_FALSE(element_type_of(compound({{"x", decoded.get()}}).get()));
        }
    }
}

TEST_F(Hdf5Type, FloatsWithFieldsBeyondTheirBytesAreRefused) {
    // Two bytes before the message; its third has the place of the sign; behind the precision (12)
    // come place and bits of the exponent, then those of the mantissa.
    constexpr std::size_t sign_at = 4;
    constexpr std::size_t exponent_at = 14;
    constexpr std::size_t mantissa_at = 16;
    const TypeHandle half(H5Tcopy(H5T_IEEE_F32LE));
    H5Tset_fields(half.get(), 15, 10, 5, 0, 10);
    H5Tset_size(half.get(), 2);
    std::array<unsigned char, 64> encoded{};
    std::size_t bytes = encoded.size();
    ASSERT_GE(H5Tencode(half.get(), encoded.data(), &bytes), 0);
    ASSERT_EQ(encoded[exponent_at], 10);
    ASSERT_EQ(encoded[mantissa_at + 1], 10);
    EXPECT_EQ(element_type_of(TypeHandle(H5Tdecode(encoded.data())).get()), ElementType::bytes2);
    for (const auto& [at, value] : {std::pair(sign_at, 16),
                                    {exponent_at, 0x85},
                                    {exponent_at, 12},
                                    {exponent_at + 1, 7},
                                    {mantissa_at, 7},
                                    {mantissa_at + 1, 17}}) {
        auto damaged = encoded;
        damaged[at] = static_cast<unsigned char>(value);
        const TypeHandle decoded(H5Tdecode(damaged.data()));
        EXPECT_FALSE(element_type_of(decoded.get())) << at << " " << value;
    }
}

TEST_F(Hdf5Type, FloatsOfOtherDivisionsHaveThatInTheirText) {
    const TypeHandle type(H5Tcopy(H5T_IEEE_F32LE));
    EXPECT_EQ(describe_type(type.get()), "float32");
    H5Tset_ebias(type.get(), 125);
    EXPECT_EQ(describe_type(type.get()),
              "float32 (exponent of 8 bits with bias 125, mantissa of 23)");
    H5Tset_ebias(type.get(), 127);
    H5Tset_fields(type.get(), 15, 10, 5, 0, 10);
    H5Tset_size(type.get(), 2);
    EXPECT_EQ(describe_type(type.get()),
              "float16 (exponent of 5 bits with bias 127, mantissa of 10)");
    H5Tset_ebias(type.get(), 15);
    EXPECT_EQ(describe_type(type.get()), "float16");
}

TEST_F(Hdf5Type, CompoundsInOneAnotherWithoutEndAreRefused) {
    TypeHandle type(H5Tcopy(H5T_STD_I32LE));
    for (int depth = 0; depth < 20; ++depth) {
        type = compound({{"x", type.get()}});
    }
    EXPECT_FALSE(element_type_of(type.get()));
}

} // namespace
} // namespace runner
