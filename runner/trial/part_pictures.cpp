// SPDX-License-Identifier: BSD-3-Clause
#include "runner/trial/part_pictures.hpp"

#include "io/input/file_access.hpp"
#include "io/rows/file_elements.hpp"
#include "views/pictures/image_lines.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace runner {
namespace {

constexpr std::int64_t size = 384; ///< pixels of a picture's longer side
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

Thumbnail thumbnail_of(FileAccess& files, std::unique_ptr<RowReader> rows, const std::string& file,
                       const std::string& dataset) {
    const ImageSource source = open_image(files, std::move(rows), file, dataset, std::nullopt);
    return make_thumbnail(source, source.image.frames / 2, size);
}

} // namespace

Box picture_of(Box box) {
    const std::size_t axes = box.first.size();
    for (std::size_t i = 0; i < axes; ++i) {
        const std::int64_t most = i + 2 >= axes ? size : 1;
        const std::int64_t extent = std::min(most, box.extent(i));
        box.first[i] += (box.extent(i) - extent) / 2;
        box.last[i] = box.first[i] + extent;
    }
    return box;
}

DatasetPart dataset_part(const std::optional<DatasetPart>& of, const Box& box,
                         const std::vector<std::int64_t>& shape) {
    const DatasetPart part = part_of(box, shape);
    return of ? part_of_part(*of, part) : part;
}

Thumbnail input_thumbnail(FileAccess& files, const PreparedJob& prepared, const DatasetPart& part) {
    std::unique_ptr<RowReader> rows = open_part(files.open(prepared.layout, threads), part);
    if (prepared.input.array.type == ElementType::float32) {
        rows = open_widened_rows(std::move(rows));
    }
    return thumbnail_of(files, std::move(rows), prepared.file.input.file,
                        prepared.file.input.dataset);
}

Thumbnail output_thumbnail(FileAccess& files, const std::string& file, const std::string& dataset,
                           const Box& box) {
    const DatasetLayout layout = files.layout(file, dataset);
    return thumbnail_of(
        files, open_part(files.open(layout, threads), part_of(box, layout.info.array.shape)), file,
        dataset);
}

} // namespace runner
