// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/tiff/tiff_image.hpp"
#include "io/tiff/tiff_layout.hpp"

#include <string>
#include <vector>

namespace runner {

/// What a TIFF file that is written says of its axes.
struct TiffDescription {
    TiffTags tags;
    std::vector<std::string> left_out; ///< what is known and it does not say, for people
};

/// The pixel sizes; and for the types that ImageJ knows its description: how many of t, z and c the
/// pages are, where they are in an order that it knows, the distance of slices and of frames, and
/// the unit.
TiffDescription imagej_description(const TiffImage& image, const OutputDataset& output);

/// An OME-XML of one image. Leading axes that are not known to be t, c or z are taken for those
/// that are left, z the fastest and then c, or t where there are two.
/// @throws Error (usage) for int64 and uint64, and more than five axes.
TiffDescription ome_description(const TiffImage& image, const OutputDataset& output);

} // namespace runner
