// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/rounding.hpp"
#include "jobs/job.hpp"
#include "jobs/kind.hpp"
#include "kernels/elements/invalid.hpp"
#include "kernels/match/match.hpp"
#include "kernels/match/voxels.hpp"
#include "kernels/queue/queue.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace runner {

/// An input that is matched: a volume (Z, Y, X) of numbers; an image has Z = 1.
struct Volume {
    ElementType type = ElementType::float32;
    std::array<std::int64_t, 3> shape = {1, 1, 1};
    InputDataset source = {}; ///< for messages
    /// Which sample of the source's colour pixels it is, for messages; nothing: all.
    std::optional<int> sample = {};
    bool is_image = false; ///< of two axes
    /// Invalid elements (kernels/elements/invalid.hpp); nothing: all are values.
    std::optional<double> invalid = {};

    bool is_floating() const {
        return type == ElementType::float32 || type == ElementType::float64;
    }
    std::int64_t row_bytes() const { return shape[2] * size_of(type); }
    std::int64_t layer_voxels() const { return shape[1] * shape[2]; }
    std::int64_t rows() const { return shape[0] * shape[1]; }
};

/// The element types that a kind takes.
enum class VoxelTypes {
    usual, ///< uint8, uint16 and float32
    all,   ///< of every number
};

/// The input, of one sample a pixel, as a volume; `kind` for messages. @throws Error (input): more
/// than three axes or less than two, an empty one, another element type.
Volume make_volume(const JobInput& input, std::string_view kind, VoxelTypes types);

/// The greatest magnitude, as float32, of the values of rows [first, first + rows), on the host; of
/// uint8 and uint16 that of the type. Invalid elements are no values.
/// @throws Error (input) for the first that is not finite as float32, with its position.
float checked_magnitude(const Volume& volume, std::int64_t first, std::int64_t rows,
                        const std::byte* in);

/// out = so many voxels of the volume as float32, invalid ones as NaN. Device memory; the CUDA form
/// returns before the work is done.
template <class Q>
void read_voxels(Q& queue, const Volume& volume, std::int64_t voxels, const std::byte* in,
                 float* out) {
    voxels_to_float(queue, volume.type, voxels, in, out);
    if (volume.invalid) {
        mark_invalid(queue,
                     {volume.type, *volume.invalid, ElementType::float32,
                      std::numeric_limits<double>::quiet_NaN()},
                     voxels, in, reinterpret_cast<std::byte*>(out));
    }
}

/// Memory cut into pieces one after the other, each aligned_bytes(). Counted with no memory,
/// then handed out by the same calls.
class Pieces {
  public:
    explicit Pieces(std::byte* memory = nullptr) : memory_(memory) {}

    template <class T> T* take(std::int64_t count) {
        std::byte* piece = memory_ == nullptr ? nullptr : memory_ + used_;
        used_ += aligned_bytes(count * std::int64_t{sizeof(T)});
        return reinterpret_cast<T*>(piece);
    }
    std::int64_t bytes() const { return used_; }

  private:
    std::byte* memory_;
    std::int64_t used_ = 0;
};

/// How far a method goes from the voxel that it makes: by so many half windows and patches.
struct MatchReach {
    std::int64_t half_windows = 0;
    std::int64_t patches = 0;
};

/// A voxel is made of the references that cover it, and these of their matches.
inline constexpr MatchReach estimates_references = {1, 1};
/// In each of two passes a voxel is made of all matches that cover it, of references within a
/// window about these, and of these references' other matches.
inline constexpr MatchReach estimates_matches_twice = {4, 2};

/// How far that is along z, y and x; 0 along an axis of one voxel.
std::array<std::int64_t, 3> reach_of(const Match& match, const MatchReach& reach);

/// The locality of a job that matches patches.
Locality match_locality(const Match& match, const MatchReach& reach);

/// The mixing of a job that matches patches: none along an axis where window and patch are 1.
Locality match_mixing(const Match& match);

} // namespace runner
