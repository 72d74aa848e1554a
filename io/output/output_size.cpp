// SPDX-License-Identifier: BSD-3-Clause
#include "io/output/output_size.hpp"

#include "base/error.hpp"
#include "io/files/file.hpp"
#include "io/files/io_threads.hpp"
#include "io/filters/packer.hpp"
#include "io/output/level_files.hpp"
#include "io/rows/chunk_grid.hpp"
#include "io/rows/written_format.hpp"
#include "io/writers/part_packers.hpp"
#include "io/writers/placed_chunks.hpp"

#include <algorithm>

namespace runner {

std::int64_t row_alignment(const ArrayInfo& array, const OutputLayout& layout) {
    for (const std::int64_t extent : array.shape) {
        if (extent < 1) {
            throw Error(ExitCode::usage, {"cannot store the output", shape_text(array.shape),
                                          "an axis has no extent", "Check the job's parameters"});
        }
    }
    if (array.shape.empty()) {
        throw Error(ExitCode::usage, {"cannot store the output", "", "it has no axes", ""});
    }
    if (!layout.is_hdf5()) {
        const PackedFormat* const packed = layout.format->packed;
        const bool compressed = layout.compression != Compression::none;
        if ((!layout.chunk.empty() && folder_of(layout) == nullptr) ||
            (compressed && (packed == nullptr || !packed->takes(layout.compression)))) {
            throw Error(ExitCode::usage, {"cannot store the output so", "output.chunk, compression",
                                          "its format has no such chunks or compression",
                                          "Leave them out, or give output.file the ending .h5"});
        }
        return is_packed(layout) ? ChunkGrid(array, layout).chunk_rows()
                                 : layout.format->alignment(array);
    }
    if (layout.chunk.empty()) {
        if (layout.compression != Compression::none) {
            throw Error(ExitCode::usage, {"cannot compress the output", "output.compression",
                                          "HDF5 compresses chunks, and output.chunk is not given",
                                          "Give output.chunk, as [256, 4096]"});
        }
        return 1;
    }
    return ChunkGrid(array, layout).chunk_rows();
}

Error of_output(const Error& error, const std::string& file) {
    constexpr std::string_view partial = ".partial";
    ErrorText text = error.text();
    const std::string name =
        file.ends_with(partial) ? file.substr(0, file.size() - partial.size()) : file;
    text.where = name + (text.where.empty() ? "" : ", " + text.where);
    return {error.code(), std::move(text)};
}

std::int64_t output_bytes(const ArrayInfo& array, const OutputLayout& layout) {
    return layout.is_hdf5() ? byte_count(array)
                            : layout.format->place({{}, {}, array, layout}).bytes;
}

std::int64_t bytes_with_levels(const ArrayInfo& array, const OutputLayout& layout) {
    return output_bytes(array, layout) + levels_room(array, layout);
}

std::int64_t output_room(const ArrayInfo& array, const OutputLayout& layout,
                         const std::string& folder) {
    const bool twice = is_packed(layout) && layout.compression == Compression::none &&
                       !(places_chunks(layout) && !is_in_memory(folder));
    return (twice ? 2 : 1) * output_bytes(array, layout) + levels_room(array, layout);
}

std::int64_t writer_bytes(const ArrayInfo& array, const OutputLayout& layout, int threads) {
    if (!layout.is_hdf5() && !is_packed(layout)) {
        return std::max(threads * layout.format->writer_bytes, levels_memory(array, layout));
    }
    if (layout.is_hdf5() && layout.chunk.empty()) {
        return 0;
    }
    const ChunkGrid grid(array, layout);
    if (is_packed(layout)) {
        // Parts of several layers are put together by assemble_output(), when writers are done.
        const std::int64_t whole =
            grid.layers() == 1
                ? 0
                : 2 * grid.chunk_bytes() + Packer::memory(layout, grid.chunk_bytes());
        return std::max({whole, levels_memory(array, layout),
                         threads * (grid.part_bytes() + Packer::memory(layout, grid.part_bytes()) +
                                    PartPackers::together_bytes(grid.part_bytes()))});
    }
    const std::int64_t line = grid.part_bytes() / grid.chunk_rows();
    const bool direct = grid.chunk_columns() == grid.columns();
    const std::int64_t addresses = grid.count() * std::int64_t{sizeof(std::int64_t)};
    return addresses +
           (direct ? 0 : threads * std::min(std::max(io_block_bytes, line), grid.part_bytes()));
}

} // namespace runner
