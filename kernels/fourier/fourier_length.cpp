// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/fourier/fourier_length.hpp"

#include <cmath>
#include <utility>

namespace runner {
namespace {

constexpr double pi = 3.14159265358979323846;

/// The sine of an angle up to π/4, by its series.
double short_sine(double angle) {
    const double square = angle * angle;
    double term = 1;
    for (int i = 18; i > 0; i -= 2) {
        term = 1 - square / (i * (i + 1)) * term;
    }
    return angle * term;
}

double short_cosine(double angle) {
    const double square = angle * angle;
    double term = 1;
    for (int i = 17; i > 0; i -= 2) {
        term = 1 - square / (i * (i + 1)) * term;
    }
    return term;
}

/// Radices of a length, the long ones first: a pass costs as much whatever its radix.
std::vector<int> radices_of(std::int64_t length) {
    std::vector<int> radices;
    int twos = 0;
    for (; length % 2 == 0; length /= 2) {
        ++twos;
    }
    while (twos >= 3 && twos != 4) { // 4 · 4 rather than 8 · 2
        radices.push_back(8);
        twos -= 3;
    }
    for (const int radix : {7, 5}) {
        for (; length % radix == 0; length /= radix) {
            radices.push_back(radix);
        }
    }
    for (; twos >= 2; twos -= 2) {
        radices.push_back(4);
    }
    for (; length % 3 == 0; length /= 3) {
        radices.push_back(3);
    }
    if (twos == 1) {
        radices.push_back(2);
    }
    return radices;
}

} // namespace

UnitRoot unit_root(std::int64_t k, std::int64_t n) {
    // Eighths of the circle, counted by integers: the angle that is left is up to π/4.
    const std::int64_t eighth = 8 * k / n;
    const bool is_mirrored = eighth % 2 == 1;
    const std::int64_t left = is_mirrored ? (eighth + 1) * n - 8 * k : 8 * k - eighth * n;
    const double angle = pi / 4 * static_cast<double>(left) / static_cast<double>(n);
    double re = short_cosine(angle);
    double im = short_sine(angle);
    if (is_mirrored) {
        std::swap(re, im);
    }
    for (std::int64_t quarter = eighth / 2; quarter > 0; --quarter) {
        re = std::exchange(im, re);
        re = -re;
    }
    return {re, -im};
}

bool is_fourier_length(std::int64_t length) {
    if (length < 1 || length > most_fourier_length) {
        return false;
    }
    for (const int radix : {2, 3, 5, 7}) {
        while (length % radix == 0) {
            length /= radix;
        }
    }
    return length == 1;
}

std::int64_t next_fourier_length(std::int64_t wanted) {
    for (; wanted <= most_fourier_length; ++wanted) {
        if (is_fourier_length(wanted)) {
            return wanted;
        }
    }
    return 0;
}

FourierPasses fourier_passes(std::int64_t length) {
    FourierPasses passes;
    passes.length = static_cast<int>(length);
    std::uint32_t before = 1;
    for (const int radix : radices_of(length)) {
        const auto i = static_cast<std::size_t>(passes.count++);
        passes.radix.at(i) = radix;
        passes.before.at(i) = make_divisor(before);
        before *= static_cast<std::uint32_t>(radix);
    }
    return passes;
}

std::vector<ComplexFloat> fourier_factors(const FourierPasses& passes) {
    std::vector<ComplexFloat> factors;
    for (std::size_t i = 1; i < static_cast<std::size_t>(passes.count); ++i) {
        const std::int64_t before = passes.before.at(i).value;
        const std::int64_t radix = passes.radix.at(i);
        for (std::int64_t r = 1; r < radix; ++r) {
            for (std::int64_t k = 0; k < before; ++k) {
                const UnitRoot root = unit_root(r * k, radix * before);
                factors.push_back({static_cast<float>(root.re), static_cast<float>(root.im)});
            }
        }
    }
    return factors;
}

double fourier_operations(std::int64_t length) {
    return 5 * static_cast<double>(length) * std::log2(static_cast<double>(length) + 1);
}

} // namespace runner
