// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/object_names.hpp"

#include "io/hdf5/attributes.hpp"
#include "io/hdf5/hdf5_file.hpp"

#include <exception>
#include <utility>

namespace runner {
namespace {

/// Names as they are found.
struct Names {
    std::vector<std::string> all;
    std::string object; ///< whose attributes are being listed

    bool full() const { return all.size() >= most_object_names; }
};

herr_t add_attribute(hid_t /*object*/, const char* name, const H5A_info_t* /*info*/, void* data) {
    auto& names = *static_cast<Names*>(data);
    try { // an exception must not pass through HDF5's C code
        names.all.push_back(names.object + "@" + object_line(name));
    } catch (const std::exception&) {
        return -1;
    }
    return names.full() ? 1 : 0;
}

bool add_attributes(hid_t object, Names& names) {
    return H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, nullptr, add_attribute, &names) >= 0;
}

herr_t add_link(hid_t root, const char* name, const H5L_info_t* info, void* data) {
    auto& names = *static_cast<Names*>(data);
    try {
        names.object = "/" + object_line(name);
        names.all.push_back(names.object);
        if (info->type == H5L_TYPE_HARD && !names.full()) {
            const ObjectHandle object(H5Oopen(root, name, H5P_DEFAULT));
            if (!object.valid() || !add_attributes(object.get(), names)) {
                return -1;
            }
        }
    } catch (const std::exception&) {
        return -1;
    }
    return names.full() ? 1 : 0;
}

std::vector<std::string> names_in(const FileHandle& handle, const std::string& file,
                                  ExitCode code) {
    Names names;
    names.object = "/";
    const ObjectHandle root(H5Oopen(handle.get(), "/", H5P_DEFAULT));
    if (!root.valid() || !add_attributes(root.get(), names) ||
        (!names.full() && H5Lvisit(root.get(), H5_INDEX_NAME, H5_ITER_INC, add_link, &names) < 0)) {
        throw_hdf5(code, "cannot list what is in the file", file, "Check it with h5ls -r");
    }
    return std::move(names.all);
}

} // namespace

std::string object_line(const std::string& name) {
    std::string text;
    for (const char c : name) {
        text += c == '\\' ? "\\\\" : (c == '\n' ? "\\n" : std::string(1, c));
    }
    return text;
}

std::vector<std::string> object_names(const std::string& file) {
    return names_in(open_hdf5(file), file, ExitCode::input);
}

void record_object_names(const std::string& file, const std::vector<std::string>& to_come) {
    FileHandle handle = update_hdf5(file);
    std::vector<std::string> names = names_in(handle, file, ExitCode::output);
    names.insert(names.end(), to_come.begin(), to_come.end());
    std::string lines;
    for (const std::string& name : names) {
        lines += name + "\n";
    }
    write_text(handle.get(), file, objects_attribute, lines);
    close_hdf5(std::move(handle), file);
}

} // namespace runner
