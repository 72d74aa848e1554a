// SPDX-License-Identifier: BSD-3-Clause
#include "io/inspect/attribute_list.hpp"

#include "base/array_info.hpp"
#include "base/format.hpp"
#include "base/rounding.hpp"
#include "io/hdf5/hdf5_handle.hpp"
#include "io/hdf5/hdf5_type.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <variant>

namespace runner {
namespace {

/// A longer list is described instead.
constexpr hssize_t most_values = 64;

template <class T> AttributeValue one_or_list(std::vector<T> values, bool is_scalar) {
    if (is_scalar && values.size() == 1) {
        return std::move(values.front());
    }
    return values;
}

template <class T>
AttributeValue read_numbers(hid_t attribute, hid_t type, std::size_t count, bool is_scalar) {
    std::vector<T> values(count);
    if (H5Aread(attribute, type, values.data()) < 0) {
        return "cannot be read: " + hdf5_error_text();
    }
    return one_or_list(std::move(values), is_scalar);
}

AttributeValue read_any_length(hid_t attribute, hid_t type, hid_t space, std::size_t count,
                               bool is_scalar) {
    std::vector<char*> pointers(count, nullptr);
    if (H5Aread(attribute, type, pointers.data()) < 0) {
        return "cannot be read: " + hdf5_error_text();
    }
    std::vector<std::string> texts;
    texts.reserve(count);
    for (const char* pointer : pointers) {
        texts.emplace_back(pointer == nullptr ? "" : pointer);
    }
    hdf5_must(H5Dvlen_reclaim(type, space, H5P_DEFAULT, pointers.data()), "H5Dvlen_reclaim");
    return one_or_list(std::move(texts), is_scalar);
}

AttributeValue read_fixed_length(hid_t attribute, hid_t type, std::size_t count, bool is_scalar) {
    const std::size_t length = H5Tget_size(type);
    std::vector<char> bytes(length * count + 1, '\0');
    if (H5Aread(attribute, type, bytes.data()) < 0) {
        return "cannot be read: " + hdf5_error_text();
    }
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < count; ++i) {
        std::string text(bytes.data() + i * length, length);
        texts.push_back(text.substr(0, text.find('\0')));
    }
    return one_or_list(std::move(texts), is_scalar);
}

AttributeValue value_of(hid_t attribute) {
    const TypeHandle type(hdf5_must(H5Aget_type(attribute), "H5Aget_type"));
    const SpaceHandle space(hdf5_must(H5Aget_space(attribute), "H5Aget_space"));
    const hssize_t points = H5Sget_simple_extent_npoints(space.get());
    const bool is_scalar = H5Sget_simple_extent_type(space.get()) == H5S_SCALAR;
    const auto count = static_cast<std::size_t>(points > 0 ? points : 0);
    const H5T_class_t kind = H5Tget_class(type.get());
    if (points > 0 && points <= most_values) {
        if (kind == H5T_INTEGER && fits_its_bytes(type.get())) {
            return read_numbers<std::int64_t>(attribute, H5T_NATIVE_INT64, count, is_scalar);
        }
        if (kind == H5T_FLOAT && fits_its_bytes(type.get())) {
            return read_numbers<double>(attribute, H5T_NATIVE_DOUBLE, count, is_scalar);
        }
        if (kind == H5T_STRING) {
            return H5Tis_variable_str(type.get()) > 0
                       ? read_any_length(attribute, type.get(), space.get(), count, is_scalar)
                       : read_fixed_length(attribute, type.get(), count, is_scalar);
        }
    }
    return fmt::format("{} values, each {}", points, describe_type(type.get()));
}

/// What value_of() describes is a text as well.
bool is_one_text(hid_t attribute) {
    const TypeHandle type(hdf5_must(H5Aget_type(attribute), "H5Aget_type"));
    const SpaceHandle space(hdf5_must(H5Aget_space(attribute), "H5Aget_space"));
    return H5Tget_class(type.get()) == H5T_STRING && H5Sget_simple_extent_npoints(space.get()) == 1;
}

herr_t add_attribute(hid_t object, const char* name, const H5A_info_t* /*info*/, void* list) {
    const AttributeHandle attribute(H5Aopen(object, name, H5P_DEFAULT));
    // An exception must not pass through HDF5's C code.
    try {
        static_cast<AttributeList*>(list)->emplace_back(
            name, attribute.valid() ? value_of(attribute.get()) : "cannot be opened");
    } catch (const std::exception&) {
        return -1;
    }
    return 0;
}

std::optional<double> exact_number(double value) { return value; }
std::optional<double> exact_number(std::int64_t value) { return exact_float64(value); }

} // namespace

AttributeList attributes_of(hid_t object) {
    AttributeList list;
    if (H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, nullptr, add_attribute, &list) < 0) {
        throw_hdf5_of(object, ExitCode::input, "cannot read the attributes");
    }
    return list;
}

std::optional<AttributeValue> attribute_of(hid_t object, const std::string& name) {
    if (H5Aexists(object, name.c_str()) <= 0) {
        return std::nullopt;
    }
    const AttributeHandle attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT));
    return attribute.valid() ? std::optional(value_of(attribute.get())) : std::nullopt;
}

std::optional<std::string> text_of_attribute(hid_t object, const std::string& name) {
    if (H5Aexists(object, name.c_str()) <= 0) {
        return std::nullopt;
    }
    const AttributeHandle attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT));
    if (!attribute.valid() || !is_one_text(attribute.get())) {
        return std::nullopt;
    }
    AttributeValue value = value_of(attribute.get());
    if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) {
        value = std::string(texts->front());
    }
    const auto& text = std::get<std::string>(value);
    return text.substr(0, text.find_last_not_of(' ') + 1);
}

std::optional<double> one_number(const AttributeValue& value) {
    std::optional<double> number;
    std::visit(
        [&number]<class T>(const T& each) {
            if constexpr (std::is_arithmetic_v<T>) {
                number = exact_number(each);
            } else if constexpr (std::is_same_v<T, std::vector<std::int64_t>> ||
                                 std::is_same_v<T, std::vector<double>>) {
                number = each.size() == 1 ? exact_number(each.front()) : std::nullopt;
            }
        },
        value);
    return number;
}

std::vector<std::string> names_in_text(const std::string& whole) {
    const bool is_list = whole.starts_with('[') && whole.ends_with(']') && whole.size() > 1;
    const std::string text = is_list ? whole.substr(1, whole.size() - 2) : whole;
    std::vector<std::string> names;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find_first_of(":,", at), text.size());
        std::string name = text.substr(at, end - at);
        name.erase(name.find_last_not_of(' ') + 1); // npos + 1 is 0
        name.erase(0, name.find_first_not_of(' '));
        names.push_back(std::move(name));
        at = end + 1;
    }
    return names;
}

} // namespace runner
