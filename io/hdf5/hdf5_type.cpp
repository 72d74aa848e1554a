// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/hdf5_type.hpp"

#include "io/hdf5/hdf5_handle.hpp"
#include "io/rows/file_elements.hpp"

#include <array>
#include <utility>

namespace runner {
namespace {

/// Compounds within compounds, and so on: more are a damaged file's.
constexpr int deepest = 8;

std::string member_name(hid_t type, unsigned member) {
    char* const name = H5Tget_member_name(type, member);
    std::string text = name == nullptr ? "" : name;
    hdf5_must(H5free_memory(name), "H5free_memory");
    return text;
}

TypeHandle member_type(hid_t type, unsigned member) {
    return TypeHandle(hdf5_must(H5Tget_member_type(type, member), "H5Tget_member_type"));
}

bool are_names_of_parts(const std::string& first, const std::string& second) {
    static constexpr std::array<std::pair<const char*, const char*>, 3> known = {
        {{"r", "i"}, {"re", "im"}, {"real", "imag"}}};
    for (const auto& [real, imaginary] : known) {
        if (first == real && second == imaginary) {
            return true;
        }
    }
    return false;
}

/// The complex type that a compound is, if it is one.
std::optional<ElementType> complex_type_of(hid_t type) {
    const std::size_t size = H5Tget_size(type);
    if ((size != 8 && size != 16) || H5Tget_nmembers(type) != 2 ||
        !are_names_of_parts(member_name(type, 0), member_name(type, 1)) ||
        H5Tget_member_offset(type, 0) != 0 || H5Tget_member_offset(type, 1) != size / 2) {
        return std::nullopt;
    }
    const ElementType part = size == 8 ? ElementType::float32 : ElementType::float64;
    if (element_type_of(member_type(type, 0).get()) != part ||
        element_type_of(member_type(type, 1).get()) != part) {
        return std::nullopt;
    }
    return size == 8 ? ElementType::complex64 : ElementType::complex128;
}

/// Whether sign, exponent and mantissa lie within the bits of a float.
bool has_its_fields(hid_t type, std::size_t precision) {
    std::size_t sign = 0;
    std::size_t exponent = 0;
    std::size_t exponent_bits = 0;
    std::size_t mantissa = 0;
    std::size_t mantissa_bits = 0;
    const auto lies_within = [precision](std::size_t first, std::size_t bits) {
        return first < precision && bits <= precision - first;
    };
    return H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) >= 0 &&
           lies_within(sign, 1) && lies_within(exponent, exponent_bits) &&
           lies_within(mantissa, mantissa_bits);
}

/// Whether the bytes of an element are all there is of it and mean the same in another file.
bool is_whole(hid_t type, int depth) {
    switch (H5Tget_class(type)) {
    case H5T_INTEGER:
    case H5T_FLOAT:
    case H5T_BITFIELD:
    case H5T_ENUM: return fits_its_bytes(type);
    case H5T_OPAQUE: return true;
    case H5T_STRING: return H5Tis_variable_str(type) == 0;
    case H5T_ARRAY:
        return depth < deepest &&
               is_whole(TypeHandle(hdf5_must(H5Tget_super(type), "H5Tget_super")).get(), depth + 1);
    case H5T_COMPOUND: {
        const auto members = static_cast<unsigned>(H5Tget_nmembers(type));
        for (unsigned member = 0; member < members; ++member) {
            if (depth == deepest || !is_whole(member_type(type, member).get(), depth + 1)) {
                return false;
            }
        }
        return true;
    }
    default: return false;
    }
}

std::optional<ElementType> bytes_type_of(hid_t type) {
    if (H5Tget_class(type) == H5T_ARRAY || !is_whole(type, 0)) {
        return std::nullopt;
    }
    switch (H5Tget_size(type)) {
    case 1: return ElementType::bytes1;
    case 2: return ElementType::bytes2;
    case 4: return ElementType::bytes4;
    case 8: return ElementType::bytes8;
    case 16: return ElementType::bytes16;
    default: return std::nullopt;
    }
}

std::optional<ElementType> number_type_of(hid_t type) {
    const H5T_class_t kind = H5Tget_class(type);
    if (kind == H5T_FLOAT) {
        if (H5Tequal(type, H5T_IEEE_F32LE) > 0 || H5Tequal(type, H5T_IEEE_F32BE) > 0) {
            return ElementType::float32;
        }
        if (H5Tequal(type, H5T_IEEE_F64LE) > 0 || H5Tequal(type, H5T_IEEE_F64BE) > 0) {
            return ElementType::float64;
        }
        return std::nullopt;
    }
    if (kind != H5T_INTEGER || !fits_its_bytes(type)) {
        return std::nullopt;
    }
    const bool is_signed = H5Tget_sign(type) == H5T_SGN_2;
    switch (H5Tget_size(type)) {
    case 1: return is_signed ? ElementType::int8 : ElementType::uint8;
    case 2: return is_signed ? ElementType::int16 : ElementType::uint16;
    case 4: return is_signed ? ElementType::int32 : ElementType::uint32;
    case 8: return is_signed ? ElementType::int64 : ElementType::uint64;
    default: return std::nullopt;
    }
}

/// Complex numbers in this machine's byte order, their parts under these names.
TypeHandle complex_type(ElementType element, const std::array<std::string, 2>& names) {
    const auto size = static_cast<std::size_t>(size_of(element));
    const hid_t part =
        hdf5_type(element == ElementType::complex64 ? ElementType::float32 : ElementType::float64);
    TypeHandle made(hdf5_must(H5Tcreate(H5T_COMPOUND, size), "H5Tcreate"));
    hdf5_must(H5Tinsert(made.get(), names[0].c_str(), 0, part), "H5Tinsert");
    hdf5_must(H5Tinsert(made.get(), names[1].c_str(), size / 2, part), "H5Tinsert");
    return made;
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
    case ElementType::float64: return H5T_NATIVE_DOUBLE;
    default: refuse_elements(type);
    }
}

