// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/convolve/convolve.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

namespace runner {

/// `value` as the output type: integers round half to even and saturate, NaN is 0.
template <class Out, class Compute> Out reference_output(Compute value) {
    if constexpr (std::is_integral_v<Out>) {
        if (std::isnan(value)) {
            return 0;
        }
        // A long double holds every integer of 64 bits.
        static_assert(std::numeric_limits<long double>::digits >= 64);
        const long double whole = std::nearbyint(static_cast<long double>(value));
        if (whole <= static_cast<long double>(std::numeric_limits<Out>::min())) {
            return std::numeric_limits<Out>::min();
        }
        if (whole >= static_cast<long double>(std::numeric_limits<Out>::max())) {
            return std::numeric_limits<Out>::max();
        }
        return static_cast<Out>(whole);
    } else {
        return static_cast<Out>(value);
    }
}

/// One output of one pass at position `n`: the sum over the taps, each value asked of `value_at`
/// by its extended position.
template <class Compute, class ValueAt>
Compute reference_sum(const std::vector<double>& taps, std::int64_t n, ValueAt value_at) {
    const auto radius = static_cast<std::int64_t>(taps.size() / 2);
    const auto tap = [&](std::int64_t k) {
        return static_cast<Compute>(taps[static_cast<std::size_t>(k)]);
    };
    Compute acc = tap(2 * radius) * value_at(n - radius);
    for (std::int64_t j = 1; j <= 2 * radius; ++j) {
        acc = std::fma(tap(2 * radius - j), value_at(n - radius + j), acc);
    }
    return acc;
}

/// One pass along the middle axis of values [outer][extent][inner].
template <class Compute>
std::vector<Compute> reference_pass(const Convolution& convolution, const std::vector<double>& taps,
                                    std::int64_t extent, std::int64_t inner,
                                    const std::vector<Compute>& values) {
    const auto fill = static_cast<Compute>(convolution.fill);
    std::vector<Compute> sums(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto place = static_cast<std::int64_t>(i);
        const std::int64_t n = place / inner % extent;
        sums[i] = reference_sum<Compute>(taps, n, [&](std::int64_t extended) {
            const std::int64_t at = map_index(extended, extent, convolution.boundary);
            return at < 0 ? fill : values[static_cast<std::size_t>(place + (at - n) * inner)];
        });
    }
    return sums;
}

/// The definition of convolution, one output after the other, of elements in the compute type.
template <class Compute>
std::vector<Compute> reference_sums(const Convolution& convolution, std::vector<Compute> values) {
    const std::int64_t rows = convolution.frame_rows;
    const std::int64_t columns = convolution.columns;
    values = reference_pass(convolution, convolution.row_taps, columns, 1, values);
    values = reference_pass(convolution, convolution.column_taps, rows, columns, values);
    return convolution.depth_taps.empty()
               ? values
               : reference_pass(convolution, convolution.depth_taps, convolution.layers,
                                rows * columns, values);
}

template <class Compute>
std::vector<std::byte> reference_bytes(const Convolution& convolution,
                                       const std::vector<std::byte>& image) {
    std::vector<Compute> values;
    visit_element_type(convolution.in_type, [&](auto element) {
        values.resize(image.size() / sizeof(element));
        for (std::size_t i = 0; i < values.size(); ++i) {
            std::memcpy(&element, image.data() + i * sizeof(element), sizeof(element));
            values[i] = static_cast<Compute>(element);
        }
    });
    values = reference_sums(convolution, std::move(values));
    std::vector<std::byte> bytes;
    visit_element_type(convolution.out_type, [&](auto zero) {
        bytes.resize(values.size() * sizeof(zero));
        for (std::size_t i = 0; i < values.size(); ++i) {
            const auto element = reference_output<decltype(zero)>(values[i]);
            std::memcpy(bytes.data() + i * sizeof(element), &element, sizeof(element));
        }
    });
    return bytes;
}

/// What convolution makes of whole frames of one channel, with the types that it names.
inline std::vector<std::byte> convolve_reference(const Convolution& convolution,
                                                 const std::vector<std::byte>& image) {
    switch (convolution.in_type) {
    case ElementType::int8:
    case ElementType::uint8:
    case ElementType::int16:
    case ElementType::uint16:
    case ElementType::float32: return reference_bytes<float>(convolution, image);
    default: return reference_bytes<double>(convolution, image);
    }
}

} // namespace runner
