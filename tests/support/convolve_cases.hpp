// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/convolve/convolve.hpp"
#include "tests/reference/convolve_reference.hpp"
#include "tests/support/element_bytes.hpp"
#include "tests/support/queues.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace runner {

/// Those with loops and kernels of their own; the others are converted to them and from them.
inline constexpr std::array convolution_types = {ElementType::uint8, ElementType::uint16,
                                                 ElementType::float32, ElementType::float64};
inline constexpr std::array all_boundaries = {Boundary::constant, Boundary::nearest,
                                              Boundary::reflect, Boundary::mirror, Boundary::wrap};

inline RowBlock whole_image(const Convolution& convolution, std::int64_t frames) {
    const std::int64_t rows = convolution.layers * convolution.frame_rows;
    return {frames, 0, rows, 0, rows};
}

/// The block's output rows, computed on `queue` from `in`. The output is poisoned before, and
/// nothing may be written past its end.
template <class Q>
std::vector<std::byte> convolve_on(Q& queue, const Convolution& convolution, const RowBlock& block,
                                   const std::vector<std::byte>& in) {
    constexpr std::size_t guard = 256;
    constexpr std::byte poison{0xA5};
    const auto size = static_cast<std::size_t>(block.frames * block.out_rows * convolution.columns *
                                               size_of(convolution.out_type));
    const Backend backend = std::is_same_v<Q, CpuQueue> ? Backend::cpu : Backend::cuda;
    const Buffer scratch =
        allocate_device(queue, convolve_scratch_bytes(backend, convolution, block));
    const DeviceBytes<Q> from(queue, in);
    const DeviceBytes<Q> to(queue, std::vector<std::byte>(size + guard, poison));
    convolve(queue, convolution, block, from.data(), to.data(), scratch.data());
    std::vector<std::byte> out = to.fetch();
    EXPECT_TRUE(std::all_of(out.begin() + static_cast<std::ptrdiff_t>(size), out.end(),
                            [&](std::byte b) { return b == poison; }))
        << "written past the end of the output";
    EXPECT_EQ(from.fetch(), in) << "the input was changed";
    out.resize(size);
    return out;
}

/// Where two arrays of one type first differ, or "" when they do not; NaNs are alike.
inline std::string first_difference(ElementType type, const std::vector<std::byte>& expected,
                                    const std::vector<std::byte>& actual) {
    if (expected.size() != actual.size()) {
        return "sizes " + std::to_string(expected.size()) + " and " + std::to_string(actual.size());
    }
    return visit_element_type(type, [&](auto zero) -> std::string {
        using T = decltype(zero);
        const std::vector<T> a = values_of<T>(expected);
        const std::vector<T> b = values_of<T>(actual);
        for (std::size_t i = 0; i < a.size(); ++i) {
            const auto at = static_cast<std::ptrdiff_t>(i * sizeof(T));
            const auto end = at + static_cast<std::ptrdiff_t>(sizeof(T));
            const bool both_nan =
                std::isnan(static_cast<double>(a[i])) && std::isnan(static_cast<double>(b[i]));
            if (!both_nan &&
                !std::equal(expected.begin() + at, expected.begin() + end, actual.begin() + at)) {
                return "element " + std::to_string(i) + ": expected " + std::to_string(a[i]) +
                       ", got " + std::to_string(b[i]);
            }
        }
        return "";
    });
}

inline std::string describe(const Convolution& c, const RowBlock& block) {
    return std::string(name_of(c.in_type)) + " to " + std::string(name_of(c.out_type)) + ", " +
           std::to_string(block.frames) + " × " + std::to_string(c.layers) + " × " +
           std::to_string(c.frame_rows) + " × " + std::to_string(c.columns) + ", " +
           std::to_string(c.depth_taps.size()) + " depth taps, radii " +
           std::to_string(c.column_radius()) + " down, " + std::to_string(c.row_radius()) +
           " along, boundary " + std::to_string(static_cast<int>(c.boundary)) + ", rows in " +
           std::to_string(block.in_first) + " + " + std::to_string(block.in_rows) + ", out " +
           std::to_string(block.out_first) + " + " + std::to_string(block.out_rows);
}

/// Random images and taps, the same on every run.
class ConvolveCases {
  public:
    explicit ConvolveCases(std::uint32_t seed) : random_(seed) {}

    std::int64_t number(std::int64_t least, std::int64_t most) {
        return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
    }

    /// Signed taps whose absolute sum is near 1, so that results fill the type's range.
    std::vector<double> taps(std::int64_t radius) {
        std::uniform_real_distribution<double> any(-0.4, 1.0);
        std::vector<double> values(static_cast<std::size_t>(2 * radius + 1));
        double sum = 0;
        for (double& value : values) {
            value = any(random_);
            sum += std::abs(value);
        }
        for (double& value : values) {
            value *= 1.6 / sum;
        }
        return values;
    }

    /// Integers over their whole range; floats over about the range of uint16, both signs.
    std::vector<std::byte> image(ElementType type, std::int64_t count) {
        return visit_element_type(type, [&](auto zero) {
            using T = decltype(zero);
            std::vector<T> values(static_cast<std::size_t>(count));
            for (T& value : values) {
                if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {
                    value = static_cast<T>(number(std::numeric_limits<std::int64_t>::min(),
                                                  std::numeric_limits<std::int64_t>::max()));
                } else if constexpr (std::is_integral_v<T>) {
                    value = static_cast<T>(
                        number(std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
                } else {
                    value = std::uniform_real_distribution<T>(T{-40000}, T{90000})(random_);
                }
            }
            return bytes_of(values);
        });
    }

    Convolution convolution(ElementType in, ElementType out, std::int64_t rows,
                            std::int64_t columns, std::int64_t column_radius,
                            std::int64_t row_radius, Boundary boundary) {
        Convolution c;
        c.in_type = in;
        c.out_type = out;
        c.frame_rows = rows;
        c.columns = columns;
        c.row_taps = taps(row_radius);
        c.column_taps = taps(column_radius);
        c.boundary = boundary;
        c.fill = 17.3;
        return c;
    }

    /// A convolution of frames of `layers` images.
    Convolution volume(Convolution c, std::int64_t layers, std::int64_t depth_radius) {
        c.layers = layers;
        c.depth_taps = taps(depth_radius);
        return c;
    }

  private:
    std::mt19937 random_;
};

} // namespace runner
