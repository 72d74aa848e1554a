// SPDX-License-Identifier: BSD-3-Clause
#include "io/output/default_plot.hpp"

#include "io/hdf5/attributes.hpp"
#include "io/hdf5/hdf5_dataset.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/hdf5/hdf5_handle.hpp"
#include "io/input/generations.hpp"
#include "io/inspect/colour_marks.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace runner {
namespace {

/// The names on the way from the root to a dataset.
std::vector<std::string> names_of(const std::string& path) {
    std::vector<std::string> names;
    for (std::size_t begin = 0; begin < path.size();) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        const std::string name = path.substr(begin, end - begin);
        if (!name.empty() && name != ".") {
            names.push_back(name);
        }
        begin = end + 1;
    }
    return names;
}

/// Whether the frames' generations are one a frame of the dataset's only leading axis.
bool has_generation_axis(const FileHandle& handle, const std::string& file,
                         const std::string& dataset, const std::vector<std::int64_t>& shape) {
    const std::string name = generations_name(dataset);
    if (shape.size() != 3 || H5Lexists(handle.get(), name.c_str(), H5P_DEFAULT) <= 0) {
        return false;
    }
    const DatasetHandle generations = of_output([&] { return open_dataset(handle, file, name); });
    return extents_of(generations) == std::vector<std::int64_t>{shape.front()};
}

ObjectHandle open_group(const FileHandle& handle, const std::string& path) {
    return ObjectHandle(hdf5_read(H5Oopen(handle.get(), path.c_str(), H5P_DEFAULT), handle.get(),
                                  ExitCode::output));
}

} // namespace

void write_default_plot(const std::string& file, const std::string& dataset, int channels) {
    const std::vector<std::string> names = names_of(dataset);
    FileHandle handle = update_hdf5(file);
    std::vector<std::int64_t> shape;
    {
        const DatasetHandle opened = of_output([&] { return open_dataset(handle, file, dataset); });
        shape = extents_of(opened);
        if (shape.size() >= 2) {
            mark_image(opened.get(), file, shape, channels);
        }
    }
    std::string path = "/";
    for (std::size_t i = 0; i + 1 < names.size(); ++i) {
        const ObjectHandle group = open_group(handle, path);
        if (i == 0) {
            write_text(group.get(), file, "NX_class", "NXroot");
        }
        write_text(group.get(), file, "default", names[i]);
        path += (i == 0 ? "" : "/") + names[i];
    }
    {
        const ObjectHandle group = open_group(handle, path);
        write_text(group.get(), file, "NX_class", "NXdata");
        write_text(group.get(), file, "signal", names.back());
        if (has_generation_axis(handle, file, dataset, shape)) {
            write_texts(group.get(), file, "axes", {"generation", ".", "."});
        }
    }
    close_hdf5(std::move(handle), file);
}

} // namespace runner
