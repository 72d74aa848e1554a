// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/zarr/zarr_store.hpp"

#include <string>
#include <vector>

namespace runner {

/// A group of OME-Zarr that holds images, and is none itself.
struct ImageContainer {
    std::string what;                ///< "a plate", "a well of a plate", "a container of images"
    std::vector<std::string> images; ///< their names in the store, in the container's order
};

/// What a group holds that is a plate, a well or of the layout of bioformats2raw, NGFF 0.4 or 0.5;
/// without images for any other group. @throws Error (input) where its attributes cannot be right.
ImageContainer images_within(ZarrStore& store, const std::string& group);

} // namespace runner
