// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/metadata/metadata.hpp"
#include "io/rows/placement.hpp"

#include <optional>
#include <string_view>

namespace runner {

/// The attribute of a dataset of this program's that holds its Placement, as to_text() writes it.
inline constexpr const char* placement_attribute = "placement";

/// The metadata's placement; where there is none, what an attribute of sizes, one for each axis, or
/// evenly spaced coordinates say.
Placement placement_from(const Metadata& metadata);

/// Whether an attribute of this name has a size for each axis, in their order.
bool is_size_of_axes(std::string_view name);

/// The spacing of all axes in micrometres, the value of `element_size_um`; nothing where that of
/// one is no known length.
std::optional<PlainValue> sizes_in_micrometres(const Placement& placement);

} // namespace runner
