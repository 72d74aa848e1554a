// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/correct/images.hpp"
#include "jobs/side_image.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace runner {

/// What makes one image of several, as Images::reduce says. No image is read yet.
std::unique_ptr<SideImage::Source> source_of(Images images);

/// The images of groups, each of rows × columns, one below the other.
std::unique_ptr<SideImage::Source>
source_of_groups(std::vector<std::unique_ptr<SideImage::Source>> groups, std::int64_t rows,
                 std::int64_t columns);

} // namespace runner
