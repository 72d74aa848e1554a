// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/json.hpp"
#include "io/rows/rows.hpp"
#include "io/zarr/zarr_store.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace runner {

/// What OME-Zarr (NGFF 0.4 and 0.5) says of the levels of images, in the attributes of groups.

/// The attributes of a group or an array; an empty object where there are none. @throws Error
/// (input).
Json zarr_attributes(ZarrStore& store, const std::string& name);

/// Level 0 of a group's first image.
struct FirstLevel {
    std::string name;                ///< in the store
    std::optional<std::size_t> axes; ///< that it must have, where the rules say so
    std::string note = {};           ///< of the images beside it, for people; empty without
};

/// Nothing where the group has no image. @throws Error (input), also for an image that OME-Zarr
/// does not allow (ome_rules.hpp).
std::optional<FirstLevel> first_level(ZarrStore& store, const std::string& group);

/// What to try where a group describes its image wrongly.
std::string mend_image(const ZarrStore& store);

/// Adds to an array's description what the groups above it say of it as a level of an image:
/// its axes, and the names and colours of channels. A description that does not fit the array says
/// nothing, and a note says so; so it does where the array's own `metadata` name other axes.
void describe_level(ZarrStore& store, const std::string& array, std::string_view metadata,
                    DatasetInfo& info);

/// Adds to an array's description the names of its axes that its own metadata say.
void describe_names(ZarrStore& store, const std::string& array, std::string_view metadata,
                    DatasetInfo& info);

/// Adds the array's own attributes to DatasetInfo::unkept, by their names, without those that
/// DatasetInfo::invalid has.
void list_unkept(ZarrStore& store, const std::string& array, DatasetInfo& info);

} // namespace runner
