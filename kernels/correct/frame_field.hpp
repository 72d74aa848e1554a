// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/correct/correct.hpp"

#include <cstdint>

namespace runner {

/// The field of one frame from a pixel on.
struct FrameField {
    float number = 0;
    const float* image = nullptr; ///< null: the number
    const float* next = nullptr;  ///< the image that the frame lies before; null: `image` is it
    float weight = 0;

    float at(std::int64_t pixel) const {
        if (image == nullptr) {
            return number;
        }
        return next == nullptr ? image[pixel]
                               : FieldPlace::between(image[pixel], next[pixel], weight);
    }
};

/// The field of a frame of the block from pixel `first` on; an image has `pixels`. In host memory.
inline FrameField frame_field(const CorrectField& field, std::int64_t frame, std::int64_t pixels,
                              std::int64_t first) {
    if (field.image == nullptr) {
        return {field.number};
    }
    if (field.places == nullptr) {
        return {0, field.image + first};
    }
    const FieldPlace& place = field.places[frame];
    return {0, field.image + place.before * pixels + first,
            place.after == place.before ? nullptr : field.image + place.after * pixels + first,
            place.weight};
}

} // namespace runner
