// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/element_type.hpp"
#include "kernels/queue/queue.hpp"
#include "kernels/queue/row_block.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace runner {

/// Correction of frames for dark and flat field, to the byte:
///   t = (x − D) / (F − D), each step rounded to float32, x converted to it first
/// Where F − D is not above 0 or not finite, t is `dead`. Then, if asked for, t is clipped to
/// [clip_low, clip_high]; then raised to `floor` where it is below, and replaced by −ln(t)
/// (negative_log() of negative_log.hpp). A NaN stays one. The output is float32.
struct Correct {
    ElementType in_type = ElementType::uint16;
    std::int64_t rows = 1; ///< of a frame
    std::int64_t columns = 1;
    float dead = 0;
    bool clips = false;
    float clip_low = 0;
    float clip_high = 1;
    bool takes_log = false;
    float floor = 1e-6F; ///< above 0
};

/// The two images of a field that a frame lies between, by their numbers. The frame's field is
///   A + w · (B − A), each step rounded to float32
/// of the pixels A of the one and B of the other; where both are one image, it is that.
struct FieldPlace {
    std::int32_t before = 0;
    std::int32_t after = 0;
    float weight = 0; ///< w, from 0 to 1

    /// The field of these pixels of two images. constexpr, so that device code can call it too.
    static constexpr float between(float before, float after, float weight) {
        return before + weight * (after - before);
    }

    bool operator==(const FieldPlace&) const = default;
};

/// An image of rows × columns, or a number that stands at every pixel; or images, one after the
/// other, between which frames lie.
struct CorrectField {
    float number = 0;
    const float* image = nullptr; ///< device memory; null: the number
    /// Device memory: of each frame of the block; null: the image is that of every frame.
    const FieldPlace* places = nullptr;
};

/// Corrects rows [out_first, out_first + out_rows) of each frame, which the input buffer holds and
/// no others. Everything is in the queue's device memory, dense and aligned to its elements; `in`
/// and `out` do not overlap. Adds to `raised`, device memory, how many values were raised to
/// `floor`. The same bytes and counts on every queue. The CUDA form returns before the work is
/// done.
void correct(CpuQueue& queue, const Correct& correct, const RowBlock& block,
             const CorrectField& dark, const CorrectField& flat, const std::byte* in, float* out,
             std::uint64_t* raised);
void correct(CudaQueue& queue, const Correct& correct, const RowBlock& block,
             const CorrectField& dark, const CorrectField& flat, const std::byte* in, float* out,
             std::uint64_t* raised);

} // namespace runner
