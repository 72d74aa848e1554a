// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/attributes.hpp"

#include "io/hdf5/hdf5_file.hpp"

namespace runner {

TypeHandle text_type() {
    TypeHandle type(hdf5_must(H5Tcopy(H5T_C_S1), "H5Tcopy"));
    // A text of fixed length is stored in the header, which ends at 64 KiB.
    hdf5_must(H5Tset_size(type.get(), H5T_VARIABLE), "H5Tset_size");
    hdf5_must(H5Tset_cset(type.get(), H5T_CSET_UTF8), "H5Tset_cset");
    return type;
}

void write_attribute(hid_t object, const std::string& file, const std::string& name, hid_t type,
                     const SpaceHandle& space, const void* value) {
    if (H5Aexists(object, name.c_str()) > 0) {
        hdf5_must(H5Adelete(object, name.c_str()), "H5Adelete");
    }
    AttributeHandle attribute(
        H5Acreate2(object, name.c_str(), type, space.get(), H5P_DEFAULT, H5P_DEFAULT));
    if (!attribute.valid() || H5Awrite(attribute.get(), type, value) < 0 || !attribute.close()) {
        throw_hdf5(ExitCode::output, "cannot write the attribute " + name, file,
                   "Check the space on that file system");
    }
}

void write_text(hid_t object, const std::string& file, const std::string& name,
                const std::string& text) {
    const SpaceHandle scalar(hdf5_must(H5Screate(H5S_SCALAR), "H5Screate"));
    const char* pointer = text.c_str();
    write_attribute(object, file, name, text_type().get(), scalar, &pointer);
}

void write_texts(hid_t object, const std::string& file, const std::string& name,
                 const std::vector<std::string>& texts) {
    const hsize_t count = texts.size();
    const SpaceHandle space(hdf5_must(H5Screate_simple(1, &count, nullptr), "H5Screate_simple"));
    std::vector<const char*> pointers;
    pointers.reserve(texts.size());
    for (const std::string& text : texts) {
        pointers.push_back(text.c_str());
    }
    write_attribute(object, file, name, text_type().get(), space, pointers.data());
}

void write_attributes(const std::string& file, const std::vector<Attribute>& attributes) {
    FileHandle handle = update_hdf5(file);
    const SpaceHandle scalar(hdf5_must(H5Screate(H5S_SCALAR), "H5Screate"));
    for (const auto& [name, value] : attributes) {
        if (const auto* words = std::get_if<std::string>(&value)) {
            write_text(handle.get(), file, name, *words);
        } else if (const auto* integer = std::get_if<std::int64_t>(&value)) {
            write_attribute(handle.get(), file, name, H5T_NATIVE_INT64, scalar, integer);
        } else {
            write_attribute(handle.get(), file, name, H5T_NATIVE_DOUBLE, scalar,
                            &std::get<double>(value));
        }
    }
    close_hdf5(std::move(handle), file);
}

} // namespace runner
