// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/json.hpp"
#include "io/rows/rows.hpp"
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

/// Adds to an array's description what `attributes`, of a group with an `image`, say beside its
/// axes, which are known: the names and colours of channels. Notes, and DatasetInfo::unkept, say
/// what is not taken.
void describe_image(const Json& attributes, const Json& image, const std::string& where,
                    DatasetInfo& info);

} // namespace runner
