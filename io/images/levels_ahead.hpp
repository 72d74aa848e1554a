// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/extremes.hpp"
#include "base/page_pool.hpp"
#include "io/files/io_threads.hpp"
#include "io/levels/channel_extremes.hpp"
#include "io/levels/level_sweep.hpp"
#include "io/output/level_files.hpp"
#include "io/rows/rows.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

namespace runner {

/// Makes coarser levels of an image in a folder, and counts the extremes of its channels, of the
/// rows that a rank writes, while they are in memory. An element of a level is made of a region of
/// the image (LevelSweep). Rows wait in memory until the rank has written all of a region. Regions
/// that are not made here, as those of rows of two ranks, reduce_levels() makes.
class LevelsAhead {
  public:
    /// Null for an output without levels or channels, or that is no image in a folder, and where
    /// `memory` bytes are too little. Else the files of prepare_levels() are there.
    /// OutputDataset::axes and invalid_value are known. @throws Error (output), (launch).
    static std::unique_ptr<LevelsAhead> of(const OutputDataset& output, std::int64_t memory,
                                           int threads);

    LevelsAhead(const OutputDataset& output, std::int64_t memory, int threads);

    /// Takes rows that the output has from now on. One call at a time. @throws Error (output).
    void add(std::int64_t first, std::int64_t rows, const std::byte* from);

    /// Closes the files, and gives the memory of rows back. @throws Error (output).
    void close();

    /// The regions that were made.
    const MadeRegions& made() const { return made_; }

    /// The extremes of the regions that were made.
    Extremes extremes() const;

  private:
    /// Regions that have the same layers and rows, and together whole rows.
    struct Band {
        std::size_t buffer = 0;
        std::vector<bool> has; ///< rows of the output
        std::int64_t missing = 0;
        std::int64_t touched = 0; ///< rows_ when a row came last
    };

    /// A region whose elements are in memory.
    struct Whole {
        VolumeBox region;
        BoxElements elements;
    };

    VolumeBox band_at(std::int64_t row) const;
    std::int64_t row_of(const VolumeBox& box, std::int64_t layer) const;
    void add_regions(const VolumeBox& band, const BoxElements& elements);
    void keep(const VolumeBox& box, std::int64_t row, std::int64_t rows, const std::byte* from);
    Band* band_of(const VolumeBox& box);
    std::optional<std::size_t> take_buffer();
    void make_whole();

    LevelSweep sweep_;
    std::int64_t element_bytes_;
    std::int64_t row_bytes_;
    LevelElements elements_;
    LevelMaker::Take store_;
    std::vector<LevelMaker> makers_;        ///< one a thread
    std::vector<ChannelExtremes> extremes_; ///< one a thread
    PagePool buffers_;                      ///< of bands
    std::map<std::int64_t, Band> bands_;    ///< by their first row
    std::set<std::int64_t> left_;           ///< bands of which not all rows were kept
    std::int64_t rows_ = 0;                 ///< that came
    std::vector<Whole> whole_;              ///< to be made now
    std::vector<std::size_t> emptied_;      ///< buffers of these
    MadeRegions made_;
    IoThreads threads_;
};

/// Passes rows on to both. `levels` outlives it.
std::unique_ptr<RowWriter> write_beside(std::unique_ptr<RowWriter> writer, LevelsAhead& levels);

} // namespace runner
