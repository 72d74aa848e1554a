// SPDX-License-Identifier: BSD-3-Clause
#include "io/zarr/zarr_elements.hpp"

#include "io/rows/file_elements.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace runner {
namespace {

struct ElementName {
    std::string_view dtype; ///< of version 2, without the sign of the bytes' order
    std::string_view name;  ///< of version 3
    ElementType type;
};

constexpr std::array element_names = {
    ElementName{"b1", "bool", ElementType::uint8},
    ElementName{"i1", "int8", ElementType::int8},
    ElementName{"u1", "uint8", ElementType::uint8},
    ElementName{"i2", "int16", ElementType::int16},
    ElementName{"u2", "uint16", ElementType::uint16},
    ElementName{"i4", "int32", ElementType::int32},
    ElementName{"u4", "uint32", ElementType::uint32},
    ElementName{"i8", "int64", ElementType::int64},
    ElementName{"u8", "uint64", ElementType::uint64},
    ElementName{"f2", float16_text, ElementType::bytes2},
    ElementName{"f4", "float32", ElementType::float32},
    ElementName{"f8", "float64", ElementType::float64},
    ElementName{"c8", "complex64", ElementType::complex64},
    ElementName{"c16", "complex128", ElementType::complex128},
};

std::optional<ZarrElements> elements_of(const ElementName* found) {
    if (found == element_names.end()) {
        return std::nullopt;
    }
    ZarrElements elements;
    elements.array.type = found->type;
    if (!is_number(found->type)) {
        elements.array.stored.text = found->name;
    }
    elements.is_boolean = found->name == "bool";
    return elements;
}

template <class T> std::vector<std::byte> bytes_of(const T& value) {
    std::vector<std::byte> bytes(sizeof(T));
    std::memcpy(bytes.data(), &value, sizeof(T));
    return bytes;
}

/// All of a text as a number.
template <class T> std::optional<T> whole_number(std::string_view text, int base = 10) {
    T value{};
    const auto [end, failure] =
        std::from_chars(text.data(), text.data() + text.size(), value, base);
    return failure == std::errc{} && end == text.data() + text.size() ? std::optional(value)
                                                                      : std::nullopt;
}

/// An integer, which may be written as 5.0.
template <class T> std::optional<T> integer_fill(const Json& value) {
    if (!value.is_number()) {
        return std::nullopt;
    }
    if (const std::optional<T> exact = whole_number<T>(value.text())) {
        return exact;
    }
    const auto real = value.get<double>();
    constexpr auto least = static_cast<double>(std::numeric_limits<T>::min());
    const double end = std::ldexp(1.0, std::numeric_limits<T>::digits);
    return real >= least && real < end && std::trunc(real) == real
               ? std::optional(static_cast<T>(real))
               : std::nullopt;
}

/// A real number: its bits where they are given, or a value.
template <class Bits, class FromValue>
std::optional<Bits> real_fill(const Json& value, const FromValue& bits_of) {
    if (value.is_number()) {
        return bits_of(value.get<double>());
    }
    if (!value.is_string()) {
        return std::nullopt;
    }
    const auto text = value.get<std::string>();
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (text == "NaN") {
        return bits_of(std::numeric_limits<double>::quiet_NaN());
    }
    if (text == "Infinity" || text == "-Infinity") {
        return bits_of(text.front() == '-' ? -infinity : infinity);
    }
    constexpr std::size_t digits = 2 * sizeof(Bits);
    return text.starts_with("0x") && text.size() == digits + 2
               ? whole_number<Bits>(std::string_view(text).substr(2), 16)
               : std::nullopt;
}

std::optional<std::vector<std::byte>> real_fill(const Json& value, std::int64_t size) {
    const auto bytes = [](const auto& bits) {
        return bits ? std::optional(bytes_of(*bits)) : std::nullopt;
    };
    switch (size) {
    case 2: return bytes(real_fill<std::uint16_t>(value, half_bits));
    case 4:
        return bytes(real_fill<std::uint32_t>(value, [](double real) {
            return std::bit_cast<std::uint32_t>(static_cast<float>(real));
        }));
    default:
        return bytes(real_fill<std::uint64_t>(
            value, [](double real) { return std::bit_cast<std::uint64_t>(real); }));
    }
}

std::optional<std::vector<std::byte>> complex_fill(const Json& value, std::int64_t size) {
    if (!value.is_array() || value.values().size() != 2) {
        const auto real = real_fill(value, size / 2); // as version 2 may have 0
        if (!real || !value.is_number()) {
            return std::nullopt;
        }
        std::vector<std::byte> whole = *real;
        whole.resize(static_cast<std::size_t>(size));
        return whole;
    }
    auto whole = real_fill(value.at(0), size / 2);
    const auto imaginary = real_fill(value.at(1), size / 2);
    if (!whole || !imaginary) {
        return std::nullopt;
    }
    whole->insert(whole->end(), imaginary->begin(), imaginary->end());
    return whole;
}

template <class T> std::optional<std::vector<std::byte>> integer_bytes(const Json& value) {
    const std::optional<T> number = integer_fill<T>(value);
    return number ? std::optional(bytes_of(*number)) : std::nullopt;
}

std::optional<std::vector<std::byte>> boolean_fill(const Json& value) {
    const std::string text = value.text();
    const bool is_true = text == "true";
    if (is_true || text == "false") {
        return bytes_of(static_cast<std::uint8_t>(is_true ? 1 : 0));
    }
    const auto number = integer_fill<std::uint8_t>(value);
    return number && *number <= 1 ? std::optional(bytes_of(*number)) : std::nullopt;
}

} // namespace

