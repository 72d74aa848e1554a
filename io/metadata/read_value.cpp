// SPDX-License-Identifier: BSD-3-Clause
#include "io/metadata/read_value.hpp"

#include "base/array_info.hpp"
#include "base/format.hpp"
#include "io/hdf5/hdf5_handle.hpp"
#include "io/hdf5/hdf5_type.hpp"
#include "io/rows/file_elements.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace runner {
namespace {

/// An attribute that is left out, and why.
class LeftOut : public std::exception {
  public:
    explicit LeftOut(std::string why) : why_(std::move(why)) {}
    const char* what() const noexcept override { return why_.c_str(); }

  private:
    std::string why_;
};

/// The type of numbers: that of numpy's float16 is float32, which holds each of its values.
std::optional<ElementType> number_type(hid_t type) {
    const H5T_class_t kind = H5Tget_class(type);
    if (kind == H5T_FLOAT && !fits_its_bytes(type)) {
        return std::nullopt;
    }
    if (kind == H5T_FLOAT) {
        const std::size_t size = H5Tget_size(type);
        return size <= sizeof(float)
                   ? std::optional(ElementType::float32)
                   : (size == sizeof(double) ? std::optional(ElementType::float64) : std::nullopt);
    }
    const std::optional<ElementType> known =
        kind == H5T_INTEGER ? element_type_of(type) : std::nullopt;
    return known && is_number(*known) ? known : std::nullopt;
}

/// Its extents; @throws LeftOut where there is more than `most` values.
void read_space(hid_t space, std::int64_t most, PlainValue& value) {
    switch (H5Sget_simple_extent_type(space)) {
    case H5S_NULL: value.space = PlainValue::Space::empty; return;
    case H5S_SCALAR: value.space = PlainValue::Space::scalar; return;
    default: value.space = PlainValue::Space::simple;
    }
    const int axes = hdf5_must(H5Sget_simple_extent_ndims(space), "H5Sget_simple_extent_ndims");
    std::vector<hsize_t> extents(static_cast<std::size_t>(axes));
    hdf5_must(H5Sget_simple_extent_dims(space, extents.data(), nullptr),
              "H5Sget_simple_extent_dims");
    std::int64_t count = 1;
    for (const hsize_t extent : extents) {
        if (extent > static_cast<hsize_t>(most) ||
            __builtin_mul_overflow(count, static_cast<std::int64_t>(extent), &count) ||
            count > most) {
            throw LeftOut(fmt::format("it has more than {} values", most));
        }
        value.shape.push_back(static_cast<std::int64_t>(extent));
    }
}

void read_any_length(hid_t attribute, hid_t type, hid_t space, PlainValue& value) {
    std::vector<char*> pointers(static_cast<std::size_t>(value.count()), nullptr);
    if (H5Aread(attribute, type, pointers.data()) < 0) {
        throw LeftOut("it cannot be read: " + hdf5_error_text());
    }
    for (const char* pointer : pointers) {
        value.texts.emplace_back(pointer == nullptr ? "" : pointer);
    }
    hdf5_must(H5Dvlen_reclaim(type, space, H5P_DEFAULT, pointers.data()), "H5Dvlen_reclaim");
}

void read_fixed_length(hid_t attribute, hid_t type, PlainValue& value) {
    const auto length = static_cast<std::size_t>(value.text_bytes);
    std::vector<char> bytes(length * static_cast<std::size_t>(value.count()));
    if (H5Aread(attribute, type, bytes.data()) < 0) {
        throw LeftOut("it cannot be read: " + hdf5_error_text());
    }
    for (std::int64_t i = 0; i < value.count(); ++i) {
        std::string text(bytes.data() + static_cast<std::size_t>(i) * length, length);
        text.erase(text.find_last_not_of('\0') + 1);
        if (H5Tget_strpad(type) == H5T_STR_NULLTERM) {
            text.erase(std::min(text.find('\0'), text.size()));
        }
        value.texts.push_back(std::move(text));
    }
}

void read_texts(hid_t attribute, hid_t type, hid_t space, PlainValue& value) {
    value.kind = PlainValue::Kind::text;
    value.utf8 = H5Tget_cset(type) == H5T_CSET_UTF8;
    if (H5Tis_variable_str(type) > 0) {
        read_any_length(attribute, type, space, value);
    } else {
        value.text_bytes = static_cast<std::int64_t>(H5Tget_size(type));
        if (value.text_bytes > most_attribute_bytes / std::max<std::int64_t>(value.count(), 1)) {
            throw LeftOut(fmt::format("it has more than {} bytes", most_attribute_bytes));
        }
        read_fixed_length(attribute, type, value);
    }
    std::size_t bytes = 0;
    for (const std::string& text : value.texts) {
        bytes += text.size() + 1;
    }
    if (bytes > static_cast<std::size_t>(most_attribute_bytes)) {
        throw LeftOut(fmt::format("it has more than {} bytes", most_attribute_bytes));
    }
}

void turn_bytes(PlainValue& value, const TypeHandle& read, hid_t memory) {
    if (has_other_order(read, memory)) {
        swap_bytes(value.bytes.data(), value.count(), size_of(value.type));
    }
}

PlainValue read_attribute(hid_t attribute) {
    const TypeHandle type(hdf5_must(H5Aget_type(attribute), "H5Aget_type"));
    const SpaceHandle space(hdf5_must(H5Aget_space(attribute), "H5Aget_space"));
    PlainValue value;
    read_space(space.get(), most_attribute_bytes, value);
    if (H5Tget_class(type.get()) == H5T_STRING) {
        read_texts(attribute, type.get(), space.get(), value);
        return value;
    }
    const bool truth = is_truth_type(type.get());
    const std::optional<ElementType> number =
        truth ? std::optional(ElementType::int8) : number_type(type.get());
    if (!number) {
        throw LeftOut("it is of type " + describe_type(type.get()));
    }
    value.kind = truth ? PlainValue::Kind::truth : PlainValue::Kind::number;
    value.type = *number;
    if (value.count() > most_attribute_bytes / size_of(*number)) {
        throw LeftOut(fmt::format("it has more than {} bytes", most_attribute_bytes));
    }
    value.bytes.resize(static_cast<std::size_t>(value.count() * size_of(*number)));
    const hid_t memory = truth ? type.get() : hdf5_type(*number);
    const TypeHandle read = type_to_read(type.get(), memory);
    if (value.count() > 0 && H5Aread(attribute, read.get(), value.bytes.data()) < 0) {
        throw LeftOut("it cannot be read: " + hdf5_error_text());
    }
    turn_bytes(value, read, memory);
    return value;
}

herr_t add_name(hid_t /*object*/, const char* name, const H5A_info_t* /*info*/, void* list) {
    auto& names = *static_cast<std::vector<std::string>*>(list);
    constexpr std::size_t most_names = 10000;
    names.emplace_back(name);
    return names.size() < most_names ? 0 : 1;
}

} // namespace

