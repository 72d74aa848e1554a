// SPDX-License-Identifier: BSD-3-Clause
#include "io/input/axis_coordinates.hpp"

#include "base/error.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/input/check_storage.hpp"
#include "io/inspect/axis_marks.hpp"
#include "io/inspect/invalid_marks.hpp"
#include "io/inspect/nexus_file.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace runner {
namespace {

constexpr std::int64_t most_in_chunk = std::int64_t{1} << 20; ///< elements

/// The paths of what the file says are coordinates of a dataset's axes.
class CoordinatePaths {
  public:
    CoordinatePaths(const NexusFile& nexus, const FileHandle& file, const DatasetLayout& layout)
        : nexus_(nexus), dataset_(path_below("/", layout.dataset)), group_(group_of_path(dataset_)),
          scales_(dimension_scales(open_dataset(file, layout.file, dataset_).get(),
                                   layout.info.axes.each.size())) {
        const std::optional<std::string> signal = nexus.text(group_, "signal");
        of_group_ = !signal || nexus.is_same(path_below(group_, *signal), dataset_);
    }

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
    const NexusFile& nexus_;
    std::string dataset_;
    std::string group_;
    std::vector<DimensionScale> scales_;
    bool of_group_ = false; ///< whether the group's axes are this dataset's
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

void place_axes(DatasetLayout& layout, const FileHandle& file, const OutsideFiles& outside) {
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
