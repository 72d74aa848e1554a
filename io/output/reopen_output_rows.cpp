// SPDX-License-Identifier: BSD-3-Clause
#include "io/output/reopen_output_rows.hpp"

#include "io/input/file_access.hpp"
#include "io/input/stored_places.hpp"
#include "io/output/open_output_rows.hpp"
#include "io/rows/dense_rows.hpp"
#include "io/writers/row_writers.hpp"

#include <algorithm>
#include <utility>

namespace runner {
namespace {

/// The byte from which on a contiguous dataset's elements lie in the output itself.
std::int64_t offset_of(FileAccess& files, const OutputDataset& output, const std::string& dataset,
                       const ArrayInfo& array) {
    const DatasetLayout layout = files.layout(output.file, dataset);
    if (layout.way != DatasetLayout::Way::positions || layout.holder != output.file ||
        layout.info.array != array) {
        refuse_changed_storage(output, dataset);
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
        refuse_changed_storage(output, output.dataset);
    }
    std::vector<std::unique_ptr<RowWriter>> writers;
    for (const DatasetLayout& part : layout.sources) {
        writers.push_back(reopen_part(files, output, part));
    }
    return open_pieces_writer(output.array, layout.pieces, std::move(writers), threads);
}

} // namespace

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
