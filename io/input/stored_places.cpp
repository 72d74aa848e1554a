// SPDX-License-Identifier: BSD-3-Clause
#include "io/input/stored_places.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "io/filters/codec.hpp"
#include "io/rows/chunk_grid.hpp"
#include "io/rows/rows.hpp"
#include "io/rows/written_format.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

namespace runner {
namespace {

[[noreturn]] void refuse_index(const OutputDataset& output, const std::string& why) {
    throw Error(ExitCode::output,
                {"cannot write into the output", file_and_dataset(output.file, output.dataset),
                 "the index of its chunks is damaged: " + why,
                 "Run the job again with output.overwrite = true"});
}

/// Gives each chunk of a folder a place: one that no file has is listed without bytes, in the file
/// that is to have it.
void complete_places(const OutputDataset& output, const ChunkGrid& grid, DatasetLayout& layout) {
    constexpr std::int64_t none = -1;
    std::vector<ChunkPlace> places(static_cast<std::size_t>(grid.count()), {none, 0, 0, 0, 0});
    for (const ChunkPlace& stored : layout.chunks) {
        places.at(static_cast<std::size_t>(stored.index)) = stored;
    }
    const FolderOfChunks& folder = *folder_of(output.layout);
    for (std::int64_t i = 0; i < folder.files(output); ++i) {
        const FileOfChunks file = folder.file(output, i);
        std::optional<std::uint32_t> number;
        for (const std::int64_t chunk : file.chunks) {
            if (chunk >= 0 && places[static_cast<std::size_t>(chunk)].index != none) {
                number = places[static_cast<std::size_t>(chunk)].file;
            }
        }
        if (!number) {
            number = static_cast<std::uint32_t>(layout.chunk_files.size());
            layout.chunk_files.push_back(output.file + "/" + file.name);
        }
        for (const std::int64_t chunk : file.chunks) {
            if (chunk >= 0 && places[static_cast<std::size_t>(chunk)].index == none) {
                places[static_cast<std::size_t>(chunk)] = {chunk, 0, 0, 0, *number};
            }
        }
    }
    layout.chunks = std::move(places);
}

/// The layout of packed chunks that are yet to be listed.
DatasetLayout layout_of_chunks(const OutputDataset& output, const ChunkGrid& grid) {
    DatasetLayout layout{output.file, output.dataset, output.file, {}, DatasetLayout::Way::chunks};
    layout.info.array = output.array;
    layout.info.chunk = grid.chunk();
    if (output.layout.compression != Compression::none) {
        layout.filters = layout_filters(output.layout, output.array);
    }
    layout.edges = cuts_chunks(output.array, output.layout) ? EdgeChunks::cut : EdgeChunks::whole;
    return layout;
}

} // namespace

void refuse_changed_storage(const OutputDataset& output, const std::string& dataset) {
    throw Error(ExitCode::output,
                {"the output is not stored as it was created",
                 file_and_dataset(output.file, dataset),
                 "another program changed its chunks or filters", "Run the job again"});
}

DatasetLayout stored_places(FileAccess& files, const OutputDataset& output) {
    const bool is_folder = folder_of(output.layout) != nullptr; // whose image has any name
    const bool is_named = !is_folder || output.layout.pyramid.level > 0;
    DatasetLayout layout = files.layout(output.file, is_named ? output.dataset : "");
    const ChunkGrid grid(output.array, output.layout);
    std::vector<Filter> made;
    if (output.layout.compression != Compression::none) {
        made = layout_filters(output.layout, output.array);
    }
    const bool same_filters = std::equal(
        layout.filters.begin(), layout.filters.end(), made.begin(), made.end(),
        [](const Filter& a, const Filter& b) {
            return a.id == b.id && (a.id != filter_id::bitshuffle || a.parameters == b.parameters);
        });
    if (layout.way != DatasetLayout::Way::chunks || layout.holder != output.file ||
        layout.info.array != output.array || layout.info.chunk != grid.chunk() || !same_filters) {
        refuse_changed_storage(output, output.dataset);
    }
    if (is_folder) {
        complete_places(output, grid, layout);
        return layout;
    }
    std::int64_t next = 0;
    for (const ChunkPlace& chunk : layout.chunks) {
        if (chunk.index != next++ || chunk.bytes == 0 || chunk.skipped != 0) {
            refuse_index(output,
                         "it has no chunk from element " + shape_text(grid.start_of(next - 1)));
        }
    }
    if (next != grid.count()) {
        refuse_index(output, "it has no chunk from element " + shape_text(grid.start_of(next)));
    }
    std::vector<ChunkPlace> order = layout.chunks;
    std::sort(order.begin(), order.end(),
              [](const ChunkPlace& a, const ChunkPlace& b) { return a.offset < b.offset; });
    const auto shared = std::adjacent_find(
        order.begin(), order.end(),
        [](const ChunkPlace& a, const ChunkPlace& b) { return a.offset + a.bytes > b.offset; });
    if (shared != order.end()) {
        refuse_index(output, fmt::format("two chunks share byte {}", std::next(shared)->offset));
    }
    return layout;
}

DatasetLayout packed_layout(const OutputDataset& output) {
    const ChunkGrid grid(output.array, output.layout);
    DatasetLayout layout = layout_of_chunks(output, grid);
    std::vector<PackedPlace> places = packed_places(output);
    places.resize(static_cast<std::size_t>(grid.count())); // those of coarser levels follow
    for (const PackedPlace& place : places) {
        layout.chunks.push_back(
            {std::ssize(layout.chunks), place.offset, place.bytes, 0, place.file});
    }
    if (is_in_slices(output.layout)) {
        const FolderOfChunks& slices = *folder_of(output.layout);
        for (std::int64_t slice = 0; slice < slices.files(output); ++slice) {
            layout.chunk_files.push_back(slices.slice(output, slice).file);
        }
    }
    return layout;
}

std::vector<DatasetLayout> layouts_in_file(const OutputDataset& output) {
    const bool packed = is_packed(output.layout);
    const std::vector<PackedPlace> places =
        packed ? packed_places(output) : std::vector<PackedPlace>();
    std::size_t next = 0;
    std::int64_t offset = packed ? 0 : output.layout.format->place(output).begin;
    std::vector<OutputDataset> datasets = {output};
    for (CoarserLevel& level : coarser_levels(output)) {
        datasets.push_back(std::move(level.dataset));
    }
    std::vector<DatasetLayout> layouts;
    for (const OutputDataset& dataset : datasets) {
        const ChunkGrid grid(dataset.array, dataset.layout);
        DatasetLayout layout = layout_of_chunks(dataset, grid);
        layout.chunk_files = {output.file};
        for (std::int64_t chunk = 0; chunk < grid.count(); ++chunk) {
            const std::int64_t bytes = packed ? places.at(next).bytes : grid.cut_bytes(chunk);
            layout.chunks.push_back({chunk, packed ? places.at(next).offset : offset, bytes});
            offset += bytes;
            ++next;
        }
        layouts.push_back(std::move(layout));
    }
    return layouts;
}

} // namespace runner
