// SPDX-License-Identifier: BSD-3-Clause
#include "io/rows.hpp"

#include "io/hdf5_file.hpp"

namespace runner {
namespace {

TypeHandle text_type() {
    TypeHandle type(hdf5_must(H5Tcopy(H5T_C_S1), "H5Tcopy"));
    // Of any length: one of fixed length has its place in the header, which ends at 64 KiB.
    hdf5_must(H5Tset_size(type.get(), H5T_VARIABLE), "H5Tset_size");
    hdf5_must(H5Tset_cset(type.get(), H5T_CSET_UTF8), "H5Tset_cset");
    return type;
}

void write_attribute(const FileHandle& handle, const std::string& file, const std::string& name,
                     hid_t type, const void* value) {
    const SpaceHandle scalar(hdf5_must(H5Screate(H5S_SCALAR), "H5Screate"));
    if (H5Aexists(handle.get(), name.c_str()) > 0) {
        hdf5_must(H5Adelete(handle.get(), name.c_str()), "H5Adelete");
    }
    AttributeHandle attribute(
        H5Acreate2(handle.get(), name.c_str(), type, scalar.get(), H5P_DEFAULT, H5P_DEFAULT));
    if (!attribute.valid() || H5Awrite(attribute.get(), type, value) < 0 || !attribute.close()) {
        throw_hdf5(ExitCode::output, "cannot write the attribute " + name, file,
                   "Check the space on that file system");
    }
}

} // namespace

void write_attributes(const std::string& file, const std::vector<Attribute>& attributes) {
    FileHandle handle = update_hdf5(file);
    const TypeHandle text = text_type();
    for (const auto& [name, value] : attributes) {
        if (const auto* words = std::get_if<std::string>(&value)) {
            const char* pointer = words->c_str();
            write_attribute(handle, file, name, text.get(), &pointer);
        } else if (const auto* integer = std::get_if<std::int64_t>(&value)) {
            write_attribute(handle, file, name, H5T_NATIVE_INT64, integer);
        } else {
            write_attribute(handle, file, name, H5T_NATIVE_DOUBLE, &std::get<double>(value));
        }
    }
    close_hdf5(std::move(handle), file);
}

} // namespace runner
