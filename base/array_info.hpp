// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/element_type.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace runner {

/// How a file stores elements that are no numbers, so that another file can have the same type.
struct StoredType {
    std::string text; ///< for people, in full and all printable: "complex64", "string of 4 bytes"
    std::string encoded; ///< as H5Tencode gives it

    /// One type may be encoded in several ways.
    bool operator==(const StoredType& other) const { return text == other.text; }
};

/// Element type and extents of a dense, row-major array; the last extent runs fastest.
struct ArrayInfo {
    ElementType type = ElementType::uint8;
    std::vector<std::int64_t> shape;
    StoredType stored = {}; ///< empty for numbers

    bool operator==(const ArrayInfo&) const = default;
};

/// The product of `extents` (1 when empty).
/// @throws Error (input) when an extent is negative or the product passes 2^63 - 1.
std::int64_t checked_product(std::span<const std::int64_t> extents);

/// Elements and bytes of the whole array; the same errors.
std::int64_t element_count(const ArrayInfo& info);
std::int64_t byte_count(const ArrayInfo& info);

/// What its elements are, for messages: the type's name, or the stored type, cut where it is long.
std::string type_text(const ArrayInfo& info);

/// "[3, 4, 5]".
std::string shape_text(std::span<const std::int64_t> shape);

} // namespace runner
