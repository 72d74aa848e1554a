// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/filters/codec.hpp"
#include "io/packings/packings.hpp"
#include "io/packings/png_picture.hpp"

#include <vector>

namespace runner {

/// What TIFF and PNG files pack strips, tiles and pictures with beside deflate and zstd. Each takes
/// its numbers from its parameters.
Codec lzw_codec();
Codec packbits_codec();         ///< {bytes of a line, 0: lines are not apart}
Codec difference_codec();       ///< TIFF's predictor 2: lines_parameters()
Codec float_difference_codec(); ///< TIFF's predictor 3: lines_parameters()
Codec png_codec();              ///< picture_parameters()
Codec png_lines_codec();        ///< line_parameters()

std::vector<unsigned> lines_parameters(const PredictedLines& lines);
std::vector<unsigned> picture_parameters(const PngPicture& picture);
std::vector<unsigned> line_parameters(const PngPicture& picture);

/// The picture of no lines that line_parameters() were made of.
PngPicture lines_of_picture(Parameters parameters);

} // namespace runner
