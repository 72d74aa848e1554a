// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_info.hpp"
#include "io/input/file_access.hpp"
#include "io/rows/rows.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace runner {

/// How a dataset is images.
struct ImageShape {
    std::int64_t frames = 1; ///< of the flattened leading axes
    std::int64_t height = 1;
    std::int64_t width = 1;
    int channels = 1; ///< 1, or 3 or 4 for colour

    /// The reader's rows that one line of the image is: a colour pixel is a row of its own there.
    std::int64_t rows_per_line() const { return channels == 1 ? 1 : width; }
    std::int64_t line_elements() const { return width * channels; }
};

/// The last two axes are rows × columns; in colour they are the two before. A dataset is in colour
/// where its file says so (DatasetInfo::channels); where the file says nothing, if it has three
/// axes or more of uint8 of which the last has the extent 3. Cells of sand never are. `where` names
/// the dataset. @throws Error (input) for one axis only.
enum class Content { any, sand };
ImageShape image_shape(const DatasetInfo& info, Content content, const std::string& where);

/// DatasetInfo::channels of a dataset, or by `colour` where that says whether its last axis is
/// colour. @throws Error (usage) where it says so of no such axis (may_be_colour()).
std::optional<int> chosen_channels(const DatasetInfo& info, const std::optional<bool>& colour,
                                   const std::string& where);

/// Whether a dataset holds cells of sand: bytes of a .sand file, or of a file whose root has the
/// attribute kind = "sand". @throws Error (input).
Content content_of(FileAccess& files, const std::string& file, const DatasetInfo& info);

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
