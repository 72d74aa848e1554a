// SPDX-License-Identifier: BSD-3-Clause
#include "views/pictures/image_lines.hpp"

#include "io/rows/row_geometry.hpp"
#include "views/pictures/array_name.hpp"

#include <algorithm>

namespace runner {
namespace {

bool is_across_last(const ImageSource& source) { return source.view && source.view->axis == 2; }

} // namespace

ImageSource open_image(FileAccess& files, const std::string& file, const std::string& dataset,
                       const ImageChoice& choice, int threads) {
    return open_image(files, open_rows_of(files, file, dataset, threads), file, dataset, choice);
}

ImageSource open_image(FileAccess& files, std::unique_ptr<RowReader> rows, const std::string& file,
                       const std::string& dataset, const ImageChoice& choice) {
    ImageSource source;
    source.reader = std::move(rows);
    source.where = array_name(file, dataset);
    DatasetInfo info = source.reader->info();
    info.channels = chosen_channels(info, choice.colour, source.where);
    const Content content =
        choice.palette == Palette::sand ? Content::sand : content_of(files, file, info);
    source.palette = palette_for(choice.palette, content, info.array, source.where);
    if (choice.axis) {
        source.view = view_across(info.array, *choice.axis, source.where);
        source.image = source.view->image();
    } else {
        source.image = image_shape(info, content, source.where);
        source.may_be_colour =
            !info.channels && content != Content::sand && may_be_colour(info.array.shape);
    }
    return source;
}

ImageLines::ImageLines(const ImageSource& source, std::int64_t frame, std::int64_t column_step,
                       std::int64_t memory)
    : source_(source), frame_(frame), element_bytes_(size_of(source.reader->info().array.type)),
      column_step_(is_across_last(source) ? column_step : 1),
      width_((source.image.width + column_step_ - 1) / column_step_),
      step_(std::clamp<std::int64_t>(memory / (width_ * source.image.channels * element_bytes_), 1,
                                     source.image.height)),
      lines_(static_cast<std::size_t>(step_ * width_ * source.image.channels * element_bytes_)) {
    if (source.palette == Palette::sand) {
        pixels_.resize(3 * lines_.size());
    }
    if (is_across_last(source)) {
        column_.resize(static_cast<std::size_t>(source.image.width * element_bytes_));
    }
}

const std::byte* ImageLines::read(std::int64_t first, std::int64_t count) {
    const ImageShape& image = source_.image;
    const std::int64_t line = frame_ * image.height + first;
    if (source_.view && source_.view->axis > 0) {
        read_across(first, count);
    } else {
        source_.reader->read(line * image.rows_per_line(), count * image.rows_per_line(),
                             lines_.data());
    }
    if (source_.palette != Palette::sand) {
        return lines_.data();
    }
    const std::int64_t cells = count * width_;
    check_cells(lines_.data(), cells, {width_, image.height, line * width_}, source_.where);
    colour_cells(lines_.data(), cells, pixels_.data());
    return pixels_.data();
}

void ImageLines::read_across(std::int64_t first, std::int64_t count) {
    const VolumeView& view = *source_.view;
    const std::int64_t along = view.axis == 1 ? view.height : view.width;
    const std::int64_t begin = ((frame_ / along) * view.depth + first) * view.height;
    const std::int64_t at = frame_ % along;
    if (view.axis == 1) {
        source_.reader->read_runs({begin + at, 1, count, view.height, 0, view.width},
                                  lines_.data());
        return;
    }
    for (std::int64_t line = 0; line < count; ++line) {
        read_column(begin + line * view.height, at, lines_.data() + line * width_ * element_bytes_);
    }
}

/// One element of each column_step_-th of the rows from `row` on.
void ImageLines::read_column(std::int64_t row, std::int64_t column, std::byte* to) {
    if (source_.reader->info().offset) {
        source_.reader->read_runs({row, 1, width_, column_step_, column, 1}, to);
        return;
    }
    // Storage that must be unpacked gives many rows at once faster than one by one.
    source_.reader->read_runs({row, source_.image.width, 1, 0, column, 1}, column_.data());
    for (std::int64_t i = 0; i < width_; ++i) {
        std::copy_n(column_.data() + i * column_step_ * element_bytes_, element_bytes_,
                    to + i * element_bytes_);
    }
}

} // namespace runner
