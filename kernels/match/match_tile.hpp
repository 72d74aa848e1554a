// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/match/match_call.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace runner {

/// References [first, end) along each axis, as the call numbers them.
struct MatchBox {
    std::array<std::int64_t, 3> first{};
    std::array<std::int64_t, 3> end{};

    std::int64_t extent(std::size_t axis) const { return end[axis] - first[axis]; }
    std::int64_t references() const { return extent(0) * extent(1) * extent(2); }
};

/// Keys of a reference's list in a thread's memory: a least key before, then `count` and some more
/// to fill vectors.
constexpr std::int64_t match_list_keys(int count) { return 1 + (std::int64_t{count} + 7) / 8 * 8; }

/// A thread's memory for boxes of so many references along each axis, with step 1.
class MatchTileMemory {
  public:
    MatchTileMemory(const MatchCall& call, const std::array<std::int64_t, 3>& extent);

    std::int64_t bytes() const { return keys_ + lists_ * 8; }

    /// Floats of a row, at its end room for vectors.
    std::int64_t pitch() const { return pitch_; }
    /// Sums along z: a plane of rows a layer of the box.
    float* squares(std::byte* memory) const { return reinterpret_cast<float*>(memory); }
    /// Sums along z and y: one row.
    float* sums(std::byte* memory) const { return reinterpret_cast<float*>(memory + sums_); }
    /// D of each reference's last match, or the most allowed.
    float* worst(std::byte* memory) const { return reinterpret_cast<float*>(memory + worst_); }
    /// The number of that match in its window.
    std::uint32_t* worst_number(std::byte* memory) const {
        return reinterpret_cast<std::uint32_t*>(memory + worst_number_);
    }
    std::int64_t* keys(std::byte* memory) const {
        return reinterpret_cast<std::int64_t*>(memory + keys_);
    }

  private:
    std::int64_t pitch_;
    std::int64_t sums_;
    std::int64_t worst_;
    std::int64_t worst_number_;
    std::int64_t keys_;
    std::int64_t lists_;
};

/// The matches of all references of a box, step 1: a plane of sums for every place in the window.
/// Counts on the queue a layer of the window after the other: a large one takes seconds.
void match_dense_box(const CpuQueue& queue, const MatchCall& call, const MatchBox& box,
                     const float* volume, const MatchLists& lists, const MatchTileMemory& layout,
                     std::byte* memory);

/// The matches of references [first, end), counted in the lists' order: sums for each by itself.
void match_sparse_run(const MatchCall& call, std::int64_t first, std::int64_t end,
                      const float* volume, const MatchLists& lists);

} // namespace runner
