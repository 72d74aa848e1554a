// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/json.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace runner {

/// Checks what the attributes of a group say of its first image by the rules of OME-Zarr 0.4 and
/// 0.5: its axes, the paths and transformations of its levels, and its channels. Returns the number
/// of axes that its arrays must have. Nothing is checked, and nothing returned, where the image
/// says no version in Zarr 2, another one, or names its axes as versions before 0.4 do. The order
/// of the axes is not checked: they can be told apart in any. @throws JsonError that says what is
/// wrong.
std::optional<std::size_t> check_first_image(const Json& attributes);

/// The unit of an axis as OME-Zarr has it; empty for others. `type`: of the axis, space or time.
std::string ome_unit(std::string_view unit, std::string_view type);

} // namespace runner
