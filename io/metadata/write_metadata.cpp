// SPDX-License-Identifier: BSD-3-Clause
#include "io/metadata/write_metadata.hpp"

#include "io/hdf5/attributes.hpp"
#include "io/hdf5/hdf5_dataset.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/hdf5/hdf5_handle.hpp"
#include "io/hdf5/hdf5_type.hpp"
#include "io/metadata/read_value.hpp"

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

class MetadataWriter {
  public:
    MetadataWriter(const std::string& file, const std::string& dataset)
        : file_(file), handle_(update_hdf5(file)) {
        dataset_ = open(dataset);
        const std::size_t slash = dataset.rfind('/');
        group_path_ = slash == 0 || slash == std::string::npos ? "/" : dataset.substr(0, slash);
        if (H5Iget_type(dataset_.get()) == H5I_GROUP) {
            group_path_ = dataset;
        }
        group_ = open(group_path_);
    }

    void write(const Metadata& metadata) {
        write_attributes_of(dataset_.get(), metadata.dataset);
        std::vector<NamedValue> of_group = metadata.group;
        if (group_path_ == "/") { // the root's attributes are the record of the run
            std::erase_if(of_group, [](const NamedValue& each) { return each.name != "title"; });
        }
        write_attributes_of(group_.get(), of_group);
        std::vector<std::string> axes = metadata.axes;
        for (const Coordinates& each : metadata.coordinates) {
            if (!write_coordinates(each)) {
                std::replace(axes.begin(), axes.end(), each.name, std::string("."));
            }
        }
        const std::vector<std::string> named = attribute_texts(group_.get(), "axes");
        for (std::size_t axis = 0; axis < std::min(axes.size(), named.size()); ++axis) {
            if (named[axis] != ".") {
                axes[axis] = named[axis];
            }
        }
        if (std::any_of(axes.begin(), axes.end(), [](const auto& name) { return name != "."; })) {
            write_texts(group_.get(), file_, "axes", axes);
        }
    }

    std::vector<std::string> close() {
        group_ = {};
        dataset_ = {};
        close_hdf5(std::move(handle_), file_);
        return std::move(no_place_);
    }

  private:
    ObjectHandle open(const std::string& path) const {
        return ObjectHandle(hdf5_read(H5Oopen(handle_.get(), path.c_str(), H5P_DEFAULT),
                                      handle_.get(), ExitCode::output));
    }

    void write_attributes_of(hid_t object, const std::vector<NamedValue>& values) {
        for (const auto& [name, value] : values) {
            if (H5Aexists(object, name.c_str()) > 0) {
                continue;
            }
            const TypeHandle type = type_of(value);
            const SpaceHandle space = space_of(value);
            if (value.count() == 0) {
                // HDF5 wants a place for the values even where there are none.
                const char nothing = 0;
                write_attribute(object, file_, name, type.get(), space, &nothing);
            } else if (value.kind != PlainValue::Kind::text) {
                write_attribute(object, file_, name, type.get(), space, value.bytes.data());
            } else if (value.text_bytes > 0) {
                write_attribute(object, file_, name, type.get(), space, padded(value).data());
            } else {
                std::vector<const char*> pointers;
                for (const std::string& text : value.texts) {
                    pointers.push_back(text.c_str());
                }
                write_attribute(object, file_, name, type.get(), space, pointers.data());
            }
        }
    }

    /// False where the name is taken.
    bool write_coordinates(const Coordinates& each) {
        if (H5Lexists(group_.get(), each.name.c_str(), H5P_DEFAULT) > 0) {
            no_place_.push_back(each.name + ": the output has something else of that name");
            return false;
        }
        const TypeHandle type = type_of(each.values);
        const SpaceHandle space = space_of(each.values);
        const PropertyHandle creation(hdf5_must(H5Pcreate(H5P_DATASET_CREATE), "H5Pcreate"));
        // No times: the same job makes the same bytes.
        hdf5_must(H5Pset_obj_track_times(creation.get(), false), "H5Pset_obj_track_times");
        DatasetHandle dataset(H5Dcreate2(group_.get(), each.name.c_str(), type.get(), space.get(),
                                         H5P_DEFAULT, creation.get(), H5P_DEFAULT));
        if (!dataset.valid() || H5Dwrite(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT,
                                         each.values.bytes.data()) < 0) {
            throw_hdf5(ExitCode::output, "cannot write the coordinates " + each.name, file_,
                       "Check the space on that file system");
        }
        write_attributes_of(dataset.get(), each.attributes);
        if (!dataset.close()) {
            throw_hdf5(ExitCode::output, "cannot store the coordinates " + each.name, file_);
        }
        const std::string axis_indices = each.name + "_indices";
        if (H5Aexists(group_.get(), axis_indices.c_str()) <= 0) {
            const SpaceHandle scalar(hdf5_must(H5Screate(H5S_SCALAR), "H5Screate"));
            write_attribute(group_.get(), file_, axis_indices, H5T_NATIVE_INT64, scalar,
                            &each.axis);
        }
        return true;
    }

    const std::string& file_;
    std::string group_path_;
    FileHandle handle_;
    ObjectHandle group_;
    ObjectHandle dataset_;
    std::vector<std::string> no_place_;
};

} // namespace

std::vector<std::string> write_metadata(const std::string& file, const std::string& dataset,
                                        const Metadata& metadata) {
    if (metadata.empty()) {
        return {}; // opening the file again costs 0.3 ms, which a batch pays for each dataset
    }
    MetadataWriter writer(file, dataset);
    writer.write(metadata);
    return writer.close();
}

} // namespace runner
