// SPDX-License-Identifier: BSD-3-Clause
#include "io/inspect/nexus_file.hpp"

#include "base/error.hpp"
#include "io/hdf5/hdf5_dataset.hpp"
#include "io/inspect/attribute_list.hpp"
#include "io/inspect/links.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace runner {
namespace {

constexpr std::size_t most_names = 4096; ///< of a group, that are looked at
constexpr std::size_t longest_text = 4096;

/// The identity of an object: its file and its address in it.
struct Place {
    unsigned long file = 0;
    haddr_t address = HADDR_UNDEF;
};

std::optional<Place> place_of(const ObjectHandle& object) {
    H5O_info_t info{};
    if (!object.valid() || H5Oget_info2(object.get(), &info, H5O_INFO_BASIC) < 0) {
        return std::nullopt;
    }
    return Place{info.fileno, info.addr};
}

std::string without_padding(std::string text) {
    text.resize(std::min(text.find('\0'), text.size()));
    return text.substr(0, text.find_last_not_of(' ') + 1);
}

} // namespace

ObjectHandle NexusFile::open(const std::string& path) const {
    if (path != "/") {
        check_links(handle_, file_, path, outside_);
    }
    return ObjectHandle(H5Oopen(handle_.get(), path.c_str(), H5P_DEFAULT));
}

bool NexusFile::is_dataset(const std::string& path) const {
    const ObjectHandle object = open(path);
    return object.valid() && H5Iget_type(object.get()) == H5I_DATASET;
}

bool NexusFile::is_group(const std::string& path) const {
    const ObjectHandle object = open(path);
    return object.valid() && H5Iget_type(object.get()) == H5I_GROUP;
}

std::vector<std::int64_t> NexusFile::shape_of(const std::string& path) const {
    check_links(handle_, file_, path, outside_);
    return extents_of(open_dataset(handle_, file_, path));
}

std::optional<AttributeValue> NexusFile::attribute(const std::string& path,
                                                   const std::string& name) const {
    const ObjectHandle object = open(path);
    if (!object.valid() || H5Aexists(object.get(), name.c_str()) <= 0) {
        return std::nullopt;
    }
    for (auto& [found, value] : attributes_of(object.get())) {
        if (found == name) {
            return value;
        }
    }
    return std::nullopt;
}

std::optional<std::string> NexusFile::text(const std::string& path, const std::string& name) const {
    const ObjectHandle object = open(path);
    return object.valid() ? text_of_attribute(object.get(), name) : std::nullopt;
}

std::optional<std::string> NexusFile::dataset_text(const std::string& path) const {
    const ObjectHandle object = open(path);
    if (!object.valid() || H5Iget_type(object.get()) != H5I_DATASET) {
        return std::nullopt;
    }
    const TypeHandle type(hdf5_must(H5Dget_type(object.get()), "H5Dget_type"));
    const SpaceHandle space(hdf5_must(H5Dget_space(object.get()), "H5Dget_space"));
    if (H5Tget_class(type.get()) != H5T_STRING || H5Sget_simple_extent_npoints(space.get()) != 1 ||
        H5Dget_storage_size(object.get()) == 0) {
        return std::nullopt;
    }
    if (H5Tis_variable_str(type.get()) <= 0) {
        std::string text(H5Tget_size(type.get()), '\0');
        return text.size() <= longest_text && H5Dread(object.get(), type.get(), H5S_ALL, H5S_ALL,
                                                      H5P_DEFAULT, text.data()) >= 0
                   ? std::optional(without_padding(std::move(text)))
                   : std::nullopt;
    }
    char* value = nullptr;
    if (H5Dread(object.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, &value) < 0 ||
        value == nullptr) {
        return std::nullopt;
    }
    std::string text(value, ::strnlen(value, longest_text));
    (void)H5Dvlen_reclaim(type.get(), space.get(), H5P_DEFAULT, &value);
    return without_padding(std::move(text));
}

std::vector<std::string> NexusFile::names_in(const std::string& group) const {
    std::vector<std::string> names;
    const ObjectHandle object = open(group);
    if (!object.valid() || H5Iget_type(object.get()) != H5I_GROUP) {
        return names;
    }
    const auto add = [](hid_t, const char* name, const H5L_info_t*, void* list) -> herr_t {
        auto& all = *static_cast<std::vector<std::string>*>(list);
        all.emplace_back(name);
        return all.size() < most_names ? 0 : 1;
    };
    (void)H5Literate(object.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &names);
    return names;
}

std::vector<std::string> NexusFile::groups_of_class(const std::string& group,
                                                    const std::string& nx_class) const {
    std::vector<std::string> found;
    for (const std::string& name : names_in(group)) {
        const std::string path = path_below(group, name);
        try {
            if (text(path, "NX_class") == nx_class) {
                found.push_back(path);
            }
        } catch (const Error&) { // it is behind a link that cannot be followed
        }
    }
    return found;
}

std::string NexusFile::real_path(const std::string& path) const {
    constexpr std::size_t longest = 1024;
    const ObjectHandle object = open(path);
    const std::optional<Place> place = place_of(object);
    const std::optional<Place> root = place_of(open("/"));
    if (!place || !root || place->file != root->file) {
        return "";
    }
    std::string name(longest, '\0');
    const ssize_t length = H5Iget_name(object.get(), name.data(), name.size());
    if (length <= 0 || length >= std::ssize(name)) {
        return "";
    }
    name.resize(static_cast<std::size_t>(length));
    return name;
}

FileMarks NexusFile::files_of(const std::string& path) const {
    return check_links(handle_, file_, path, outside_);
}

bool NexusFile::is_same(const std::string& a, const std::string& b) const {
    // Both stay open: another file that is opened again has another number.
    const ObjectHandle one = open(a);
    const ObjectHandle other = open(b);
    const std::optional<Place> first = place_of(one);
    const std::optional<Place> second = place_of(other);
    return first && second && first->file == second->file && first->address == second->address;
}

std::string path_below(const std::string& group, const std::string& name) {
    return name.starts_with('/') ? name : (group == "/" ? "" : group) + "/" + name;
}

std::string group_of_path(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos || slash == 0 ? "/" : path.substr(0, slash);
}

bool is_first_signal(const std::optional<AttributeValue>& value) {
    return value && (*value == AttributeValue(std::int64_t{1}) ||
                     *value == AttributeValue(std::string("1")) ||
                     *value == AttributeValue(std::vector<std::int64_t>{1}));
}

} // namespace runner
