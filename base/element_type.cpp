// SPDX-License-Identifier: BSD-3-Clause
#include "base/element_type.hpp"

#include "base/error.hpp"

#include <algorithm>

namespace runner {

bool is_number(ElementType type) {
    return std::find(all_element_types.begin(), all_element_types.end(), type) !=
           all_element_types.end();
}

bool is_complex(ElementType type) {
    return type == ElementType::complex64 || type == ElementType::complex128;
}

std::int64_t size_of(ElementType type) {
    switch (type) {
    case ElementType::int8:
    case ElementType::uint8:
    case ElementType::bytes1: return 1;
    case ElementType::int16:
    case ElementType::uint16:
    case ElementType::bytes2: return 2;
    case ElementType::int32:
    case ElementType::uint32:
    case ElementType::float32:
    case ElementType::bytes4: return 4;
    case ElementType::int64:
    case ElementType::uint64:
    case ElementType::float64:
    case ElementType::complex64:
    case ElementType::bytes8: return 8;
    case ElementType::complex128:
    case ElementType::bytes16: break;
    }
    return 16;
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
    case ElementType::float64: return "float64";
    case ElementType::complex64: return "complex64";
    case ElementType::complex128: return "complex128";
    case ElementType::bytes1: return "bytes1";
    case ElementType::bytes2: return "bytes2";
    case ElementType::bytes4: return "bytes4";
    case ElementType::bytes8: return "bytes8";
    case ElementType::bytes16: break;
    }
    return "bytes16";
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

void refuse_elements(ElementType type) {
    throw Error(ExitCode::input, {"cannot take the elements as numbers", "",
                                  "they are " + std::string(name_of(type)),
                                  "Name a dataset of " + element_type_names()});
}

} // namespace runner
