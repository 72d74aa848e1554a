// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/hdf5_dataset.hpp"

#include "base/format.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace runner {
namespace {

constexpr std::size_t listed_datasets = 20;

herr_t collect_dataset(hid_t /*root*/, const char* name, const H5O_info_t* info, void* list) {
    if (info->type == H5O_TYPE_DATASET) {
        static_cast<std::vector<std::string>*>(list)->push_back("/" + std::string(name));
    }
    return 0;
}

/// The path most like the wanted one, or else one of that name in another group.
std::optional<std::string> nearest_path(const std::string& wanted,
                                        const std::vector<std::string>& paths) {
    // Without the slash that all begin with, or short names would seem alike.
    const std::string path = wanted.substr(std::min(wanted.find_first_not_of('/'), wanted.size()));
    std::vector<std::string> names;
    names.reserve(paths.size());
    for (const std::string& each : paths) {
        names.push_back(each.substr(1));
    }
    if (const auto near = nearest_name(path, names)) {
        return "/" + *near;
    }
    const std::string name = "/" + path.substr(path.rfind('/') + 1);
    const auto same = std::find_if(paths.begin(), paths.end(),
                                   [&](const std::string& each) { return each.ends_with(name); });
    return same == paths.end() || name == "/" ? std::nullopt : std::optional(*same);
}

std::string datasets_there(const FileHandle& handle, const std::string& wanted) {
    const auto paths = dataset_paths(handle);
    if (paths.empty()) {
        return "The file has no datasets";
    }
    const auto near = nearest_path(wanted, paths);
    std::string text =
        near ? "Did you mean " + printable(*near) + "? The file has: " : "The file has: ";
    for (std::size_t i = 0; i < std::min(paths.size(), listed_datasets); ++i) {
        text += (i == 0 ? "" : ", ") + printable(paths[i]);
    }
    if (paths.size() > listed_datasets) {
        text += fmt::format(", and {} more", paths.size() - listed_datasets);
    }
    return text;
}

enum class Found { yes, no, dangling };

/// Follows the path link by link: to ask for all of it at once is an error in HDF5 where a group of
/// it is missing.
Found find_path(const FileHandle& handle, const std::string& path) {
    for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
        const std::string part = path.substr(0, end);
        if (part.find_first_not_of('/') != std::string::npos) {
            if (H5Lexists(handle.get(), part.c_str(), H5P_DEFAULT) <= 0) {
                return Found::no;
            }
            if (H5Oexists_by_name(handle.get(), part.c_str(), H5P_DEFAULT) <= 0) {
                return Found::dangling;
            }
        }
        if (end == std::string::npos) {
            return Found::yes;
        }
    }
}

} // namespace

bool has_link(const FileHandle& handle, const std::string& path) {
    for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
        // Link by link: to ask for all of it at once is an error where a group of it is missing.
        if (H5Lexists(handle.get(), path.substr(0, end).c_str(), H5P_DEFAULT) <= 0) {
            return false;
        }
        if (end == std::string::npos) {
            return true;
        }
    }
}

std::vector<std::string> dataset_paths(const FileHandle& handle) {
    std::vector<std::string> paths;
    if (H5Ovisit2(handle.get(), H5_INDEX_NAME, H5_ITER_INC, collect_dataset, &paths,
                  H5O_INFO_BASIC) < 0) {
        throw_hdf5_of(handle.get(), ExitCode::input, "cannot list the file's datasets",
                      "Check it with h5ls");
    }
    return paths;
}

DatasetHandle open_dataset(const FileHandle& handle, const std::string& file,
                           const std::string& dataset) {
    const std::string where = file_and_dataset(file, dataset);
    const Found found = find_path(handle, dataset);
    if (found == Found::no) {
        throw Error(ExitCode::input,
                    {"cannot open the dataset", where, "the file has none of that name",
                     datasets_there(handle, dataset)});
    }
    if (found == Found::dangling) {
        throw Error(ExitCode::input,
                    {"cannot open the dataset", where, "it is a link to what is not there",
                     datasets_there(handle, dataset)});
    }
    const ObjectHandle object(H5Oopen(handle.get(), dataset.c_str(), H5P_DEFAULT));
    if (!object.valid()) {
        throw_hdf5(ExitCode::input, "cannot open the dataset", where, "Check it with h5ls");
    }
    const H5I_type_t kind = H5Iget_type(object.get());
    if (kind != H5I_DATASET) {
        throw Error(ExitCode::input, {"cannot open the dataset", where,
                                      kind == H5I_GROUP ? "it is a group" : "it is a stored type",
                                      datasets_there(handle, dataset)});
    }
    DatasetHandle opened(H5Dopen2(handle.get(), dataset.c_str(), H5P_DEFAULT));
    if (!opened.valid()) {
        throw_hdf5(ExitCode::input, "cannot open the dataset", where, "Check it with h5ls");
    }
    return opened;
}

std::vector<std::int64_t> extents_of(const DatasetHandle& dataset) {
    const SpaceHandle space(hdf5_must(H5Dget_space(dataset.get()), "H5Dget_space"));
    std::array<hsize_t, H5S_MAX_RANK> extents{};
    const int rank = H5Sget_simple_extent_dims(space.get(), extents.data(), nullptr);
    if (rank <= 0) {
        return {};
    }
    return {extents.begin(), extents.begin() + rank};
}

PropertyHandle creation_of(const DatasetHandle& dataset) {
    return PropertyHandle(hdf5_must(H5Dget_create_plist(dataset.get()), "H5Dget_create_plist"));
}

std::string file_of(const DatasetHandle& dataset) {
    const auto length = hdf5_must(H5Fget_name(dataset.get(), nullptr, 0), "H5Fget_name");
    std::string name(static_cast<std::size_t>(length), '\0');
    hdf5_must(H5Fget_name(dataset.get(), name.data(), name.size() + 1), "H5Fget_name");
    return name;
}

std::string storage_of(const PropertyHandle& creation) {
    switch (H5Pget_layout(creation.get())) {
    case H5D_COMPACT: return "compact";
    case H5D_CHUNKED: return "chunked";
    case H5D_VIRTUAL: return "virtual";
    default: return H5Pget_external_count(creation.get()) > 0 ? "external" : "contiguous";
    }
}

std::vector<std::int64_t> chunk_of(const PropertyHandle& creation) {
    std::array<hsize_t, H5S_MAX_RANK> extents{};
    if (H5Pget_layout(creation.get()) != H5D_CHUNKED) {
        return {};
    }
    const int rank = H5Pget_chunk(creation.get(), H5S_MAX_RANK, extents.data());
    return {extents.begin(), extents.begin() + hdf5_must(rank, "H5Pget_chunk")};
}

std::vector<Filter> filters_of(const PropertyHandle& creation) {
    std::vector<Filter> filters;
    const int count = hdf5_must(H5Pget_nfilters(creation.get()), "H5Pget_nfilters");
    for (int i = 0; i < count; ++i) {
        std::array<unsigned, 64> values{};
        std::size_t used = values.size();
        std::array<char, 128> name{};
        unsigned flags = 0;
        const H5Z_filter_t id =
            hdf5_must(H5Pget_filter2(creation.get(), static_cast<unsigned>(i), &flags, &used,
                                     values.data(), name.size(), name.data(), nullptr),
                      "H5Pget_filter2");
        name.back() = '\0';
        filters.push_back(
            {id, name.data(), {values.begin(), values.begin() + std::min(used, values.size())}});
    }
    return filters;
}

} // namespace runner
