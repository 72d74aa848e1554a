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
        if (value <= 0) {
            return 0;
        }
        if (value >= static_cast<Compute>(std::numeric_limits<Out>::max())) {
            return std::numeric_limits<Out>::max();
        }
        return static_cast<Out>(std::nearbyint(value));
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

/// The definition of convolution, one output after the other: frames of convolution.frame_rows ×
/// convolution.columns elements. convolution.in_type and out_type are those of In and Out.
template <class In, class Out>
std::vector<Out> convolve_reference(const Convolution& convolution, std::int64_t frames,
                                    const std::vector<In>& image) {
    using Compute = std::conditional_t<std::is_same_v<In, double>, double, float>;
    const std::int64_t rows = convolution.frame_rows;
    const std::int64_t columns = convolution.columns;
    const auto fill = static_cast<Compute>(convolution.fill);
    const auto index = [&](std::int64_t frame, std::int64_t row, std::int64_t column) {
        return static_cast<std::size_t>((frame * rows + row) * columns + column);
    };

    std::vector<Compute> row_pass(image.size());
    std::vector<Out> out(image.size());
    for (std::int64_t frame = 0; frame < frames; ++frame) {
        for (std::int64_t row = 0; row < rows; ++row) {
            for (std::int64_t column = 0; column < columns; ++column) {
                row_pass[index(frame, row, column)] = reference_sum<Compute>(
                    convolution.row_taps, column, [&](std::int64_t extended) {
                        const std::int64_t at = map_index(extended, columns, convolution.boundary);
                        return at < 0 ? fill : static_cast<Compute>(image[index(frame, row, at)]);
                    });
            }
        }
        for (std::int64_t row = 0; row < rows; ++row) {
            for (std::int64_t column = 0; column < columns; ++column) {
                const auto sum = reference_sum<Compute>(
                    convolution.column_taps, row, [&](std::int64_t extended) {
                        const std::int64_t at = map_index(extended, rows, convolution.boundary);
                        return at < 0 ? fill : row_pass[index(frame, at, column)];
                    });
                out[index(frame, row, column)] = reference_output<Out>(sum);
            }
        }
    }
    return out;
}

/// Calls `f` with a zero of each of the four types that convolution takes.
template <class F> decltype(auto) visit_convolution_type(ElementType type, F&& f) {
    switch (type) {
    case ElementType::uint8: return f(std::uint8_t{});
    case ElementType::uint16: return f(std::uint16_t{});
    case ElementType::float32: return f(float{});
    default: return f(double{});
    }
}

/// The same on bytes, with the types that `convolution` names.
inline std::vector<std::byte> convolve_reference(const Convolution& convolution,
                                                 std::int64_t frames,
                                                 const std::vector<std::byte>& image) {
    return visit_convolution_type(convolution.in_type, [&](auto in_zero) {
        return visit_convolution_type(convolution.out_type, [&](auto out_zero) {
            using In = decltype(in_zero);
            using Out = decltype(out_zero);
            std::vector<In> values(image.size() / sizeof(In));
            std::memcpy(values.data(), image.data(), image.size());
            const std::vector<Out> result =
                convolve_reference<In, Out>(convolution, frames, values);
            std::vector<std::byte> bytes(result.size() * sizeof(Out));
            std::memcpy(bytes.data(), result.data(), bytes.size());
            return bytes;
        });
    });
}

} // namespace runner