TypeHandle memory_type(const ArrayInfo& array) {
    if (is_number(array.type)) {
        return TypeHandle(hdf5_must(H5Tcopy(hdf5_type(array.type)), "H5Tcopy"));
    }
    // Other formats than HDF5 know the type, and not how HDF5 encodes it.
    if (array.stored.encoded.empty() && is_complex(array.type)) {
        return complex_type(array.type, {"r", "i"}); // as h5py names them
    }
    const bool of_other_format = array.stored.encoded.empty() && is_float16(array);
    const std::string encoded = of_other_format ? float16_type().encoded : array.stored.encoded;
    return TypeHandle(hdf5_must(H5Tdecode(encoded.data()), "H5Tdecode"));
}

std::optional<ElementType> element_type_of(hid_t type) {
    if (const auto number = number_type_of(type)) {
        return number;
    }
    if (H5Tget_class(type) == H5T_COMPOUND) {
        if (const auto complex = complex_type_of(type)) {
            return complex;
        }
    }
    return bytes_type_of(type);
}

StoredType stored_type_of(hid_t type, ElementType element) {
    if (is_number(element)) {
        return {};
    }
    const TypeHandle memory =
        is_complex(element) ? complex_type(element, {member_name(type, 0), member_name(type, 1)})
                            : TypeHandle(hdf5_must(H5Tcopy(type), "H5Tcopy"));
    std::size_t bytes = 0;
    hdf5_must(H5Tencode(memory.get(), nullptr, &bytes), "H5Tencode");
    std::string encoded(bytes, '\0');
    hdf5_must(H5Tencode(memory.get(), encoded.data(), &bytes), "H5Tencode");
    return {describe_type(memory.get()), std::move(encoded)};
}

bool fits_its_bytes(hid_t type) {
    constexpr std::size_t byte_bits = 8;
    const std::size_t bits = byte_bits * H5Tget_size(type);
    const std::size_t precision = H5Tget_precision(type);
    const int offset = H5Tget_offset(type);
    return precision > 0 && precision <= bits && offset >= 0 &&
           static_cast<std::size_t>(offset) <= bits - precision &&
           (H5Tget_class(type) != H5T_FLOAT || has_its_fields(type, precision));
}

TypeHandle type_to_read(hid_t stored, hid_t memory) {
    TypeHandle type(hdf5_must(H5Tcopy(memory), "H5Tcopy"));
    if (H5Tget_class(stored) == H5T_INTEGER && H5Tget_class(memory) == H5T_INTEGER) {
        hdf5_must(H5Tset_order(type.get(), H5Tget_order(stored)), "H5Tset_order");
    }
    return type;
}

bool has_other_order(const TypeHandle& read, hid_t memory) {
    return H5Tget_order(read.get()) != H5Tget_order(memory);
}

bool is_plain(hid_t type, const ArrayInfo& array) {
    const TypeHandle in_memory = memory_type(array);
    if (!is_number(array.type)) {
        return H5Tequal(type, in_memory.get()) > 0;
    }
    const TypeHandle native_order(hdf5_must(H5Tcopy(type), "H5Tcopy"));
    hdf5_must(H5Tset_order(native_order.get(), H5Tget_order(in_memory.get())), "H5Tset_order");
    return H5Tequal(native_order.get(), in_memory.get()) > 0;
}

StoredType float16_type() {
    start_hdf5();
    const TypeHandle type(hdf5_must(H5Tcopy(H5T_IEEE_F32LE), "H5Tcopy"));
    // Sign in bit 15, five bits of exponent from bit 10, ten of mantissa; then the size may shrink.
    hdf5_must(H5Tset_fields(type.get(), 15, 10, 5, 0, 10), "H5Tset_fields");
    hdf5_must(H5Tset_size(type.get(), 2), "H5Tset_size");
    hdf5_must(H5Tset_ebias(type.get(), 15), "H5Tset_ebias");
    return stored_type_of(type.get(), ElementType::bytes2);
}

} // namespace runner
