// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/elements/converted.cuh"
#include "kernels/elements/elements.hpp"
#include "kernels/elements/elementwise.cuh"
#include "kernels/elements/invalid.hpp"
#include "kernels/elements/tabulated.cuh"
#include "kernels/rescale/rescale.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace runner {
namespace {

/// One element.
template <class In, class Out> struct Map {
    RescaleLine line;
    bool flat;

    __device__ Out operator()(In element) const {
        return converted_on_device<Out>(flat ? line.to_low : line(to_double(element)));
    }
};

/// Integers of up to 4 bytes to such integers where no value is a NaN. Rounded before they are
/// clipped, as integers, which takes less and has the same result: both rise with the value.
template <class In, class Out> struct IntegerMap {
    using Int = std::conditional_t<std::is_same_v<Out, std::uint32_t>, std::uint32_t, std::int32_t>;

    RescaleLine line;
    Int least;
    Int most;

    __device__ Out operator()(In element) const {
        const double y = line.unclipped(to_double(element));
        Int rounded; // saturates
        if constexpr (std::is_signed_v<Int>) {
            rounded = __double2int_rn(y);
        } else {
            rounded = __double2uint_rn(y);
        }
        return static_cast<Out>(min(max(rounded, least), most));
    }
};

/// Whether an element's value is beyond the range that is mapped. Integers of up to 4 bytes and
/// float32 are compared as they are, which gives the same: the bounds are the first of their type
/// within the range.
template <class In> struct Beyond {
    using Value = std::conditional_t<sizeof(In) == 8, double, In>;

    Value low;
    Value high;
    bool has_invalid;
    InvalidTest<In> is_invalid;

    explicit Beyond(const Rescale& r)
        : low(bound(std::ceil(r.from_low), r.from_low, 1)),
          high(bound(std::floor(r.from_high), r.from_high, -1)), has_invalid(r.invalid.has_value()),
          is_invalid(invalid_test<In>(r.invalid.value_or(0))) {
        if constexpr (std::is_integral_v<Value>) {
            using Limits = std::numeric_limits<Value>;
            if (r.from_low > static_cast<double>(Limits::max()) ||
                r.from_high < static_cast<double>(Limits::min())) { // all are beyond
                low = Limits::max();
                high = Limits::min();
            }
        }
    }

    __device__ bool operator()(In element) const {
        const auto value = static_cast<Value>(element);
        return (value < low || value > high) && !(has_invalid && is_invalid(element));
    }

    /// How many of the four elements of a word are beyond, where they are of 1 byte.
    __device__ int count_in(std::uint32_t word) const {
        static_assert(sizeof(In) == 1);
        const auto all = [](In x) { return 0x01010101U * static_cast<std::uint8_t>(x); };
        std::uint32_t beyond; // the bytes are 0 or all ones
        if constexpr (std::is_signed_v<In>) {
            beyond = __vcmplts4(word, all(low)) | __vcmpgts4(word, all(high));
        } else {
            beyond = __vcmpltu4(word, all(low)) | __vcmpgtu4(word, all(high));
        }
        if (has_invalid) {
            beyond &= ~__vcmpeq4(word, all(is_invalid.value));
        }
        return __popc(beyond) / 8;
    }

  private:
    /// The first value from x on, upwards or downwards; `whole` is that of integers.
    static Value bound(double whole, double x, int direction) {
        if constexpr (std::is_same_v<Value, double>) {
            return x;
        } else if constexpr (std::is_integral_v<Value>) {
            return converted<Value>(whole); // saturates
        } else {
            const auto nearest = static_cast<Value>(x);
            const bool is_within = direction > 0 ? nearest >= x : nearest <= x;
            return is_within ? nearest
                             : std::nextafter(nearest, static_cast<Value>(direction) * INFINITY);
        }
    }
};

template <class In, class Out> constexpr bool has_integer_map() {
    return std::is_integral_v<In> && sizeof(In) > 1 && sizeof(In) <= 4 && std::is_integral_v<Out> &&
           sizeof(Out) <= 4;
}

template <class In, class Out>
void launch_map(CudaQueue& queue, const Rescale& r, std::int64_t count, const std::byte* in,
                std::byte* out, const Tally& clipped) {
    const CountedElements<Beyond<In>> counted{clipped, Beyond<In>(r)};
    const RescaleLine line = r.line();
    const Map<In, Out> map{line, r.is_flat()};
    if constexpr (sizeof(In) == 1) {
        launch_tabulated<In, Out>(queue, count, in, out, map, counted);
    } else if constexpr (has_integer_map<In, Out>()) {
        const auto is_number = [](double x) { return std::isfinite(x); };
        if (!r.is_flat() && is_number(r.from_low) && is_number(line.factor) &&
            is_number(r.to_low) && is_number(r.to_high)) {
            using Int = typename IntegerMap<In, Out>::Int;
            const auto bound = [](double x) { return static_cast<Int>(converted<Out>(x)); };
            launch_elementwise<In, Out>(
                queue, count, in, out,
                IntegerMap<In, Out>{line, bound(line.least), bound(line.most)}, counted);
            return;
        }
        launch_elementwise<In, Out>(queue, count, in, out, map, counted);
    } else {
        launch_elementwise<In, Out>(queue, count, in, out, map, counted);
    }
}

} // namespace

void rescale(CudaQueue& queue, const Rescale& rescale, std::int64_t count, const std::byte* in,
             std::byte* out, const Tally& clipped) {
    visit_element_type(rescale.in_type, [&](auto in_zero) {
        visit_element_type(rescale.out_type, [&](auto out_zero) {
            launch_map<decltype(in_zero), decltype(out_zero)>(queue, rescale, count, in, out,
                                                              clipped);
        });
    });
}

} // namespace runner