bool is_truth_type(hid_t type) {
    return H5Tget_class(type) == H5T_ENUM &&
           describe_type(type) == "enumeration of int8 {FALSE = 0x00, TRUE = 0x01}";
}

bool is_number_type(hid_t type) { return number_type(type).has_value(); }

bool is_attribute_name(const std::string& name) {
    constexpr std::size_t longest = 255;
    return !name.empty() && name.size() <= longest && name.find('\0') == std::string::npos;
}

bool is_of_one_file(const std::string& name) {
    static constexpr std::array<std::string_view, 14> names = {
        "CLASS",  "NAME",           "REFERENCE_LIST", "DIMENSION_LIST", "PALETTE",
        "target", "INTERLACE_MODE", "DISPLAY_ORIGIN", "interpretation", "signal",
        "axis",   "primary",        "NX_class",       "default"};
    return std::find(names.begin(), names.end(), name) != names.end() ||
           name.starts_with("IMAGE_") || name.starts_with("_Netcdf4") || name.starts_with("_NC");
}

void read_attributes(hid_t object, const std::string& where, std::size_t most,
                     std::vector<NamedValue>& values, std::vector<std::string>& left_out) {
    std::vector<std::string> names;
    if (H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, nullptr, add_name, &names) < 0) {
        throw_hdf5(ExitCode::input, "cannot read the attributes", where);
    }
    std::erase_if(names, is_of_one_file);
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i == most) {
            left_out.push_back(
                fmt::format("{}: {} attributes beyond {}", where, names.size() - most, most));
            return;
        }
        try {
            if (!is_attribute_name(names[i])) {
                throw LeftOut("no such name can be written");
            }
            const AttributeHandle attribute(H5Aopen(object, names[i].c_str(), H5P_DEFAULT));
            if (!attribute.valid()) {
                throw LeftOut("it cannot be opened: " + hdf5_error_text());
            }
            values.push_back({names[i], read_attribute(attribute.get())});
        } catch (const LeftOut& reason) {
            left_out.push_back(where + "@" + names[i] + ": " + reason.what());
        }
    }
}

std::vector<std::string> attribute_texts(hid_t object, const std::string& name) {
    if (H5Aexists(object, name.c_str()) <= 0) {
        return {};
    }
    try {
        const AttributeHandle attribute(
            hdf5_read(H5Aopen(object, name.c_str(), H5P_DEFAULT), object, ExitCode::input));
        return read_attribute(attribute.get()).texts;
    } catch (const LeftOut&) {
        return {};
    }
}

PlainValue read_numbers(hid_t dataset) {
    const TypeHandle type(hdf5_must(H5Dget_type(dataset), "H5Dget_type"));
    const SpaceHandle space(hdf5_must(H5Dget_space(dataset), "H5Dget_space"));
    PlainValue value;
    const bool truth = is_truth_type(type.get());
    value.kind = truth ? PlainValue::Kind::truth : PlainValue::Kind::number;
    value.type = truth ? ElementType::int8 : number_type(type.get()).value_or(ElementType::float64);
    try {
        read_space(space.get(), most_coordinate_values, value);
    } catch (const LeftOut& reason) {
        throw Error(ExitCode::input, {"cannot read the coordinates", "", reason.what(), ""});
    }
    value.bytes.resize(static_cast<std::size_t>(value.count() * size_of(value.type)));
    const hid_t memory = truth ? type.get() : hdf5_type(value.type);
    const TypeHandle read = type_to_read(type.get(), memory);
    if (H5Dread(dataset, read.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, value.bytes.data()) < 0) {
        throw_hdf5_of(dataset, ExitCode::input, "cannot read the coordinates");
    }
    turn_bytes(value, read, memory);
    return value;
}

} // namespace runner
