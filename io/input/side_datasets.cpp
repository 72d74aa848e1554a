// SPDX-License-Identifier: BSD-3-Clause
#include "io/input/side_datasets.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/input/check_storage.hpp"
#include "io/inspect/axis_marks.hpp"
#include "io/inspect/invalid_marks.hpp"
#include "io/inspect/nexus_file.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

namespace runner {
namespace {

constexpr std::int64_t most_in_chunk = std::int64_t{1} << 20; ///< elements

/// The paths of what the file says are coordinates of a dataset's axes.
class CoordinatePaths {
  public:
    CoordinatePaths(const NexusFile& nexus, const FileHandle& file, const DatasetLayout& layout)
        : nexus_(nexus), dataset_(path_below("/", layout.dataset)), group_(group_of_path(dataset_)),
          scales_(dimension_scales(open_dataset(file, layout.file, dataset_).get(),
                                   layout.info.axes.each.size())),
          of_group_(is_signal()) {}

    /// "" where there are none in this file, or it does not say so.
    std::string of(std::size_t axis, const std::string& name) const {
        const bool is_scale = !scales_.empty() && scales_[axis].name() == name;
        std::string path = is_scale ? scales_[axis].path : path_below(group_, name);
        const bool says = is_scale ? scales_[axis].has_numbers
                                   : of_group_ && (nexus_.attribute(group_, "axes") ||
                                                   nexus_.attribute(group_, name + "_indices"));
        return says && nexus_.is_dataset(path) && !nexus_.real_path(path).empty() ? path : "";
    }

  private:
    /// Whether the group's axes are the dataset's. A signal behind a broken link is another one.
    bool is_signal() const {
        try {
            const std::optional<std::string> signal = nexus_.text(group_, "signal");
            return !signal || nexus_.is_same(path_below(group_, *signal), dataset_);
        } catch (const Error&) {
            return false;
        }
    }

    const NexusFile& nexus_;
    std::string dataset_;
    std::string group_;
    std::vector<DimensionScale> scales_;
    bool of_group_;
};

/// Whether they are such that axis_marks() leaves to this, and few enough to read.
bool is_left(const DatasetHandle& coordinates, bool is_linked) {
    const PropertyHandle creation = creation_of(coordinates);
    const std::vector<std::int64_t> chunk = chunk_of(creation);
    const std::string storage = storage_of(creation);
    return storage == "chunked" ? chunk.size() == 1 && chunk.front() <= most_in_chunk
                                : storage == "contiguous" && is_linked;
}

} // namespace

std::vector<std::int64_t> read_frame_marks(const std::string& file, const std::string& dataset,
                                           std::int64_t frames, FileAccess& files) {
    const auto refuse = [&](const std::string& why) {
        throw Error(ExitCode::input, {"cannot choose frames by that dataset", file + ":" + dataset,
                                      why, "Name a dataset with one integer for each frame"});
    };
    const std::unique_ptr<RowReader> reader = open_rows_of(files, file, dataset, 1);
    const ArrayInfo array = reader->info().array;
    if (array.shape != std::vector<std::int64_t>{frames} &&
        array.shape != std::vector<std::int64_t>{frames, 1}) {
        refuse(fmt::format("its shape is {}, and there are {} frames", shape_text(array.shape),
                           frames));
    }
    if (!is_number(array.type)) {
        refuse("its elements are " + type_text(array));
    }
    std::vector<std::byte> bytes(static_cast<std::size_t>(byte_count(array)));
    reader->read(0, frames, bytes.data()); // each element is a row
    constexpr double most = 2147483648.0;
    std::vector<std::int64_t> marks(static_cast<std::size_t>(frames));
    visit_element_type(array.type, [&](auto element) {
        for (std::size_t i = 0; i < marks.size(); ++i) {
            std::memcpy(&element, bytes.data() + i * sizeof(element), sizeof(element));
            const double number = static_cast<double>(element);
            if (!(std::abs(number) <= most) || std::trunc(number) != number) {
                refuse(fmt::format("the number of frame {} is no integer up to 2^31", i));
            }
            marks[i] = static_cast<std::int64_t>(number);
        }
    });
    return marks;
}

FrameRoles read_frame_roles(const std::string& file, const FrameKey& key, std::int64_t frames,
                            FileAccess& files) {
    FrameRoles roles;
    roles.key = key.key;
    roles.groups = key.groups;
    try {
        const std::vector<std::int64_t> keys = read_frame_marks(file, key.key, frames, files);
        const std::vector<std::int64_t> control =
            key.control.empty() ? keys : read_frame_marks(file, key.control, frames, files);
        std::vector<FrameRole> found;
        for (std::size_t i = 0; i < keys.size(); ++i) {
            const std::optional<FrameRole> role = role_of_key(control[i] == -1 ? -1 : keys[i]);
            if (!role) {
                roles.fault = fmt::format("{} is {} for frame {}, which NXtomo gives no meaning",
                                          key.key, keys[i], i);
                return roles;
            }
            found.push_back(*role);
        }
        roles.frames = std::move(found);
    } catch (const Error& error) {
        if (error.code() != ExitCode::input) {
            throw;
        }
        roles.fault = fmt::format("{} cannot be read: {}", key.key, error.text().why);
    }
    return roles;
}

FrameRoles roles_by_marks(const std::string& dataset, const std::vector<std::int64_t>& marks) {
    FrameRoles roles;
    roles.key = dataset;
    roles.groups = {dataset.substr(0, dataset.rfind('/'))};
    for (const std::int64_t mark : marks) {
        roles.frames.push_back(role_of_key(mark).value_or(FrameRole::invalid));
    }
    return roles;
}

void place_axes(DatasetLayout& layout, const OutsideFiles& outside) {
    const FileHandle file = open_hdf5(layout.file);
    const NexusFile nexus(file, layout.file, outside);
    std::vector<Axis>& axes = layout.info.axes.each;
    const CoordinatePaths paths(nexus, file, layout);
    for (std::size_t i = 0; i < axes.size(); ++i) {
        Axis& axis = axes[i];
        if (axis.spacing || axis.name.empty() || axis.name.find('/') != std::string::npos) {
            continue;
        }
        try {
            const std::string path = paths.of(i, axis.name);
            if (path.empty()) {
                continue;
            }
            const DatasetHandle coordinates = open_dataset(file, layout.file, path);
            if (is_left(coordinates, !is_own_object(file, path))) {
                check_stored(coordinates, layout.file, path);
                place_axis(axis, layout.info.array.shape[i], file, coordinates, path);
            }
        } catch (const Error&) {
            continue; // what is damaged says nothing
        }
    }
}

} // namespace runner
