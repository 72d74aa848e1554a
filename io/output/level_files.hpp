// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/file.hpp"
#include "io/levels/level_places.hpp"
#include "io/levels/level_sweep.hpp"
#include "io/output/assemble_output.hpp"
#include "io/rows/chunk_grid.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace runner {

/// How the coarser levels of an image come into its folder or its file, in three steps, and how the
/// extremes of its channels are counted. Every rank takes each, and begins one when all ranks are
/// done with the one before. Of an output that has neither, and of one packed file, nothing is
/// done. OutputDataset::axes and invalid_value are known. @throws Error (output).

/// In a folder the first rank makes the files that hold the levels' elements until they are packed;
/// place_written() removes them.
void prepare_levels(const OutputDataset& output, const AssemblyShare& share);

/// The regions of an image in a folder that its levels are made of. `grid`: the image's.
LevelSweep sweep_of(const OutputDataset& output, const ChunkGrid& grid);

/// Makes a rank's share of the elements that are not made yet: of the packed chunks of the image
/// (PackedPieces), each of which is unpacked once for all levels, or in one file, of its elements
/// there. Returns what the share has of the extremes of the stated channels.
Extremes reduce_levels(const OutputDataset& output, const AssemblyShare& share,
                       const MadeRegions& made = {});

/// In a folder, packs a rank's share of the files of one of coarser_levels(), from 0.
void store_level(const OutputDataset& output, std::size_t level, const AssemblyShare& share);

/// The same of elements at a place.
void store_level(const LevelSweep& sweep, std::size_t level, const LevelPlace& place,
                 const AssemblyShare& share);

/// Puts the packed levels of one file behind the chunks of the image, which end at byte `end` of
/// it, and returns how many bytes each chunk has. The file's end is then that of the last one.
/// Until then the elements of the levels lie further behind. Nothing without levels. @throws Error
/// (output).
std::vector<std::int64_t> append_levels(const OutputDataset& output, File& file, std::int64_t end,
                                        const AssemblyShare& share);

/// The three steps, of one rank alone. Returns the extremes.
Extremes make_levels(const OutputDataset& output, const AssemblyShare& share);

/// Memory that one thread takes for these steps, and disk space, at most, of whatever axes.
std::int64_t levels_memory(const ArrayInfo& array, const OutputLayout& layout);
std::int64_t levels_room(const ArrayInfo& array, const OutputLayout& layout);

} // namespace runner
