// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "views/pictures/image_lines.hpp"

#include <cstdint>
#include <vector>

namespace runner {

/// What a pixel takes of all elements behind it.
enum class Projection { maximum, minimum, mean };

/// The finite elements of one volume along the axis of `source.view`, which is there: one value for
/// each pixel of its image, row by row; NaN where none is finite. Reads the whole volume once, in
/// bounded memory beside the values. @throws Error: (input); (usage) where the values are too many.
std::vector<double> project(const ImageSource& source, std::int64_t volume, Projection projection);

} // namespace runner
