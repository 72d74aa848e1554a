// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

namespace runner {

/// What host and device compute alike of one element. All is constexpr, so that device code can
/// call it too.

/// scale_voxels().
struct ScaledVoxel {
    double factor;

    constexpr float operator()(float voxel) const {
        return static_cast<float>(static_cast<double>(voxel) * factor);
    }
};

/// stabilise_counts(). A template, because std::sqrt is not constexpr.
struct StabilisedCount {
    template <class T> constexpr T operator()(T count) const {
        const double sum = static_cast<double>(count) + 0.375;
        return static_cast<T>(2 * std::sqrt(sum > 0 ? sum : 0.0));
    }
};

/// restore_counts().
struct RestoredCount {
    constexpr float operator()(float stabilised) const {
        constexpr double root = 1.224744871391589; // of 3/2; twice that of 3/8 too
        const double d = stabilised;
        if (!(d > root)) {
            return 0;
        }
        const double count =
            d * d / 4 + root / (4 * d) - 11 / (8 * (d * d)) + 5 * root / (8 * (d * d * d)) - 0.125;
        return count > 0 ? static_cast<float>(count) : 0.0F;
    }
};

} // namespace runner
