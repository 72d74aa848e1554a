// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/written_format.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace runner {

/// An image or a level of one, seen as volumes: its last three axes are z, y and x, and those
/// before count volumes; of two axes z has one element.
struct Volumes {
    explicit Volumes(std::span<const std::int64_t> shape);

    std::int64_t count = 1;
    std::array<std::int64_t, 3> extents = {1, 1, 1};
};

/// A part of one of its volumes.
struct VolumeBox {
    std::int64_t volume = 0;
    std::array<std::int64_t, 3> start = {0, 0, 0};
    std::array<std::int64_t, 3> count = {1, 1, 1};

    std::int64_t elements() const { return count[0] * count[1] * count[2]; }
};

/// A box's elements in memory, of which rows, and layers, may lie apart.
struct BoxElements {
    const std::byte* first = nullptr;
    std::int64_t layer_pitch = 0; ///< elements from a layer to the next
    std::int64_t row_pitch = 0;
};

/// The blocks of a box of an image that begins on borders of blocks, as a box of the level.
VolumeBox box_of_level(const VolumeBox& box, const std::array<std::int64_t, 3>& factors);

/// The elements of an image that a box of a level is made of.
VolumeBox box_of_image(const VolumeBox& box, const std::array<std::int64_t, 3>& factors,
                       const Volumes& image);

/// Calls `take` for the runs of a box's elements that lie together in a dense array: where one
/// begins in the array, and in the box, and how many they are.
void each_run(
    const Volumes& array, const VolumeBox& box,
    const std::function<void(std::int64_t at, std::int64_t in_box, std::int64_t count)>& take);

/// Which regions of a sweep have their part of the levels: '1' for each that does; empty: none.
using MadeRegions = std::string;

/// An image cut into regions, each of whole blocks of all levels, so that an element of whatever
/// level is made of one region.
class LevelSweep {
  public:
    /// `grain`: extents of what is unpacked together along z, y and x, which regions hold several
    /// of where memory allows.
    LevelSweep(const ArrayInfo& image, std::vector<CoarserLevel> levels,
               const std::array<std::int64_t, 3>& grain);

    const std::vector<CoarserLevel>& levels() const { return levels_; }
    const Volumes& volumes() const { return volumes_; }

    /// Extents of a region; those at the image's end have less.
    const std::array<std::int64_t, 3>& step() const { return step_; }

    std::int64_t regions() const;
    VolumeBox region(std::int64_t index) const;
    std::int64_t index_of(const VolumeBox& region) const;

    /// The indices of regions that are not made.
    std::vector<std::int64_t> regions_without(const MadeRegions& made) const;

    /// The regions that begin in a box that begins and ends on borders of blocks, or with the
    /// image.
    std::vector<VolumeBox> regions_in(const VolumeBox& box) const;

    /// The element of a level at which a piece begins, the level's part of a region, where the
    /// pieces of all regions follow one another.
    std::int64_t begin_of(std::size_t level, const VolumeBox& piece) const;

    /// As the function above, of a box of a level whose pieces lie so.
    void each_run(std::size_t level, const VolumeBox& box,
                  const std::function<void(std::int64_t at, std::int64_t in_box,
                                           std::int64_t count)>& take) const;

    /// Bytes that a LevelMaker takes, at most.
    std::int64_t memory() const;

  private:
    friend class LevelMaker;

    /// Bytes of a sum where means of a level are made of the sums of the level before it; else 0.
    std::int64_t sum_bytes() const;

    ArrayInfo image_;
    Volumes volumes_;
    std::vector<CoarserLevel> levels_;
    std::array<std::int64_t, 3> step_ = {1, 1, 1}; ///< extents of a region
};

/// Makes the elements of all levels that a region has. One for each thread.
class LevelMaker {
  public:
    /// Fills memory with the elements of a box, dense.
    using Read = std::function<void(const VolumeBox& box, std::byte* to)>;
    /// Takes a box of a level, by its index in LevelSweep::levels().
    using Take =
        std::function<void(std::size_t level, const VolumeBox& box, const std::byte* elements)>;

    /// `sweep` outlives it.
    explicit LevelMaker(const LevelSweep& sweep) : sweep_(sweep), sum_bytes_(sweep.sum_bytes()) {}

    void make(const VolumeBox& region, const Read& read, const Take& take);

    /// Looks at a part of a region before levels are made of it, while it comes into the cache.
    using Look = std::function<void(const VolumeBox& part, const BoxElements& elements)>;

    /// The same of elements that are in memory.
    void make(const VolumeBox& region, const BoxElements& elements, const Look& look,
              const Take& take);

  private:
    template <class S> struct Sums {
        std::vector<S> level; ///< of a level's blocks
        std::vector<S> above; ///< of those of the level before it
    };

    template <class S>
    void make_means(const VolumeBox& region, const BoxElements& elements, const Look& look,
                    const Take& take, Sums<S>& sums);
    template <class S>
    void make_first(const VolumeBox& region, const BoxElements& elements, const Look& look,
                    S* sums);

    const LevelSweep& sweep_;
    std::int64_t sum_bytes_;
    std::vector<std::byte> elements_;
    std::vector<std::byte> made_; ///< as this, long enough for all levels
    Sums<std::int32_t> short_sums_;
    Sums<std::int64_t> long_sums_;
};

} // namespace runner
