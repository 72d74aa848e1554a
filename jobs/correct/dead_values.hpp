// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/correct/field.hpp"

#include <cstdint>

namespace runner {

/// How many values of so many frames, of `pixels` pixels each, lie where the flat field is not
/// above the dark field, or by no finite number. On all cores. @throws Error (input) where a
/// field's values are yet to be read.
std::int64_t dead_values(const Field& dark, const Field& flat, std::int64_t pixels,
                         std::int64_t frames);

} // namespace runner
