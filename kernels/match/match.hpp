// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/queue/queue.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace runner {

/// Which match a row of the lists begins with.
enum class MatchOrder { nearest_first, nearest_last };

/// How the matches are chosen among the candidates; all choose the same.
enum class MatchSelection {
    fast,
    serial,       ///< as published first: one thread enters every candidate into a sorted list
    min_and_swap, ///< as published to improve on it: one match after the other by a reduction to
                  ///< the least, in place: two candidates half the length apart are swapped, and
                  ///< the half that is left is halved again
};

/// Patch matching in a volume (Z, Y, X) of float32: everything about it that does not change from
/// block to block. An image is a volume of one layer.
///
/// A patch is named by its lowest corner; corners are 0 … volume − patch along each axis.
/// References sit at 0, step, 2·step, … along each axis, and at volume − patch where these miss it.
/// The candidates of a reference are all corners within (window − 1) / 2 of it along each axis,
/// itself included.
///
/// With e = a − b for two voxels that correspond, D sums e·e, in float32 with fused fma, first
/// along z (q = e₀·e₀, then q = fma(eᵢ, eᵢ, q)), then these along y, then those along x, each from
/// the lowest up. The distance is D / (number of voxels of a patch); candidates farther than
/// `threshold` are dropped. Of the others the `count` least by (D, corner) are the matches.
struct Match {
    static constexpr int max_patch = 8;
    static constexpr int max_count = 64;

    std::array<std::int64_t, 3> volume{};                     ///< each ≥ the patch's
    std::array<int, 3> patch = {1, 1, 1};                     ///< each 1 … max_patch
    std::array<std::int64_t, 3> window = {1, 1, 1};           ///< odd; less than 2^32 candidates
    int count = 1;                                            ///< 1 … max_count
    std::int64_t step = 1;                                    ///< ≥ 1
    float threshold = std::numeric_limits<float>::infinity(); ///< ≥ 0
    MatchOrder order = MatchOrder::nearest_first;
    /// The published ones hold all candidates of a reference at once: at most
    /// most_published_candidates.
    MatchSelection selection = MatchSelection::fast;

    static constexpr std::int64_t most_published_candidates = std::int64_t{24} * 1024;

    /// The candidates of a reference in the middle of the volume.
    std::int64_t candidates() const;

    std::int64_t patch_voxels() const { return std::int64_t{patch[0]} * patch[1] * patch[2]; }
};

/// What one call works on. The buffer holds layers [in_first, in_first + in_layers) of the volume;
/// wanted are the references whose corners lie in layers [out_first, out_first + out_layers) and,
/// along y, in lines [first_line, first_line + lines), by default all.
struct MatchLayers {
    std::int64_t in_first = 0;
    std::int64_t in_layers = 0;
    std::int64_t out_first = 0;
    std::int64_t out_layers = 0;
    std::int64_t first_line = 0;
    std::int64_t lines = std::numeric_limits<std::int64_t>::max() / 2;

    bool operator==(const MatchLayers&) const = default;
};

/// References along each axis of the whole volume.
std::array<std::int64_t, 3> match_grid(const Match& match);

/// How many references along z lie in layers before `layer`.
std::int64_t match_grid_before(const Match& match, std::int64_t layer);

/// The layers [first, first + layers) of references and the fewest of the volume that they and
/// their candidates cover; none where no reference lies there.
MatchLayers match_layers(const Match& match, std::int64_t first, std::int64_t layers);

/// References of these layers and lines: the rows of the lists.
std::int64_t match_rows(const Match& match, const MatchLayers& layers);

/// What match_patches() counts on its queue.
double match_operations(const Match& match, const MatchLayers& layers);

/// Where the matches go, a row a reference, references in the order z, y, x; device memory.
struct MatchLists {
    std::uint64_t* index = nullptr; ///< rows × count: corner z·Y·X + y·X + x in the whole volume
    float* distance = nullptr;      ///< rows × count
    std::int32_t* count = nullptr;  ///< rows: how many of `count` there are; the rest of a row has
                                    ///< index 2^64 − 1 and distance infinity
};

/// Fills the lists of the references of `layers`. `volume` is the buffer (finite values and NaN,
/// dense). A patch with a NaN is no candidate, and its own row is empty.
/// All are in the queue's device memory; on a CPU each thread takes up to 1 MiB beside. The same
/// bytes on every queue and for every way to cut the volume into layers. The CUDA form returns
/// before the work is done.
void match_patches(CpuQueue& queue, const Match& match, const MatchLayers& layers,
                   const float* volume, const MatchLists& lists);
void match_patches(CudaQueue& queue, const Match& match, const MatchLayers& layers,
                   const float* volume, const MatchLists& lists);

/// Bytes of a row of lists side by side: `count` indices, `count` distances, how many there are.
constexpr std::int64_t match_row_bytes(int count) { return 12 * std::int64_t{count} + 4; }

/// Puts rows of lists side by side into `out`, rows · match_row_bytes(count) bytes aligned to 4.
/// All is device memory; the CUDA form returns before the work is done.
void pack_match_rows(CpuQueue& queue, std::int64_t rows, int count, const MatchLists& lists,
                     std::byte* out);
void pack_match_rows(CudaQueue& queue, std::int64_t rows, int count, const MatchLists& lists,
                     std::byte* out);

} // namespace runner
