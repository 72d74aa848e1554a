// SPDX-License-Identifier: BSD-3-Clause
#include "io/metadata/write_value.hpp"

#include "base/error.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/hdf5_handle.hpp"
#include "io/hdf5/hdf5_type.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace runner {
namespace {

/// h5py's bool.
TypeHandle truth_type() {
    TypeHandle type(hdf5_must(H5Tenum_create(H5T_NATIVE_INT8), "H5Tenum_create"));
    for (const std::int8_t value : {std::int8_t{0}, std::int8_t{1}}) {
        hdf5_must(H5Tenum_insert(type.get(), value == 0 ? "FALSE" : "TRUE", &value),
                  "H5Tenum_insert");
    }
    return type;
}

TypeHandle text_type(const PlainValue& value) {
    TypeHandle type(hdf5_must(H5Tcopy(H5T_C_S1), "H5Tcopy"));
    hdf5_must(H5Tset_size(type.get(), value.text_bytes == 0
                                          ? H5T_VARIABLE
                                          : static_cast<std::size_t>(value.text_bytes)),
              "H5Tset_size");
    hdf5_must(H5Tset_cset(type.get(), value.utf8 ? H5T_CSET_UTF8 : H5T_CSET_ASCII), "H5Tset_cset");
    if (value.text_bytes > 0) {
        hdf5_must(H5Tset_strpad(type.get(), H5T_STR_NULLPAD), "H5Tset_strpad");
    }
    return type;
}

TypeHandle type_of(const PlainValue& value) {
    switch (value.kind) {
    case PlainValue::Kind::truth: return truth_type();
    case PlainValue::Kind::text: return text_type(value);
    case PlainValue::Kind::number: break;
    }
    return TypeHandle(hdf5_must(H5Tcopy(hdf5_type(value.type)), "H5Tcopy"));
}

SpaceHandle space_of(const PlainValue& value) {
    if (value.space != PlainValue::Space::simple) {
        return SpaceHandle(
            hdf5_must(H5Screate(value.space == PlainValue::Space::empty ? H5S_NULL : H5S_SCALAR),
                      "H5Screate"));
    }
    const std::vector<hsize_t> shape(value.shape.begin(), value.shape.end());
    return SpaceHandle(
        hdf5_must(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr),
                  "H5Screate_simple"));
}

/// The texts one after the other, each filled up with zeros.
std::vector<char> padded(const PlainValue& value) {
    const auto length = static_cast<std::size_t>(value.text_bytes);
    std::vector<char> bytes(length * value.texts.size() + 1, '\0');
    for (std::size_t i = 0; i < value.texts.size(); ++i) {
        std::copy(value.texts[i].begin(), value.texts[i].end(),
                  bytes.begin() + static_cast<std::ptrdiff_t>(i * length));
    }
    return bytes;
}

/// Calls `write` with the place of the values in memory.
template <class Write> auto with_values(const PlainValue& value, Write write) {
    if (value.count() == 0) {
        // HDF5 wants a place for the values even where there are none.
        const char nothing = 0;
        return write(static_cast<const void*>(&nothing));
    }
    if (value.kind != PlainValue::Kind::text) {
        return write(static_cast<const void*>(value.bytes.data()));
    }
    if (value.text_bytes > 0) {
        const std::vector<char> bytes = padded(value);
        return write(static_cast<const void*>(bytes.data()));
    }
    std::vector<const char*> pointers;
    for (const std::string& text : value.texts) {
        pointers.push_back(text.c_str());
    }
    return write(static_cast<const void*>(pointers.data()));
}

} // namespace

void write_values(hid_t object, const std::string& file, const std::vector<NamedValue>& values) {
    for (const auto& [name, value] : values) {
        if (H5Aexists(object, name.c_str()) > 0) {
            continue;
        }
        const TypeHandle type = type_of(value);
        const SpaceHandle space = space_of(value);
        with_values(value, [&, &called = name](const void* at) {
            write_attribute(object, file, called, type.get(), space, at);
        });
    }
}

void write_value(hid_t place, const std::string& file, const std::string& name,
                 const PlainValue& value, const std::vector<NamedValue>& attributes) {
    const TypeHandle type = type_of(value);
    const SpaceHandle space = space_of(value);
    const PropertyHandle creation(hdf5_must(H5Pcreate(H5P_DATASET_CREATE), "H5Pcreate"));
    hdf5_must(H5Pset_obj_track_times(creation.get(), false), "H5Pset_obj_track_times");
    DatasetHandle dataset(H5Dcreate2(place, name.c_str(), type.get(), space.get(), H5P_DEFAULT,
                                     creation.get(), H5P_DEFAULT));
    const herr_t written = !dataset.valid() ? -1 : with_values(value, [&](const void* at) {
        return H5Dwrite(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, at);
    });
    if (written < 0) {
        throw_hdf5(ExitCode::output, "cannot write the values " + name, file,
                   "Check the space on that file system");
    }
    write_values(dataset.get(), file, attributes);
    if (!dataset.close()) {
        throw_hdf5(ExitCode::output, "cannot store the values " + name, file);
    }
}

} // namespace runner
