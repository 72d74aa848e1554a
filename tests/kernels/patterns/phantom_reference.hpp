// SPDX-License-Identifier: BSD-3-Clause
// The phantom's table, photons and scans as they are published, and by plain formulas.
#pragma once

#include "kernels/patterns/phantom.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace runner {

using Shape = std::vector<std::int64_t>;

/// What `fill` writes for so many elements, and nothing behind them.
template <class T, class Fill> std::vector<T> filled(std::int64_t count, const Fill& fill) {
    CpuQueue queue(2);
    constexpr T untouched = 77;
    std::vector<T> values(static_cast<std::size_t>(count) + 1, untouched);
    fill(queue, element_type_of<T>(), reinterpret_cast<std::byte*>(values.data()));
    EXPECT_EQ(values.back(), untouched);
    values.pop_back();
    return values;
}

inline constexpr double half_turn = 3.14159265358979323846;

/// A line of the table of the head: M. Schabel's phantom3d (MATLAB Central 9416), "modified
/// Shepp-Logan", without the tilt of 10 degrees.
struct Published {
    double value, half_x, half_y, half_z, x, y, z, degrees;
};

inline constexpr std::array<Published, 10> published = {{{1, .69, .92, .81, 0, 0, 0, 0},
                                                         {-.8, .6624, .874, .78, 0, -.0184, 0, 0},
                                                         {-.2, .11, .31, .22, .22, 0, 0, -18},
                                                         {-.2, .16, .41, .28, -.22, 0, 0, 18},
                                                         {.1, .21, .25, .41, 0, .35, -.15, 0},
                                                         {.1, .046, .046, .05, 0, .1, .25, 0},
                                                         {.1, .046, .046, .05, 0, -.1, .25, 0},
                                                         {.1, .046, .023, .05, -.08, -.605, 0, 0},
                                                         {.1, .023, .023, .02, 0, -.606, 0, 0},
                                                         {.1, .023, .046, .02, .06, -.605, 0, 0}}};

/// The sum of the ellipsoids around a point, by turning it back.
inline double published_value(double z, double y, double x) {
    double sum = 0;
    for (const Published& e : published) {
        const std::complex<double> flat =
            std::complex(x - e.x, y - e.y) * std::polar(1.0, -e.degrees * half_turn / 180);
        const double distance =
            std::hypot(flat.real() / e.half_x, flat.imag() / e.half_y, (z - e.z) / e.half_z);
        sum += distance <= 1 ? e.value : 0;
    }
    return sum;
}

/// Kak and Slaney's projection of an ellipse (1988, section 3.1), of each ellipsoid's in the plane.
inline double published_shadow(double angle, double z, double s) {
    double sum = 0;
    for (const Published& e : published) {
        const double w = (z - e.z) / e.half_z;
        if (std::abs(w) >= 1) {
            continue;
        }
        const double shrunk = std::sqrt(1 - w * w);
        const double a = e.half_x * shrunk;
        const double b = e.half_y * shrunk;
        const double turned = angle - e.degrees * half_turn / 180;
        const double squared =
            std::pow(a * std::cos(turned), 2) + std::pow(b * std::sin(turned), 2);
        const double t = s - (e.x * std::cos(angle) + e.y * std::sin(angle));
        if (t * t < squared) {
            sum += 2 * e.value * a * b / squared * std::sqrt(squared - t * t);
        }
    }
    return sum;
}

/// Vigna's splitmix64, begun where an element's stream begins.
class Stream {
  public:
    Stream(std::uint64_t seed, std::int64_t element)
        : state_(mixed(mixed(seed) + static_cast<std::uint64_t>(element) + 1)) {}

    /// In (0, 1): the middle of one of 2^52 equal parts.
    double next() {
        state_ += 0x9e3779b97f4a7c15U;
        return std::ldexp(static_cast<double>(mixed(state_) >> 12) + 0.5, -52);
    }

  private:
    static std::uint64_t mixed(std::uint64_t z) {
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31);
    }

    std::uint64_t state_;
};

/// Hörmann's PTRS (Insurance: Mathematics and Economics 12, 1993), step by step.
inline double ptrs(double mean, Stream& stream) {
    const double b = 0.931 + 2.53 * std::sqrt(mean);
    const double a = -0.059 + 0.02483 * b;
    const double v_r = 0.9277 - 3.6224 / (b - 2);
    const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
    while (true) {
        const double u = stream.next() - 0.5;
        const double v = stream.next();
        const double us = 0.5 - std::abs(u);
        const double k = std::floor((2 * a / us + b) * u + mean + 0.43);
        if (us >= 0.07 && v <= v_r) {
            return k;
        }
        if (k < 0 || (us < 0.013 && v > us)) {
            continue;
        }
        const double left = std::log(v) + std::log(inverse_alpha) - std::log(a / (us * us) + b);
        if (left <= -mean + k * std::log(mean) - std::lgamma(k + 1)) {
            return k;
        }
    }
}

/// Knuth's way where the mean is below 10, as many factors as stay above exp(-mean), else PTRS.
inline double poisson(double mean, Stream& stream) {
    if (mean >= 10) {
        return ptrs(mean, stream);
    }
    double product = stream.next();
    int count = 0;
    while (product > std::exp(-mean)) {
        product *= stream.next();
        ++count;
    }
    return count;
}

/// An element of a scan of 20 · each frames of rows × columns.
struct ScanReference {
    std::int64_t each, rows, columns;
    std::uint64_t seed;
    double counts;
    double strength = 0; ///< of the fringes; 0: no coherent beam, and no stripes

    double shadow(std::int64_t projection, double y, double x) const {
        const double angle =
            half_turn * static_cast<double>(projection) / static_cast<double>(18 * each);
        return published_shadow(angle, -y, x);
    }

    double through(std::int64_t projection, double y, double x) const {
        const auto light = [&](double down, double right) {
            return std::exp(-shadow(projection, y + 2 * down / static_cast<double>(rows),
                                    x + 2 * right / static_cast<double>(columns)));
        };
        const double here = light(0, 0);
        const double around = light(-1, 0) + light(1, 0) + light(0, -1) + light(0, 1);
        return strength == 0 ? here : std::max(0.0, here - strength * (around - 4 * here));
    }

    double response(std::int64_t column) const {
        Stream stream(seed, -1 - column);
        const bool is_stripe = strength > 0 && stream.next() < 0.04;
        return is_stripe ? 0.9 + 0.2 * stream.next() : 1;
    }

    double value(std::int64_t frame, std::int64_t row, std::int64_t column) const {
        const auto middle = [](std::int64_t i, std::int64_t extent) {
            return static_cast<double>(2 * i + 1 - extent) / static_cast<double>(extent);
        };
        const double y = middle(row, rows);
        const double x = middle(column, columns);
        Stream pixel(~seed, row * columns + column);
        if (pixel.next() < 0.001) {
            return 0;
        }
        double mean = 0.02 + 0.02 * pixel.next();
        const double beam = (0.9 + 0.2 * pixel.next()) * (1 - 0.4 * (x * x + y * y));
        if (frame >= 2 * each) {
            mean += beam * response(column) * through(frame - 2 * each, y, x);
        } else if (frame >= each) {
            mean += beam;
        }
        Stream stream(seed, (frame * rows + row) * columns + column);
        const bool struck = stream.next() < 0.0002 && frame >= 2 * each;
        return poisson(counts * mean, stream) + (struck ? std::floor(4 * counts) : 0);
    }
};

} // namespace runner
