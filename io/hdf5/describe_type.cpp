// SPDX-License-Identifier: BSD-3-Clause
#include "base/format.hpp"
#include "io/hdf5/hdf5_type.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <vector>

namespace runner {
namespace {

/// Bytes that are no ASCII may be no UTF-8 either, which reports must be.
std::string name_text(char* name) {
    std::string text = printable(name == nullptr ? "" : name);
    hdf5_must(H5free_memory(name), "H5free_memory");
    std::replace_if(
        text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; },
        '?');
    return text;
}

std::string bytes_text(hid_t type) { return fmt::format("{} bytes", H5Tget_size(type)); }

std::string order_text(hid_t type) {
    return H5Tget_size(type) > 1 && H5Tget_order(type) == H5T_ORDER_BE ? "big-endian " : "";
}

/// Floats of more or fewer bytes, and other divisions of as many.
std::string describe_float(hid_t type) {
    std::size_t sign = 0;
    std::size_t exponent_at = 0;
    std::size_t exponent = 0;
    std::size_t mantissa_at = 0;
    std::size_t mantissa = 0;
    hdf5_must(H5Tget_fields(type, &sign, &exponent_at, &exponent, &mantissa_at, &mantissa),
              "H5Tget_fields");
    const std::string text = fmt::format("float{}", H5Tget_size(type) * 8);
    const std::size_t bias = H5Tget_ebias(type);
    const bool usual =
        exponent > 0 && exponent < 32 && bias == (std::size_t{1} << (exponent - 1)) - 1;
    const bool half = H5Tget_size(type) == 2 && exponent == 5 && mantissa == 10 && usual;
    return half ? text
                : fmt::format("{} (exponent of {} bits{}, mantissa of {})", text, exponent,
                              usual ? "" : fmt::format(" with bias {}", bias), mantissa);
}

std::string describe_number(hid_t type) {
    const std::string order = order_text(type);
    const auto known = element_type_of(type);
    if (known && is_number(*known)) {
        return order + std::string(name_of(*known));
    }
    if (H5Tget_class(type) == H5T_FLOAT) {
        return order + describe_float(type);
    }
    const std::size_t bits = H5Tget_precision(type);
    const bool fills = bits == H5Tget_size(type) * 8;
    return order + fmt::format("integer of {} bits", bits) +
           (fills ? "" : " in " + bytes_text(type));
}

std::string describe_string(hid_t type) {
    if (H5Tis_variable_str(type) > 0) {
        return "string of any length";
    }
    std::string text = "string of " + bytes_text(type);
    switch (H5Tget_strpad(type)) {
    case H5T_STR_NULLTERM: text += ", ended by a zero"; break;
    case H5T_STR_SPACEPAD: text += ", filled with blanks"; break;
    default: break;
    }
    return text + (H5Tget_cset(type) == H5T_CSET_UTF8 ? ", UTF-8" : "");
}

std::string describe_enumeration(hid_t type) {
    const TypeHandle base(hdf5_must(H5Tget_super(type), "H5Tget_super"));
    std::string text = "enumeration of " + describe_type(base.get()) + " {";
    const auto members = static_cast<unsigned>(H5Tget_nmembers(type));
    for (unsigned member = 0; member < members; ++member) {
        std::vector<unsigned char> value(H5Tget_size(type));
        hdf5_must(H5Tget_member_value(type, member, value.data()), "H5Tget_member_value");
        text += (member == 0 ? "" : ", ") + name_text(H5Tget_member_name(type, member)) + " =";
        std::reverse(value.begin(), value.end()); // as a little-endian number is written down
        constexpr const char* digits = "0123456789abcdef";
        text += " 0x";
        for (const unsigned char byte : value) {
            text += {digits[byte >> 4U], digits[byte & 15U]};
        }
    }
    return text + "}";
}

std::string describe_compound(hid_t type) {
    const auto members = static_cast<unsigned>(H5Tget_nmembers(type));
    std::string text = fmt::format("compound of {} members {{", members);
    std::size_t packed = 0;
    for (unsigned member = 0; member < members; ++member) {
        const TypeHandle part(hdf5_must(H5Tget_member_type(type, member), "H5Tget_member_type"));
        const std::size_t offset = H5Tget_member_offset(type, member);
        text += (member == 0 ? "" : ", ") + name_text(H5Tget_member_name(type, member)) + ": " +
                describe_type(part.get());
        if (offset != packed) {
            text += fmt::format(" from byte {}", offset);
        }
        packed = offset + H5Tget_size(part.get());
    }
    return text + "}" + (packed == H5Tget_size(type) ? "" : " in " + bytes_text(type));
}

/// "complex64", where the names of its parts are numpy's; those with others are another type.
std::string describe_members(hid_t type) {
    const auto known = element_type_of(type);
    std::string text = describe_compound(type);
    if (!known || !is_complex(*known)) {
        return text;
    }
    const std::string name = order_text(type) + std::string(name_of(*known));
    return name_text(H5Tget_member_name(type, 0)) == "r" ? name : name + ", " + text;
}

std::string describe_array(hid_t type) {
    const TypeHandle base(hdf5_must(H5Tget_super(type), "H5Tget_super"));
    std::vector<hsize_t> extents(
        static_cast<std::size_t>(hdf5_must(H5Tget_array_ndims(type), "H5Tget_array_ndims")));
    hdf5_must(H5Tget_array_dims2(type, extents.data()), "H5Tget_array_dims2");
    const std::vector<std::int64_t> shape(extents.begin(), extents.end());
    return "array " + shape_text(shape) + " of " + describe_type(base.get());
}

std::string describe_opaque(hid_t type) {
    const std::string tag = name_text(H5Tget_tag(type));
    return "opaque of " + bytes_text(type) + (tag.empty() ? "" : " (" + tag + ")");
}

} // namespace

std::string describe_type(hid_t type) {
    switch (H5Tget_class(type)) {
    case H5T_INTEGER:
    case H5T_FLOAT: return describe_number(type);
    case H5T_STRING: return describe_string(type);
    case H5T_COMPOUND: return describe_members(type);
    case H5T_ENUM: return describe_enumeration(type);
    case H5T_BITFIELD: return order_text(type) + "bit field of " + bytes_text(type);
    case H5T_OPAQUE: return describe_opaque(type);
    case H5T_REFERENCE: return "reference";
    case H5T_ARRAY: return describe_array(type);
    case H5T_VLEN: return "list of any length";
    case H5T_TIME: return "time";
    default: return "unknown type";
    }
}

} // namespace runner
