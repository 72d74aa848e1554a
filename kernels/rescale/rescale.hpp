// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/element_type.hpp"
#include "kernels/elements/tally.hpp"
#include "kernels/queue/queue.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace runner {

/// The map of one value where it is not flat. constexpr, so that device code can call it too;
/// templates, because std::fma is not.
struct RescaleLine {
    double from_low;
    double factor;
    double to_low;
    double least;
    double most;

    template <class T> constexpr T unclipped(T x) const {
        return std::fma(x - from_low, factor, to_low);
    }
    template <class T> constexpr T operator()(T x) const {
        const T y = unclipped(x);
        // Comparisons, not fmin and fmax: a NaN stays.
        const T above = y < least ? least : y;
        return above > most ? most : above;
    }
};

/// A linear map of values, to the byte as docs/rescale.md says. In float64:
///   factor = (to_high − to_low) / (from_high − from_low)
///   y = fma(x − from_low, factor, to_low), clipped to the range from to_low to to_high
/// and then converted<out_type>(y) (kernels/elements/elements.hpp); a NaN stays one until then.
/// Where from_high = from_low every element is to_low.
struct Rescale {
    ElementType in_type = ElementType::float32;
    ElementType out_type = ElementType::float32;
    double from_low = 0;
    double from_high = 1;
    double to_low = 0; ///< may be above to_high: then the map falls
    double to_high = 1;
    /// Which elements are no values (kernels/elements/invalid.hpp), for what is counted alone.
    std::optional<double> invalid = {};

    bool is_flat() const { return from_high == from_low; }
    double factor() const { return (to_high - to_low) / (from_high - from_low); }
    /// What y is clipped to.
    double least() const { return to_low < to_high ? to_low : to_high; }
    double most() const { return to_low < to_high ? to_high : to_low; }
    RescaleLine line() const { return {from_low, factor(), to_low, least(), most()}; }
};

/// `count` elements. `in` and `out` are in the queue's device memory, aligned to their elements,
/// and do not overlap. The same bytes on every queue. `clipped` counts elements whose value, as
/// float64, is below from_low or above from_high. The CUDA form returns before the work is done.
void rescale(CpuQueue& queue, const Rescale& rescale, std::int64_t count, const std::byte* in,
             std::byte* out, const Tally& clipped = {});
void rescale(CudaQueue& queue, const Rescale& rescale, std::int64_t count, const std::byte* in,
             std::byte* out, const Tally& clipped = {});

} // namespace runner
