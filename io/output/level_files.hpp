// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/pages.hpp"
#include "io/files/file.hpp"
#include "io/levels/level_sweep.hpp"
#include "io/output/assemble_output.hpp"
#include "io/rows/chunk_grid.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
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

/// Where the elements of a level wait until they are packed, in pieces (LevelSweep::begin_of()): in
/// a file from a byte on, or in memory.
struct LevelPlace {
    const File* file = nullptr;
    std::int64_t begin = 0;
    std::byte* memory = nullptr;
};

/// Stores pieces of levels at these places, by any thread. Both outlive it.
LevelMaker::Take store_at(const LevelSweep& sweep, const std::vector<LevelPlace>& places);

/// The places of all levels of an image in a folder.
class LevelElements {
  public:
    /// The files are those of prepare_levels().
    enum class Where { files, memory };

    /// @throws Error (output), (launch).
    LevelElements(const LevelSweep& sweep, Where where);

    /// What they take.
    static std::int64_t bytes(const LevelSweep& sweep);

    const std::vector<LevelPlace>& places() const { return places_; }

    /// Closes the files. What is in memory stays.
    void close();

  private:
    std::deque<File> files_;
    std::vector<Pages> memory_;
    std::vector<LevelPlace> places_;
};

/// Makes a rank's share of the elements: of the packed chunks of the image (PackedParts), each of
/// which is unpacked once for all levels, or in one file, of its elements there. Returns what the
/// share has of the extremes of the stated channels.
Extremes reduce_levels(const OutputDataset& output, const AssemblyShare& share);

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
