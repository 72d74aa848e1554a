// SPDX-License-Identifier: BSD-3-Clause
#include "io/metadata/write_metadata.hpp"

#include "io/hdf5/attributes.hpp"
#include "io/hdf5/hdf5_dataset.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/hdf5/hdf5_handle.hpp"
#include "io/metadata/read_value.hpp"
#include "io/metadata/scan_items.hpp"
#include "io/metadata/write_value.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace runner {
namespace {

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
        write_values(dataset_.get(), file_, metadata.dataset);
        std::vector<NamedValue> of_group = metadata.group;
        if (group_path_ == "/") { // the root's attributes are the record of the run
            std::erase_if(of_group, [](const NamedValue& each) { return each.name != "title"; });
        }
        write_values(group_.get(), file_, of_group);
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

    /// False where the name is taken.
    bool write_coordinates(const Coordinates& each) {
        if (H5Lexists(group_.get(), each.name.c_str(), H5P_DEFAULT) > 0) {
            no_place_.push_back(each.name + ": the output has something else of that name");
            return false;
        }
        write_value(group_.get(), file_, each.name, each.values, each.attributes);
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
    std::vector<std::string> no_place = writer.close();
    if (!metadata.scan.empty()) {
        write_scan(file, dataset, metadata.scan);
    }
    return no_place;
}

} // namespace runner
