// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/correct/dead_values.hpp"

#include "kernels/correct/frame_field.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_reduce.h>

namespace runner {
namespace {

bool is_good(float range) { return range > 0 && range <= std::numeric_limits<float>::max(); }

/// Frames [first, last) between the same images.
struct Stretch {
    std::int64_t first = 0;
    std::int64_t last = 0;
};

bool same_images(const Field& field, std::int64_t a, std::int64_t b) {
    if (field.places.empty()) {
        return true;
    }
    const FieldPlace& one = field.places[static_cast<std::size_t>(a)];
    const FieldPlace& other = field.places[static_cast<std::size_t>(b)];
    return one.before == other.before && one.after == other.after;
}

std::vector<Stretch> stretches_of(const Field& dark, const Field& flat, std::int64_t frames) {
    std::vector<Stretch> stretches;
    for (std::int64_t frame = 0; frame < frames; ++frame) {
        if (frame == 0 || !same_images(dark, frame - 1, frame) ||
            !same_images(flat, frame - 1, frame)) {
            stretches.push_back({frame, frame});
        }
        stretches.back().last = frame + 1;
    }
    return stretches;
}

class DeadCount {
  public:
    DeadCount(const Field& dark, const Field& flat, std::int64_t pixels)
        : dark_(dark.values()), flat_(flat.values()), pixels_(pixels) {}

    /// In a stretch at one pixel. What a field has there rises or falls with the weight, so its
    /// values at both ends say what most pixels are, and the others take each frame.
    std::int64_t at(std::int64_t pixel, const Stretch& frames) const {
        const float dark_ends[] = {value(dark_, frames.first, pixel),
                                   value(dark_, frames.last - 1, pixel)};
        const float flat_ends[] = {value(flat_, frames.first, pixel),
                                   value(flat_, frames.last - 1, pixel)};
        const auto [dark_low, dark_high] = std::minmax(dark_ends[0], dark_ends[1]);
        const auto [flat_low, flat_high] = std::minmax(flat_ends[0], flat_ends[1]);
        if (is_good(flat_low - dark_high) && is_good(flat_high - dark_low)) {
            return 0;
        }
        std::int64_t dead = 0;
        for (std::int64_t frame = frames.first; frame < frames.last; ++frame) {
            dead += is_good(value(flat_, frame, pixel) - value(dark_, frame, pixel)) ? 0 : 1;
        }
        return dead;
    }

  private:
    float value(const CorrectField& field, std::int64_t frame, std::int64_t pixel) const {
        return frame_field(field, frame, pixels_, 0).at(pixel);
    }

    CorrectField dark_;
    CorrectField flat_;
    std::int64_t pixels_;
};

} // namespace

std::int64_t dead_values(const Field& dark, const Field& flat, std::int64_t pixels,
                         std::int64_t frames) {
    const bool varies = !dark.places.empty() || !flat.places.empty();
    const std::vector<Stretch> stretches =
        varies ? stretches_of(dark, flat, frames) : std::vector<Stretch>{{0, 1}};
    const DeadCount count(dark, flat, pixels);
    using Range = oneapi::tbb::blocked_range<std::int64_t>;
    const std::int64_t dead = oneapi::tbb::parallel_reduce(
        Range(0, pixels, 1 << 12), std::int64_t{0},
        [&](const Range& range, std::int64_t sum) {
            for (const Stretch& frames_between : stretches) {
                for (std::int64_t pixel = range.begin(); pixel < range.end(); ++pixel) {
                    sum += count.at(pixel, frames_between);
                }
            }
            return sum;
        },
        std::plus<>());
    return varies ? dead : dead * frames;
}

} // namespace runner
