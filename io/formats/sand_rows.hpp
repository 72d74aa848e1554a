// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/formats/sand_file.hpp"
#include "io/rows/rows.hpp"
#include "io/rows/written_format.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace runner {

/// How many packed bytes a thread takes at once: its buffer.
inline constexpr std::int64_t sand_block_bytes = 256 << 10;

/// Writes `count` cells, a byte each, out of packed ones, four to a byte, `skip` ≥ 0 cells after
/// the first of `packed`.
void unpack_cells(const std::byte* packed, std::int64_t skip, std::int64_t count, std::byte* cells);

/// Packs `count` cells, 0 … 3 each, into (count + 3) / 4 bytes; zeros fill the last one.
void pack_cells(const std::byte* cells, std::int64_t count, std::byte* packed);

/// The cells of one frame that lie in a run of a .sand file's bytes.
struct SandCells {
    std::int64_t first = 0; ///< cell, counted through all frames
    std::int64_t cells = 0;
    std::int64_t byte = 0; ///< where they begin, counted from the header's end
};

/// Bytes [begin, end), counted from the header's end, that hold rows [first, first + rows).
struct SandRun {
    std::int64_t begin = 0;
    std::int64_t end = 0;
};
SandRun bytes_of_rows(const SandShape& shape, std::int64_t first, std::int64_t rows);

/// Calls visit(SandCells) for each frame that has a byte in the run.
template <class Visit>
void for_each_frame(const SandShape& shape, SandRun run, const Visit& visit) {
    const std::int64_t bytes = shape.frame_bytes();
    for (std::int64_t frame = run.begin / bytes; frame * bytes < run.end; ++frame) {
        const std::int64_t from = std::max<std::int64_t>(run.begin - frame * bytes, 0);
        const std::int64_t to = std::min(run.end - frame * bytes, bytes);
        visit(SandCells{frame * shape.frame_cells() + 4 * from,
                        std::min(4 * to, shape.frame_cells()) - 4 * from, frame * bytes + from});
    }
}

/// What inspect_dataset() and open_rows() say of a .sand file.
DatasetInfo inspect_sand(const std::string& file);
std::unique_ptr<RowReader> open_sand_reader(const std::string& file, int threads);

/// WrittenFormat's functions of a .sand file. @throws as they do.
DataPlace sand_place(const ArrayInfo& array);
void sand_structure(const ArrayInfo& array, const Axes& axes, const StructurePiece& piece);
std::int64_t sand_alignment(const ArrayInfo& array);
std::unique_ptr<RowReader> open_sand_output(const OutputDataset& output, int threads);
std::unique_ptr<RowWriter> open_sand_writer(const OutputDataset& output, int threads);

} // namespace runner
