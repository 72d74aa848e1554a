// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "views/pictures/image_lines.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace runner {

/// An image at the size it is shown in: averages of its elements.
struct Thumbnail {
    std::int64_t width = 0;
    std::int64_t height = 0;
    int channels = 1;       ///< 1, or 3 for colour
    bool is_bytes = false;  ///< of a uint8 dataset: values are shown as they are
    bool is_sample = false; ///< of some of the lines or elements only
    /// height × width × channels; NaN where no element was finite.
    std::vector<double> values;
};

/// Reads frame `frame` of a dataset, which has it, and averages it down to at most `size` on its
/// longer side, or repeats its pixels. @throws Error as render() says.
Thumbnail make_thumbnail(const ImageSource& source, std::int64_t frame, std::int64_t size);

/// The same of evenly spaced lines alone, and across the last axis of a volume of evenly spaced
/// elements of these, where reading all of them takes more than `most_bytes`; smaller where these
/// lines are few. Nothing where a single line takes that much.
std::optional<Thumbnail> sampled_thumbnail(const ImageSource& source, std::int64_t frame,
                                           std::int64_t size, std::int64_t most_bytes);

/// The same of values that are there, one for each pixel of `image`, one channel.
Thumbnail shrink_values(const std::vector<double>& values, const ImageShape& image,
                        std::int64_t size);

} // namespace runner
