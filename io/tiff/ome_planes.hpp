// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/axes.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace runner {

/// What the OME-XML of a TIFF file says of the planes of an image: of the first that has planes in
/// this file.
struct OmePlanes {
    std::int64_t image = 0;  ///< its number in the XML
    std::int64_t images = 1; ///< that have planes in this file
    std::int64_t planes = 0; ///< pages that z, c and t make
    /// The directory of each plane, counted in the file's chain, by the plane's number in the
    /// order that the XML says; −1 where it is in another file or nowhere.
    std::vector<std::int64_t> directories;
    std::vector<std::string> other_files; ///< the names of files that hold planes, each once
};

/// Reads the description of the first page of `file`, whose pages have so many samples a pixel and
/// whose chain has at most so many directories. Nothing where it is no OME-XML of an image with
/// planes in this file, or where what it says cannot be: then the chain alone says what there is.
std::optional<OmePlanes> ome_planes(std::string_view description, const std::string& file,
                                    int samples, std::int64_t chain);

/// The file that has the OME-XML of an image whose other files name it alone (BinaryOnly); empty
/// where the description is no such.
std::string ome_master(std::string_view description);

/// What an OME-XML says of the axes of an image, also of those with one element.
struct OmeAxes {
    std::vector<std::int64_t> extents; ///< of the axes that count pages, the slowest first
    std::vector<Axis> leading;         ///< those axes
    Axis y;
    Axis x;
    std::vector<std::string> channels;       ///< names of all, or none
    std::vector<std::string> colours;        ///< of all, as Axes::colours, or none
    std::vector<std::string> emissions = {}; ///< as Axes has them
    std::vector<std::string> excitations = {};
};

/// The axes of the image of this number; nothing where it is no OME-XML, there is no such image, or
/// what it says cannot be.
std::optional<OmeAxes> ome_axes(std::string_view description, int samples, std::int64_t image);

/// What an OME-XML says of the image of this number, or of all, and DatasetInfo has no place for.
std::vector<std::string> ome_unkept(std::string_view description, std::int64_t image);

} // namespace runner