std::optional<ZarrElements> elements_of_dtype(std::string_view dtype) {
    constexpr std::string_view orders = "<>|=";
    if (dtype.empty() || orders.find(dtype.front()) == std::string_view::npos) {
        return std::nullopt;
    }
    const std::string_view code = dtype.substr(1);
    std::optional<ZarrElements> elements =
        elements_of(std::find_if(element_names.begin(), element_names.end(),
                                 [&](const ElementName& each) { return each.dtype == code; }));
    if (!elements || (dtype.front() == '|' && size_of(elements->array.type) > 1)) {
        return std::nullopt;
    }
    elements->big_endian = dtype.front() == '>';
    return elements;
}

std::optional<ZarrElements> elements_of_data_type(std::string_view name) {
    return elements_of(std::find_if(element_names.begin(), element_names.end(),
                                    [&](const ElementName& each) { return each.name == name; }));
}

std::string zarr_element_names() {
    std::string names;
    for (const ElementName& each : element_names) {
        names += (names.empty()                    ? ""
                  : &each == &element_names.back() ? " and "
                                                   : ", ") +
                 std::string(each.name);
    }
    return names;
}

std::optional<std::vector<std::byte>> zarr_fill(const Json& value, const ZarrElements& elements) {
    if (elements.is_boolean) {
        return boolean_fill(value);
    }
    const ElementType type = elements.array.type;
    switch (type) {
    case ElementType::int8: return integer_bytes<std::int8_t>(value);
    case ElementType::uint8: return integer_bytes<std::uint8_t>(value);
    case ElementType::int16: return integer_bytes<std::int16_t>(value);
    case ElementType::uint16: return integer_bytes<std::uint16_t>(value);
    case ElementType::int32: return integer_bytes<std::int32_t>(value);
    case ElementType::uint32: return integer_bytes<std::uint32_t>(value);
    case ElementType::int64: return integer_bytes<std::int64_t>(value);
    case ElementType::uint64: return integer_bytes<std::uint64_t>(value);
    default:
        return is_complex(type) ? complex_fill(value, size_of(type))
                                : real_fill(value, size_of(type));
    }
}

std::uint16_t half_bits(double value) {
    constexpr int mantissa_bits = 10;
    constexpr int bias = 15;
    constexpr unsigned infinite = 0x7c00;
    const unsigned sign = std::signbit(value) ? 0x8000U : 0U;
    const double size = std::abs(value);
    unsigned bits = 0;
    if (std::isnan(value)) {
        bits = infinite | 0x200U;
    } else if (size >= 65520.0) { // half a step above the largest
        bits = infinite;
    } else if (size < 0x1p-14) { // steps of 2^-24; the last of them is the least number above
        bits = static_cast<unsigned>(std::nearbyint(std::ldexp(size, 24)));
    } else {
        const int exponent = std::ilogb(size);
        const double steps = std::nearbyint(std::ldexp(size, mantissa_bits - exponent));
        bits = (static_cast<unsigned>(exponent + bias) << mantissa_bits) +
               (static_cast<unsigned>(steps) - (1U << mantissa_bits));
    }
    return static_cast<std::uint16_t>(sign | bits);
}

} // namespace runner
