// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5_type.hpp"

#include "io/hdf5_handle.hpp"

namespace runner {
namespace {

std::string bytes_text(hid_t type) { return std::to_string(H5Tget_size(type)) + " bytes"; }

std::string describe_number(hid_t type, const char* word) {
    const std::string order = H5Tget_order(type) == H5T_ORDER_BE ? "big-endian " : "";
    if (const auto known = element_type_of(type)) {
        return order + std::string(name_of(*known));
    }
    const auto bits = std::to_string(H5Tget_size(type) * 8);
    return order + (H5Tget_class(type) == H5T_FLOAT ? "float" + bits
                                                    : word + std::string(" of ") + bits + " bits");
}

} // namespace

hid_t hdf5_type(ElementType type) {
    switch (type) {
    case ElementType::int8: return H5T_NATIVE_INT8;
    case ElementType::uint8: return H5T_NATIVE_UINT8;
    case ElementType::int16: return H5T_NATIVE_INT16;
    case ElementType::uint16: return H5T_NATIVE_UINT16;
    case ElementType::int32: return H5T_NATIVE_INT32;
    case ElementType::uint32: return H5T_NATIVE_UINT32;
    case ElementType::int64: return H5T_NATIVE_INT64;
    case ElementType::uint64: return H5T_NATIVE_UINT64;
    case ElementType::float32: return H5T_NATIVE_FLOAT;
    case ElementType::float64: break;
    }
    return H5T_NATIVE_DOUBLE;
}

std::optional<ElementType> element_type_of(hid_t type) {
    const bool is_signed = H5Tget_class(type) == H5T_INTEGER && H5Tget_sign(type) == H5T_SGN_2;
    switch (H5Tget_class(type)) {
    case H5T_INTEGER:
        switch (H5Tget_size(type)) {
        case 1: return is_signed ? ElementType::int8 : ElementType::uint8;
        case 2: return is_signed ? ElementType::int16 : ElementType::uint16;
        case 4: return is_signed ? ElementType::int32 : ElementType::uint32;
        case 8: return is_signed ? ElementType::int64 : ElementType::uint64;
        default: return std::nullopt;
        }
    case H5T_FLOAT:
        if (H5Tequal(type, H5T_IEEE_F32LE) > 0 || H5Tequal(type, H5T_IEEE_F32BE) > 0) {
            return ElementType::float32;
        }
        if (H5Tequal(type, H5T_IEEE_F64LE) > 0 || H5Tequal(type, H5T_IEEE_F64BE) > 0) {
            return ElementType::float64;
        }
        return std::nullopt;
    default: return std::nullopt;
    }
}

bool is_plain(hid_t type, ElementType element) {
    const TypeHandle native_order(hdf5_must(H5Tcopy(type), "H5Tcopy"));
    hdf5_must(H5Tset_order(native_order.get(), H5Tget_order(hdf5_type(element))), "H5Tset_order");
    return H5Tequal(native_order.get(), hdf5_type(element)) > 0;
}

std::string describe_type(hid_t type) {
    switch (H5Tget_class(type)) {
    case H5T_INTEGER: return describe_number(type, "integer");
    case H5T_FLOAT: return describe_number(type, "float");
    case H5T_STRING:
        return H5Tis_variable_str(type) > 0 ? "string of any length"
                                            : "string of " + bytes_text(type);
    case H5T_COMPOUND:
        return "compound of " + std::to_string(H5Tget_nmembers(type)) +
               " members (complex numbers are such a type)";
    case H5T_ENUM: return "enumeration (as numpy's bool)";
    case H5T_BITFIELD: return "bit field of " + bytes_text(type);
    case H5T_OPAQUE: return "opaque of " + bytes_text(type);
    case H5T_REFERENCE: return "reference";
    case H5T_ARRAY: return "array of " + bytes_text(type);
    case H5T_VLEN: return "list of any length";
    case H5T_TIME: return "time";
    default: return "unknown type";
    }
}

} // namespace runner
