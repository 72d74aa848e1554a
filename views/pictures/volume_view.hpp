// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_info.hpp"
#include "views/pictures/image_shape.hpp"

#include <cstdint>
#include <string>

namespace runner {

/// The last three axes of a dataset, seen across one of them.
struct VolumeView {
    std::int64_t volumes = 1; ///< of the flattened axes before
    std::int64_t depth = 1;   ///< extents of the three, the last running fastest
    std::int64_t height = 1;
    std::int64_t width = 1;
    int axis = 0; ///< of the three, 0 to 2: the one along which frames are counted

    /// Frames in all volumes, and the two axes that a frame shows, the earlier one downwards.
    ImageShape image() const;
};

/// `axis` counts the dataset's axes from 0. @throws Error: (usage) for an axis that is none of its
/// last three; (input) where it has fewer than three. `where` names the dataset.
VolumeView view_across(const ArrayInfo& array, std::int64_t axis, const std::string& where);

} // namespace runner
