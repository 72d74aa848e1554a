// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace runner {

/// The element types a dataset may have; names as numpy's. The last five are elements of so many
/// bytes that are moved and never interpreted, whatever they are.
enum class ElementType {
    int8,
    uint8,
    int16,
    uint16,
    int32,
    uint32,
    int64,
    uint64,
    float32,
    float64,
    complex64,
    complex128,
    bytes1,
    bytes2,
    bytes4,
    bytes8,
    bytes16
};

/// Those that are numbers, which a job file and a verb may name.
inline constexpr std::array all_element_types = {
    ElementType::int8,    ElementType::uint8,  ElementType::int16, ElementType::uint16,
    ElementType::int32,   ElementType::uint32, ElementType::int64, ElementType::uint64,
    ElementType::float32, ElementType::float64};

/// One of all_element_types.
bool is_number(ElementType type);
bool is_complex(ElementType type);

/// Bytes of one element.
std::int64_t size_of(ElementType type);

/// "float32" and the like.
std::string_view name_of(ElementType type);

/// The number's type of that name, if there is one.
std::optional<ElementType> element_type(std::string_view name);

/// All names of numbers, for messages: "int8, uint8, …".
std::string element_type_names();

/// The element type of a C++ type.
template <class T> constexpr ElementType element_type_of();
template <> constexpr ElementType element_type_of<std::int8_t>() { return ElementType::int8; }
template <> constexpr ElementType element_type_of<std::uint8_t>() { return ElementType::uint8; }
template <> constexpr ElementType element_type_of<std::int16_t>() { return ElementType::int16; }
template <> constexpr ElementType element_type_of<std::uint16_t>() { return ElementType::uint16; }
template <> constexpr ElementType element_type_of<std::int32_t>() { return ElementType::int32; }
template <> constexpr ElementType element_type_of<std::uint32_t>() { return ElementType::uint32; }
template <> constexpr ElementType element_type_of<std::int64_t>() { return ElementType::int64; }
template <> constexpr ElementType element_type_of<std::uint64_t>() { return ElementType::uint64; }
template <> constexpr ElementType element_type_of<float>() { return ElementType::float32; }
template <> constexpr ElementType element_type_of<double>() { return ElementType::float64; }

/// @throws Error (input): elements of this type are not taken as numbers.
[[noreturn]] void refuse_elements(ElementType type);

/// Calls `f` with a zero of the C++ type that `type` names and returns what it returns. Of numbers
/// alone: refuses other elements.
template <class F> decltype(auto) visit_element_type(ElementType type, F&& f) {
    switch (type) {
    case ElementType::int8: return f(std::int8_t{});
    case ElementType::uint8: return f(std::uint8_t{});
    case ElementType::int16: return f(std::int16_t{});
    case ElementType::uint16: return f(std::uint16_t{});
    case ElementType::int32: return f(std::int32_t{});
    case ElementType::uint32: return f(std::uint32_t{});
    case ElementType::int64: return f(std::int64_t{});
    case ElementType::uint64: return f(std::uint64_t{});
    case ElementType::float32: return f(float{});
    case ElementType::float64: return f(double{});
    default: refuse_elements(type);
    }
}

} // namespace runner
