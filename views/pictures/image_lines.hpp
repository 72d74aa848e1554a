// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"
#include "views/pictures/image_shape.hpp"
#include "views/pictures/sand_colours.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// A dataset to make pictures of, opened.
struct ImageSource {
    std::unique_ptr<RowReader> reader;
    std::string where;
    ImageShape image;
    Palette palette = Palette::grey;
    std::optional<VolumeView> view; ///< nothing: frames are the leading axes
    bool may_be_colour = false;     ///< its last axis, of which nothing says it
};

/// How a dataset is shown.
struct ImageChoice {
    std::optional<Palette> palette;   ///< nothing: that of its content
    std::optional<std::int64_t> axis; ///< that a volume is cut across; nothing: it is images
    std::optional<bool> colour; ///< whether the last axis is colour; nothing: as the file says
};

/// Opens a dataset to make pictures of. @throws Error as render() says.
ImageSource open_image(FileAccess& files, const std::string& file, const std::string& dataset,
                       const ImageChoice& choice, int threads);

/// The same of a dataset whose rows are open.
ImageSource open_image(FileAccess& files, std::unique_ptr<RowReader> rows, const std::string& file,
                       const std::string& dataset, const ImageChoice& choice);

/// Reads lines of a frame, in the colours that they are shown in.
class ImageLines {
  public:
    /// Only every `column_step`-th element of a line is read, where that saves reading others:
    /// across the last axis of a volume. `memory`: bytes to read at once, about.
    ImageLines(const ImageSource& source, std::int64_t frame, std::int64_t column_step,
               std::int64_t memory);

    /// Lines that may be read at once.
    std::int64_t step() const { return step_; }
    /// Pixels of a line.
    std::int64_t width() const { return width_; }

    /// `count` ≤ step() lines from `first` on, valid until the next call. @throws Error (input).
    const std::byte* read(std::int64_t first, std::int64_t count);

  private:
    void read_across(std::int64_t first, std::int64_t count);
    void read_column(std::int64_t line, std::int64_t column, std::byte* to);

    const ImageSource& source_;
    std::int64_t frame_;
    std::int64_t element_bytes_;
    std::int64_t column_step_;
    std::int64_t width_;
    std::int64_t step_;
    std::vector<std::byte> lines_;
    std::vector<std::byte> pixels_;
    std::vector<std::byte> column_;
};

} // namespace runner
