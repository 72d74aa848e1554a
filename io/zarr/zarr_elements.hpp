// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_info.hpp"
#include "base/json.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace runner {

/// What the elements of an array are; its shape is left empty. Booleans are uint8, float16 is of
/// two bytes.
struct ZarrElements {
    ArrayInfo array;
    bool is_boolean = false;
    bool big_endian = false;
};

/// By the `dtype` of version 2, as "<u2"; nothing for others.
std::optional<ZarrElements> elements_of_dtype(std::string_view dtype);

/// By the `data_type` of version 3, as "uint16"; nothing for others.
std::optional<ZarrElements> elements_of_data_type(std::string_view name);

/// The names of those that are read, for messages.
std::string zarr_element_names();

/// The element that a fill_value stands for, of this machine's byte order: a number, true or false,
/// "NaN", "Infinity", "-Infinity", the bits as "0x7fc00000", two of them for a complex number.
/// Nothing for what stands for no element of the type.
std::optional<std::vector<std::byte>> zarr_fill(const Json& value, const ZarrElements& elements);

/// The bits of the float16 nearest to a value, of two such the even one.
std::uint16_t half_bits(double value);

} // namespace runner
