// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows.hpp"
#include "runner/image_shape.hpp"
#include "runner/sand_colours.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// An image at the size it is shown in: averages of its elements.
struct Thumbnail {
    std::int64_t width = 0;
    std::int64_t height = 0;
    int channels = 1;      ///< 1, or 3 for colour
    bool is_bytes = false; ///< of a uint8 dataset: values are shown as they are
    /// height × width × channels; NaN where no element was finite.
    std::vector<double> values;
};

/// A dataset to make pictures of, opened.
struct ImageSource {
    std::unique_ptr<RowReader> reader;
    std::string where;
    ImageShape image;
    Palette palette = Palette::grey;
};

/// Opens a dataset that is images. `palette`: nothing for that of its content. @throws Error as
/// render() says.
ImageSource open_image(const std::string& file, const std::string& dataset,
                       const std::optional<Palette>& palette, int threads);

/// Reads frame `frame` of a dataset, which has it, and averages it down to at most `size` on its
/// longer side, or repeats its pixels. @throws Error as render() says.
Thumbnail make_thumbnail(const ImageSource& source, std::int64_t frame, std::int64_t size);

/// The same of evenly spaced lines alone where reading all of them takes more than `most_bytes`,
/// and smaller where these are few. Nothing where a single line takes that much.
std::optional<Thumbnail> sampled_thumbnail(const ImageSource& source, std::int64_t frame,
                                           std::int64_t size, std::int64_t most_bytes);

} // namespace runner
