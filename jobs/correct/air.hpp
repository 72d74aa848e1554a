// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/correct/field.hpp"
#include "jobs/keys.hpp"
#include "kernels/correct/correct.hpp"
#include "kernels/queue/queue.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace runner {

/// The part of every frame in which the beam meets nothing, half-open ranges.
struct Air {
    std::array<std::int64_t, 2> columns{};
    std::optional<std::array<std::int64_t, 2>> rows = {}; ///< nothing: all
};

/// `{ columns = [0, 20] }`, or with `rows` too.
Form<Air> air_form();

/// Correction of frames with the flat field brought to the beam of each frame, by the mean of its
/// air; docs/correct.md says what is computed. Whole frames at a time.
class AirCorrection {
  public:
    /// `correct`: of a frame. `invalid`: elements of the input. The fields are the same for all
    /// frames. @throws Error (usage) where the air is not in the frame.
    AirCorrection(const Correct& correct, const Air& air, std::shared_ptr<const Field> dark,
                  std::shared_ptr<const Field> flat, const std::optional<double>& invalid);

    /// Bytes of device memory that all calls share, 256-byte aligned; prepare() fills them.
    std::int64_t kept_bytes() const;
    void prepare(Queue& queue, std::byte* kept) const;

    /// Bytes of scratch memory for so many frames.
    std::int64_t scratch_bytes(std::int64_t frames) const;

    /// So many frames from `in` to `out`, memory of the queue. Adds to `raised` as correct() does.
    void run(Queue& queue, std::int64_t frames, const std::byte* in, std::byte* out,
             const std::byte* kept, std::byte* scratch, std::uint64_t* raised) const;

  private:
    struct Memory;
    struct Frames;
    template <class Q> void run_together(Q& queue, const Frames& frames) const;
    std::int64_t pixels() const { return correct_.rows * correct_.columns; }
    std::int64_t air_rows() const { return rows_[1] - rows_[0]; }
    std::int64_t air_columns() const { return columns_[1] - columns_[0]; }
    /// How many of so many frames are corrected at once.
    std::int64_t together(std::int64_t frames) const;
    Memory memory_of(std::byte* scratch, std::int64_t frames) const;

    Correct correct_;
    Correct plain_; ///< transmissions alone; NaN where there is none
    std::array<std::int64_t, 2> rows_;
    std::array<std::int64_t, 2> columns_;
    std::shared_ptr<const Field> dark_;
    std::shared_ptr<const Field> flat_;
    std::optional<double> invalid_;
};

} // namespace runner
