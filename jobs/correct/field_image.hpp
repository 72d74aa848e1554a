// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/correct/field.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace runner {

/// The image that these images become, for frames of these extents; none is read yet.
/// @throws Error (usage, input).
std::shared_ptr<const SideImage> open_field_image(const FieldSource& source, const FieldRole& role,
                                                  const JobInput& input,
                                                  const std::vector<std::int64_t>& frame);

} // namespace runner
