// SPDX-License-Identifier: BSD-3-Clause
#include "io/inspect/file_links.hpp"

#include "base/array_info.hpp"
#include "io/hdf5/hdf5_dataset.hpp"
#include "io/hdf5/hdf5_type.hpp"
#include "io/inspect/check_links.hpp"

#include <utility>

namespace runner {
namespace {

struct FoundLink {
    std::string path;
    H5L_type_t type = H5L_TYPE_ERROR;
    std::size_t bytes = 0; ///< of its value
};

herr_t collect_link(hid_t /*root*/, const char* name, const H5L_info_t* info, void* list) {
    if (info->type != H5L_TYPE_HARD) {
        static_cast<std::vector<FoundLink>*>(list)->push_back(
            {"/" + std::string(name), info->type, info->u.val_size});
    }
    return 0;
}

/// "other.h5:/dataset", or a path in the same file.
std::string target_of(const FileHandle& handle, const FoundLink& link) {
    std::string value(link.bytes, '\0');
    if (value.empty() ||
        H5Lget_val(handle.get(), link.path.c_str(), value.data(), value.size(), H5P_DEFAULT) < 0) {
        return "";
    }
    if (link.type == H5L_TYPE_SOFT) {
        return value.substr(0, value.find('\0'));
    }
    unsigned flags = 0;
    const char* file = nullptr;
    const char* object = nullptr;
    if (H5Lunpack_elink_val(value.data(), value.size(), &flags, &file, &object) < 0) {
        return "";
    }
    return std::string(file) + ":" + object;
}

/// What the link leads to: a dataset's type and shape, "group", or why there is nothing.
std::string followed(const FileHandle& handle, const std::string& file, const std::string& path,
                     LinkContent& link) {
    try {
        check_links(handle, file, path, OutsideFiles(file, {}));
        const ObjectHandle object(H5Oopen(handle.get(), path.c_str(), H5P_DEFAULT));
        if (!object.valid()) {
            return "dangling";
        }
        const H5I_type_t kind = H5Iget_type(object.get());
        if (kind != H5I_DATASET) {
            return kind == H5I_GROUP ? "group" : "stored type";
        }
        const DatasetHandle dataset = open_dataset(handle, file, path);
        const TypeHandle type(hdf5_must(H5Dget_type(dataset.get()), "H5Dget_type"));
        link.is_dataset = true;
        return describe_type(type.get()) + " " + shape_text(extents_of(dataset));
    } catch (const Error& error) {
        return "dangling: " + error.text().why;
    }
}

} // namespace

std::vector<LinkContent> links_of(const FileHandle& handle, const std::string& file) {
    std::vector<FoundLink> found;
    if (H5Lvisit(handle.get(), H5_INDEX_NAME, H5_ITER_INC, collect_link, &found) < 0) {
        throw_hdf5(ExitCode::input, "cannot list the file's links", file, "Check it with h5ls");
    }
    std::vector<LinkContent> links;
    for (const FoundLink& each : found) {
        LinkContent link;
        link.path = each.path;
        link.kind = each.type == H5L_TYPE_SOFT
                        ? "soft link"
                        : (each.type == H5L_TYPE_EXTERNAL ? "external link" : "link");
        const bool readable = each.type == H5L_TYPE_SOFT || each.type == H5L_TYPE_EXTERNAL;
        link.target = readable ? target_of(handle, each) : "";
        link.leads_to = followed(handle, file, each.path, link);
        links.push_back(std::move(link));
    }
    return links;
}

} // namespace runner
