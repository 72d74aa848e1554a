// SPDX-License-Identifier: BSD-3-Clause
#include "base/element_type.hpp"

namespace runner {

std::int64_t size_of(ElementType type) {
    return visit_element_type(type, [](auto zero) { return std::int64_t{sizeof(zero)}; });
}

std::string_view name_of(ElementType type) {
    switch (type) {
    case ElementType::int8: return "int8";
    case ElementType::uint8: return "uint8";
    case ElementType::int16: return "int16";
    case ElementType::uint16: return "uint16";
    case ElementType::int32: return "int32";
    case ElementType::uint32: return "uint32";
    case ElementType::int64: return "int64";
    case ElementType::uint64: return "uint64";
    case ElementType::float32: return "float32";
    case ElementType::float64: break;
    }
    return "float64";
}

std::optional<ElementType> element_type(std::string_view name) {
    for (const ElementType type : all_element_types) {
        if (name_of(type) == name) {
            return type;
        }
    }
    return std::nullopt;
}

std::string element_type_names() {
    std::string names;
    for (const ElementType type : all_element_types) {
        names += (names.empty() ? "" : ", ") + std::string(name_of(type));
    }
    return names;
}

} // namespace runner
