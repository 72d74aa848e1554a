// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/elements/converted.cuh"
#include "kernels/elements/elements.hpp"
#include "kernels/elements/elementwise.cuh"
#include "kernels/elements/tabulated.cuh"
#include "kernels/rescale/rescale.hpp"

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace runner {
namespace {

/// One element.
template <class In, class Out> struct Map {
    double from_low;
    double factor;
    double to_low;
    double least;
    double most;
    bool flat;

    __device__ Out operator()(In element) const {
        if (flat) {
            return converted_on_device<Out>(to_low);
        }
        const double y = __fma_rn(__dsub_rn(to_double(element), from_low), factor, to_low);
        // Comparisons, not fmin and fmax: a NaN stays.
        const double above = y < least ? least : y;
        return converted_on_device<Out>(above > most ? most : above);
    }
};

/// Integers of up to 4 bytes to such integers where no value is a NaN. Rounded before they are
/// clipped, as integers, which takes less and has the same result: both rise with the value.
template <class In, class Out> struct IntegerMap {
    using Int = std::conditional_t<std::is_same_v<Out, std::uint32_t>, std::uint32_t, std::int32_t>;

    double from_low;
    double factor;
    double to_low;
    Int least;
    Int most;

    __device__ Out operator()(In element) const {
        const double y = __fma_rn(__dsub_rn(to_double(element), from_low), factor, to_low);
        Int rounded; // saturates
        if constexpr (std::is_signed_v<Int>) {
            rounded = __double2int_rn(y);
        } else {
            rounded = __double2uint_rn(y);
        }
        return static_cast<Out>(min(max(rounded, least), most));
    }
};

template <class In, class Out> constexpr bool has_integer_map() {
    return std::is_integral_v<In> && sizeof(In) > 1 && sizeof(In) <= 4 && std::is_integral_v<Out> &&
           sizeof(Out) <= 4;
}

template <class In, class Out>
void launch_map(CudaQueue& queue, const Rescale& r, std::int64_t count, const std::byte* in,
                std::byte* out) {
    const bool flat = r.is_flat();
    const Map<In, Out> map{r.from_low, flat ? 0 : r.factor(), r.to_low, r.least(), r.most(), flat};
    if constexpr (sizeof(In) == 1) {
        launch_tabulated<In, Out>(queue, count, in, out, map);
    } else if constexpr (has_integer_map<In, Out>()) {
        const auto is_number = [](double x) { return std::isfinite(x); };
        if (!flat && is_number(r.from_low) && is_number(map.factor) && is_number(r.to_low) &&
            is_number(r.to_high)) {
            using Int = typename IntegerMap<In, Out>::Int;
            const auto bound = [](double x) { return static_cast<Int>(converted<Out>(x)); };
            launch_elementwise<In, Out>(queue, count, in, out,
                                        IntegerMap<In, Out>{r.from_low, map.factor, r.to_low,
                                                            bound(map.least), bound(map.most)});
            return;
        }
        launch_elementwise<In, Out>(queue, count, in, out, map);
    } else {
        launch_elementwise<In, Out>(queue, count, in, out, map);
    }
}

} // namespace

void rescale(CudaQueue& queue, const Rescale& rescale, std::int64_t count, const std::byte* in,
             std::byte* out) {
    visit_element_type(rescale.in_type, [&](auto in_zero) {
        visit_element_type(rescale.out_type, [&](auto out_zero) {
            launch_map<decltype(in_zero), decltype(out_zero)>(queue, rescale, count, in, out);
        });
    });
}

} // namespace runner
