// SPDX-License-Identifier: BSD-3-Clause
#include "io/output/reopen_output_rows.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "io/filters/filter_ids.hpp"
#include "io/filters/unpacker.hpp"
#include "io/input/file_access.hpp"
#include "io/input/stored_places.hpp"
#include "io/output/open_output_rows.hpp"
#include "io/rows/chunk_grid.hpp"
#include "io/rows/dataset_name.hpp"
#include "io/rows/plain_writer.hpp"
#include "io/writers/row_writers.hpp"

#include <algorithm>
#include <utility>

namespace runner {
namespace {

[[noreturn]] void refuse_index(const OutputDataset& output, const std::string& why) {
    throw Error(ExitCode::output,
                {"cannot write into the output", file_and_dataset(output.file, output.dataset),
                 "HDF5's index of its chunks is damaged: " + why,
                 "Run the job again with output.overwrite = true"});
}

[[noreturn]] void refuse_layout(const OutputDataset& output, const std::string& dataset) {
    throw Error(ExitCode::output,
                {"the output is not stored as it was created",
                 file_and_dataset(output.file, dataset),
                 "another program changed its chunks or filters", "Run the job again"});
}

/// The byte from which on a contiguous dataset's elements lie in the output itself.
std::int64_t offset_of(FileAccess& files, const OutputDataset& output, const std::string& dataset,
                       const ArrayInfo& array) {
    const DatasetLayout layout = files.layout(output.file, dataset);
    if (layout.way != DatasetLayout::Way::positions || layout.holder != output.file ||
        layout.info.array != array) {
        refuse_layout(output, dataset);
    }
    return *layout.info.offset;
}

std::vector<std::int64_t> offsets_of_fields(FileAccess& files, const OutputDataset& output) {
    std::vector<std::int64_t> offsets;
    for (const OutputField& field : output.fields) {
        offsets.push_back(offset_of(files, output, field.dataset, field.array));
    }
    return offsets;
}

std::vector<std::int64_t> addresses_of(const DatasetLayout& layout) {
    std::vector<std::int64_t> addresses;
    addresses.reserve(layout.chunks.size());
    for (const ChunkPlace& chunk : layout.chunks) {
        addresses.push_back(chunk.offset);
    }
    return addresses;
}

/// A writer for one file of an output in parts.
std::unique_ptr<RowWriter> reopen_part(FileAccess& files, const OutputDataset& whole,
                                       const DatasetLayout& part) {
    OutputDataset output{part.holder, part.dataset, part.info.array, whole.layout};
    output.layout.chunk = part.info.chunk;
    if (output.layout.compression != Compression::none) {
        return open_stored_chunk_writer(files, output, 1);
    }
    return part.way == DatasetLayout::Way::positions
               ? open_plain_writer(output, *part.info.offset, 1)
               : open_chunk_writer(output, addresses_of(stored_places(files, output)), 1);
}

std::unique_ptr<RowWriter> reopen_parts(FileAccess& files, const OutputDataset& output,
                                        const DatasetLayout& layout, int threads) {
    if (layout.info.array != output.array) {
        refuse_layout(output, output.dataset);
    }
    std::vector<std::unique_ptr<RowWriter>> writers;
    for (const DatasetLayout& part : layout.sources) {
        writers.push_back(reopen_part(files, output, part));
    }
    return open_pieces_writer(output.array, layout.pieces, std::move(writers), threads);
}

} // namespace

DatasetLayout stored_places(FileAccess& files, const OutputDataset& output) {
    DatasetLayout layout = files.layout(output.file, output.dataset);
    const ChunkGrid grid(output.array, output.layout);
    std::vector<Filter> made;
    if (output.layout.compression != Compression::none) {
        made = layout_filters(output.layout, size_of(output.array.type));
    }
    const bool same_filters = std::equal(
        layout.filters.begin(), layout.filters.end(), made.begin(), made.end(),
        [](const Filter& a, const Filter& b) {
            return a.id == b.id && (a.id != filter_id::bitshuffle || a.parameters == b.parameters);
        });
    if (layout.way != DatasetLayout::Way::chunks || layout.holder != output.file ||
        layout.info.array != output.array || layout.info.chunk != grid.chunk() || !same_filters) {
        refuse_layout(output, output.dataset);
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

std::unique_ptr<RowWriter> reopen_output_rows(FileAccess& files, const OutputDataset& output,
                                              int threads) {
    if (!output.layout.is_hdf5()) {
        return open_output_rows(output, 0, threads);
    }
    if (!output.fields.empty()) {
        return open_fields_writer(output, offsets_of_fields(files, output), threads);
    }
    const DatasetLayout layout = files.layout(output.file, output.dataset);
    if (layout.way == DatasetLayout::Way::sources) {
        return reopen_parts(files, output, layout, threads);
    }
    if (output.layout.chunk.empty()) {
        return open_plain_writer(output, offset_of(files, output, output.dataset, output.array),
                                 threads);
    }
    return output.layout.compression == Compression::none
               ? open_chunk_writer(output, addresses_of(stored_places(files, output)), threads)
               : open_stored_chunk_writer(files, output, threads);
}

} // namespace runner
