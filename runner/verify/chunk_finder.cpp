// SPDX-License-Identifier: BSD-3-Clause
#include "runner/verify/chunk_finder.hpp"

#include "base/array_info.hpp"
#include "base/text.hpp"
#include "io/rows/row_geometry.hpp"

#include <cstddef>
#include <utility>

namespace runner::verify {
namespace {

/// The element of a row that is so many columns from its beginning.
std::vector<std::int64_t> element_at(const ArrayInfo& array, std::int64_t row,
                                     std::int64_t column) {
    std::vector<std::int64_t> element(array.shape.size(), 0);
    const std::size_t axes = row_axes(array.shape);
    if (axes < element.size()) {
        element.back() = column;
    }
    for (std::size_t axis = axes; axis-- > 0;) {
        element[axis] = row % array.shape[axis];
        row /= array.shape[axis];
    }
    return element;
}

} // namespace

std::string place_text(const FoundChunk& found) {
    const std::string chunk = found.chunk.empty() ? "" : "chunk " + shape_text(found.chunk);
    return found.shard.empty()
               ? chunk
               : "shard " + shape_text(found.shard) + (chunk.empty() ? "" : ", " + chunk);
}

std::string found_text(const FoundChunk& found) {
    return "array " + found.array + ", " + place_text(found);
}

ChunkFinder::ChunkFinder(const OutputDataset& output)
    : output_(output), grid_(output.array, output.layout),
      file_of_(static_cast<std::size_t>(grid_.count()), 0) {
    const FolderOfChunks& folder = *folder_of(output.layout);
    for (std::int64_t i = 0; i < folder.files(output); ++i) {
        for (const std::int64_t chunk : folder.file(output, i).chunks) {
            if (chunk >= 0) {
                file_of_[static_cast<std::size_t>(chunk)] = i;
            }
        }
    }
}

FoundChunk ChunkFinder::find(std::int64_t chunk) const {
    FileOfChunks file =
        folder_of(output_.layout)->file(output_, file_of_.at(static_cast<std::size_t>(chunk)));
    FoundChunk found{std::move(file.array), std::move(file.shard), grid_.start_of(chunk),
                     std::move(file.name)};
    for (std::size_t axis = 0; axis < found.chunk.size(); ++axis) {
        found.chunk[axis] /= grid_.chunk()[axis];
    }
    return found;
}

std::pair<FoundChunk, FoundChunk> ChunkFinder::find(RowRange rows) const {
    const std::int64_t last = row_elements(output_.array) - 1;
    return {find(grid_.chunk_at(element_at(output_.array, rows.first, 0))),
            find(grid_.chunk_at(element_at(output_.array, rows.last - 1, last)))};
}

bool is_folder_of_chunks(const OutputDataset& output) {
    const FolderOfChunks* const folder = folder_of(output.layout);
    return folder != nullptr && folder->slice == nullptr;
}

} // namespace runner::verify
