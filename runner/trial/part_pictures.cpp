// SPDX-License-Identifier: BSD-3-Clause
#include "runner/trial/part_pictures.hpp"

#include "io/input/file_access.hpp"
#include "io/rows/file_elements.hpp"
#include "views/pictures/image_lines.hpp"

#include <algorithm>
#include <utility>

namespace runner {
namespace {

constexpr std::int64_t most_pixels = 384; ///< of a picture's sides
constexpr int threads = 1;

/// As a part of a dataset with these axes: those that the box does not have are whole.
DatasetPart part_of(const Box& box, const std::vector<std::int64_t>& shape) {
    DatasetPart part{std::vector<std::int64_t>(shape.size(), 0), shape};
    for (std::size_t i = 0; i < std::min(box.first.size(), shape.size()); ++i) {
        part.first[i] = box.first[i];
        part.count[i] = box.extent(i);
    }
    return part;
}

/// The middle of the box.
Box middle_of(Box box) {
    const std::size_t axes = box.first.size();
    for (std::size_t i = 0; i < axes; ++i) {
        const std::int64_t most = i + 2 >= axes ? most_pixels : 1;
        const std::int64_t extent = std::min(most, box.extent(i));
        box.first[i] += (box.extent(i) - extent) / 2;
        box.last[i] = box.first[i] + extent;
    }
    return box;
}

} // namespace

std::vector<Box> pictures_of(const Box& box, std::int64_t slices) {
    const Box middle = middle_of(box);
    const std::size_t axes = box.first.size();
    if (axes < 3) {
        return {middle};
    }
    const std::size_t axis = axes - 3;
    const std::int64_t extent = box.extent(axis);
    const std::int64_t count = std::min(slices, extent);
    std::vector<Box> all(static_cast<std::size_t>(count), middle);
    for (std::int64_t i = 0; i < count; ++i) {
        Box& one = all[static_cast<std::size_t>(i)];
        one.first[axis] = box.first[axis] + (2 * i + 1) * extent / (2 * count);
        one.last[axis] = one.first[axis] + 1;
    }
    return all;
}

DatasetPart dataset_part(const std::optional<DatasetPart>& of, const Box& box,
                         const std::vector<std::int64_t>& shape) {
    const DatasetPart part = part_of(box, shape);
    return of ? part_of_part(*of, part) : part;
}

NamedRows input_rows(FileAccess& files, const PreparedJob& prepared, const Box& box) {
    std::unique_ptr<RowReader> rows =
        open_part(files.open(prepared.layout, threads),
                  dataset_part(prepared.part, box, prepared.input.array.shape));
    if (prepared.input.array.type == ElementType::float32) {
        rows = open_widened_rows(std::move(rows));
    }
    return {prepared.file.input.file, prepared.file.input.dataset, std::move(rows)};
}

NamedRows dataset_rows(FileAccess& files, const std::string& file, const std::string& dataset,
                       const Box& box) {
    const DatasetLayout layout = files.layout(file, dataset);
    return {file, dataset,
            open_part(files.open(layout, threads), part_of(box, layout.info.array.shape))};
}

Thumbnail image_of(FileAccess& files, NamedRows rows) {
    const ImageSource source =
        open_image(files, std::move(rows.rows), rows.file, rows.dataset, std::nullopt);
    return make_thumbnail(source, source.image.frames / 2,
                          std::max(source.image.width, source.image.height));
}

} // namespace runner
