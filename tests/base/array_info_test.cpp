// SPDX-License-Identifier: BSD-3-Clause
#include "base/array_info.hpp"

#include "base/error.hpp"

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

void expect_input_error(const std::function<void()>& action, const std::string& shape) {
    try {
        action();
        FAIL() << "no error for " << shape;
    } catch (const Error& error) {
        EXPECT_EQ(ExitCode::input, error.code());
        EXPECT_EQ(shape, error.text().where);
    }
}

TEST(ElementType, OnlyNumbersAreVisitedAndNamedByUsers) {
    for (const ElementType type : all_element_types) {
        EXPECT_TRUE(is_number(type));
        EXPECT_EQ(element_type(name_of(type)), type);
        EXPECT_EQ(visit_element_type(type, [](auto zero) { return std::int64_t{sizeof(zero)}; }),
                  size_of(type));
    }
    for (const ElementType type : {ElementType::complex64, ElementType::bytes8}) {
        EXPECT_FALSE(is_number(type));
        EXPECT_FALSE(element_type(name_of(type)));
        EXPECT_EQ(size_of(type), 8);
        EXPECT_THROW(visit_element_type(type, [](auto /*zero*/) {}), Error);
    }
    EXPECT_EQ(size_of(ElementType::complex128), 16);
    EXPECT_EQ(size_of(ElementType::bytes16), 16);
}

TEST(ArrayInfo, TellsTheStoredTypeAndComparesIt) {
    ArrayInfo info{ElementType::bytes4, {3}, {"string of 4 bytes", "encoded"}};
    EXPECT_EQ(type_text(info), "string of 4 bytes");
    EXPECT_EQ(info, (ArrayInfo{ElementType::bytes4, {3}, {"string of 4 bytes", "otherwise"}}));
    EXPECT_NE(info, (ArrayInfo{ElementType::bytes4, {3}, {"opaque of 4 bytes", "encoded"}}));
    info.stored.text.assign(500, 'x');
    EXPECT_EQ(type_text(info), std::string(160, 'x') + "...");
    EXPECT_EQ(type_text({ElementType::int16, {3}}), "int16");
}

TEST(ArrayInfo, CountsElementsAndBytes) {
    const ArrayInfo info{ElementType::uint16, {3, 4, 5}};
    EXPECT_EQ(60, element_count(info));
    EXPECT_EQ(120, byte_count(info));
    EXPECT_EQ(1, element_count({ElementType::uint8, {}}));
    EXPECT_EQ(0, byte_count({ElementType::float64, {7, 0, 5}}));
}

TEST(ArrayInfo, CountsBeyond32Bits) {
    const std::int64_t side = std::int64_t{1} << 31;
    EXPECT_EQ(std::int64_t{1} << 62, checked_product(std::vector{side, side}));
}

TEST(ArrayInfo, RefusesSizesBeyond63Bits) {
    const std::int64_t side = std::int64_t{1} << 32;
    expect_input_error(
        [&] {
            checked_product(std::vector{side, side});
        },
        "[4294967296, 4294967296]");
    expect_input_error(
        [&] {
            byte_count({ElementType::float64, {side, side / 8}});
        },
        "[4294967296, 536870912]");
    expect_input_error([] { checked_product(std::vector<std::int64_t>{2, -1}); }, "[2, -1]");
}

TEST(ArrayInfo, WritesShapes) {
    EXPECT_EQ("[]", shape_text({}));
    EXPECT_EQ("[7]", shape_text(std::vector<std::int64_t>{7}));
    EXPECT_EQ("[3, 4, 5]", shape_text(std::vector<std::int64_t>{3, 4, 5}));
}

} // namespace
} // namespace runner
