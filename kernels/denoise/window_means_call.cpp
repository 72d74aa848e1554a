// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/denoise/window_means_call.hpp"

#include <algorithm>
#include <limits>

namespace runner {
namespace {

constexpr double log2_of_e = 1.4426950408889634;
/// Beyond this start a float32 is too coarse to tell weights between 0 and 1.
constexpr double most_start = 0x1p20;

/// So that neither sums of weights nor of these times differences of voxels overflow.
int window_lower(const Match& match, const WindowCall& call, float magnitude) {
    const double most = std::max<double>(1, 2 * static_cast<double>(magnitude)) *
                        static_cast<double>(match.patch_voxels()) *
                        static_cast<double>(call.offsets());
    int exponent = 0;
    std::frexp(most, &exponent); // most < 2^exponent
    return std::max(0, exponent - 126);
}

float rounded_down(double value) {
    constexpr float most = std::numeric_limits<float>::max();
    if (!(value < static_cast<double>(most))) {
        return most;
    }
    const auto nearest = static_cast<float>(value);
    return static_cast<double>(nearest) > value ? std::nextafter(nearest, 0.0F) : nearest;
}

} // namespace

WindowWeight make_window_weight(const Match& match, const WindowMeans& means) {
    using Limits = std::numeric_limits<float>;
    const auto voxels = static_cast<double>(match.patch_voxels());
    const double h = means.strength * means.sigma;
    const double each = static_cast<double>(WindowWeight::range) / log2_of_e;
    const double slope = 1 / (h * h * voxels * each);
    const double start = 1 + 2 / (means.strength * means.strength * each);
    WindowWeight weight{};
    weight.is_step =
        !(h * h > 0) || !(start <= most_start) || slope > static_cast<double>(Limits::max());
    weight.slope = weight.is_step
                       ? -1.0F
                       : -static_cast<float>(std::max<double>(slope, double{Limits::min()}));
    weight.start = weight.is_step ? 1.0F : static_cast<float>(start);
    weight.limit = rounded_down(2 * means.sigma * means.sigma * voxels);
    return weight;
}

WindowCall make_window_call(const Match& match, const WindowMeans& means, const HeldLayers& in,
                            const HeldLayers& held) {
    WindowCall call{};
    for (std::size_t i = 0; i < 3; ++i) {
        call.volume[i] = match.volume.at(i);
        call.patch[i] = match.patch.at(i);
        call.corner[i] = call.volume[i] - call.patch[i];
        call.half[i] = std::min(match.window.at(i) / 2, call.corner[i]);
    }
    call.in = in;
    call.held = held;
    call.weight = make_window_weight(match, means);
    call.is_huge = means.magnitude > 0x1p126F;
    const int lower = window_lower(match, call, means.magnitude);
    const int exponent = static_cast<int>(WindowWeight::range) + lower;
    call.weight.rounder = static_cast<float>((3 << 22) - exponent);
    call.weight.least = std::ldexp(1.0F, -exponent);
    call.weight.one = std::ldexp(1.0F, -lower);
    return call;
}

double window_means_operations(const Match& match, const HeldLayers& held) {
    const WindowCall call = make_window_call(match, {}, {}, held);
    return static_cast<double>(held.layers * call.volume[1] * call.volume[2]) * call.operations();
}

} // namespace runner
