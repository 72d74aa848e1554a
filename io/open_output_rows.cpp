// SPDX-License-Identifier: BSD-3-Clause
#include "io/chunk_grid.hpp"
#include "io/io_threads.hpp"
#include "io/packer.hpp"
#include "io/row_writers.hpp"
#include "io/sand_cells.hpp"

#include <algorithm>

namespace runner {

std::unique_ptr<RowWriter> open_output_rows(const OutputDataset& output, int rank, int threads,
                                            std::int64_t generation) {
    if (output.layout.format == FileFormat::sand) {
        return open_sand_writer(output, threads);
    }
    if (!output.fields.empty()) {
        return open_fields_writer(output, threads);
    }
    if (output.layout.chunk.empty()) {
        return open_contiguous_writer(output, threads);
    }
    return output.layout.compression == Compression::none
               ? open_chunk_writer(output, threads)
               : open_packed_writer(output, threads, shard_path(output, rank, generation));
}

std::int64_t output_bytes(const ArrayInfo& array, const OutputLayout& layout) {
    return layout.format == FileFormat::sand ? sand_shape(array).file_bytes() - sand_header_bytes
                                             : byte_count(array);
}

std::int64_t writer_bytes(const ArrayInfo& array, const OutputLayout& layout, int threads) {
    if (layout.format == FileFormat::sand) {
        return threads * sand_block_bytes;
    }
    if (layout.chunk.empty()) {
        return 0;
    }
    const ChunkGrid grid(array, layout);
    if (layout.compression != Compression::none) {
        // Parts of several layers are put together by assemble_output(), when writers are done.
        const std::int64_t whole =
            grid.layers() == 1
                ? 0
                : 2 * grid.chunk_bytes() + Packer::memory(layout, grid.chunk_bytes());
        return std::max(whole,
                        threads * (grid.part_bytes() + Packer::memory(layout, grid.part_bytes())));
    }
    const std::int64_t line = grid.part_bytes() / grid.chunk_rows();
    const bool direct = grid.chunk_columns() == grid.columns();
    const std::int64_t addresses = grid.count() * std::int64_t{sizeof(std::int64_t)};
    return addresses +
           (direct ? 0 : threads * std::min(std::max(io_block_bytes, line), grid.part_bytes()));
}

} // namespace runner
