// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/denoise/denoise_bm4d.hpp"
#include "kernels/match/match_call.hpp"

#include <cstdint>

namespace runner {

/// The orthonormal DCT-II of one extent: row k is a coefficient, column j a voxel.
struct DctTable {
    float row[Match::max_patch][Match::max_patch];
};

/// What a patch's lines are transformed to.
enum class Basis { cosine, wavelet };

/// Whether lines of so many voxels have wavelets of their own; other lines are transformed to
/// cosines in both bases, which two voxels share with Haar.
constexpr bool has_wavelets(int extent) { return extent == 4 || extent == 8; }

/// The value of an orthonormal Haar wavelet of so many voxels.
constexpr float wavelet_value(int voxels) {
    return voxels == 2 ? 0.70710678F : (voxels == 4 ? 0.5F : 0.35355339F);
}

/// x = its Haar wavelets: the mean, then differences of halves, of most voxels first.
template <int n> constexpr void split_line(float (&x)[n]) {
    float sum[n] = {};
    for (int i = 0; i < n; ++i) {
        sum[i] = x[i];
    }
    for (int length = n / 2; length > 0; length /= 2) {
        for (int i = 0; i < length; ++i) {
            const float a = sum[2 * i];
            const float b = sum[2 * i + 1];
            sum[i] = a + b;
            x[length + i] = (a - b) * wavelet_value(n / length);
        }
    }
    x[0] = sum[0] * wavelet_value(n);
}

/// The inverse.
template <int n> constexpr void join_line(float (&x)[n]) {
    float sum[n] = {x[0] * wavelet_value(n)};
    for (int length = 1; length < n; length *= 2) {
        for (int i = length - 1; i >= 0; --i) {
            const float mean = sum[i];
            const float half = x[length + i] * wavelet_value(n / length);
            sum[2 * i] = mean + half;
            sum[2 * i + 1] = mean - half;
        }
    }
    for (int i = 0; i < n; ++i) {
        x[i] = sum[i];
    }
}

/// x = its DCT-II. Even rows are sums of x from both ends, odd ones of differences, each from the
/// first voxel on: the order is the same on every backend.
template <int n> constexpr void transform_cosines(const DctTable& table, float (&x)[n]) {
    constexpr int half = n / 2;
    float sum[(n + 1) / 2] = {};
    float difference[half + 1] = {};
    for (int j = 0; j < half; ++j) {
        sum[j] = x[j] + x[n - 1 - j];
        difference[j] = x[j] - x[n - 1 - j];
    }
    if (n % 2 == 1) {
        sum[half] = x[half];
    }
    for (int k = 0; k < n; k += 2) {
        float total = table.row[k][0] * sum[0];
        for (int j = 1; j < (n + 1) / 2; ++j) {
            total += table.row[k][j] * sum[j];
        }
        x[k] = total;
    }
    for (int k = 1; k < n; k += 2) {
        float total = table.row[k][0] * difference[0];
        for (int j = 1; j < half; ++j) {
            total += table.row[k][j] * difference[j];
        }
        x[k] = total;
    }
}

/// The inverse.
template <int n> constexpr void restore_cosines(const DctTable& table, float (&x)[n]) {
    constexpr int half = n / 2;
    float even[(n + 1) / 2] = {};
    float odd[half + 1] = {};
    for (int j = 0; j < (n + 1) / 2; ++j) {
        even[j] = table.row[0][j] * x[0];
        for (int k = 2; k < n; k += 2) {
            even[j] += table.row[k][j] * x[k];
        }
    }
    for (int j = 0; j < half; ++j) {
        odd[j] = table.row[1][j] * x[1];
        for (int k = 3; k < n; k += 2) {
            odd[j] += table.row[k][j] * x[k];
        }
    }
    for (int j = 0; j < half; ++j) {
        x[j] = even[j] + odd[j];
        x[n - 1 - j] = even[j] - odd[j];
    }
    if (n % 2 == 1) {
        x[half] = even[half];
    }
}

/// x = its coefficients.
template <Basis basis, int n> constexpr void transform_line(const DctTable& table, float (&x)[n]) {
    if constexpr (basis == Basis::wavelet && has_wavelets(n)) {
        split_line<n>(x);
    } else {
        transform_cosines<n>(table, x);
    }
}

/// The inverse.
template <Basis basis, int n> constexpr void restore_line(const DctTable& table, float (&x)[n]) {
    if constexpr (basis == Basis::wavelet && has_wavelets(n)) {
        join_line<n>(x);
    } else {
        restore_cosines<n>(table, x);
    }
}

/// How often a voxel's estimate counts, by its place along one axis of its patch.
constexpr int bm4d_window(int place, int extent) { return place > 0 && place < extent - 1 ? 2 : 1; }

/// Logarithm of the number of patches in coefficient `g` along a group of 2^levels: the mean of all
/// is first, then come the differences, of most patches first.
constexpr int haar_exponent(int g, int levels) {
    int exponent = levels;
    for (int i = g; i > 1; i /= 2) {
        --exponent;
    }
    return exponent;
}

/// How much of a coefficient Wiener's filter leaves; `first` is the first pass' and
/// `inverse_sigma` 1 / sigma as the coefficient is scaled. Where sigma is 0 that is infinite, and
/// the product may be no number.
constexpr float wiener_factor(float first, float inverse_sigma) {
    constexpr float most = 1e9F; // more makes 1 too, and its square is finite
    const float ratio = (first < 0 ? -first : first) * inverse_sigma;
    const float bounded = ratio < most ? ratio : most;
    const float square = bounded * bounded;
    return square / (square + 1);
}

/// The weight of a group after Wiener's filter.
constexpr float wiener_weight(float squares) {
    return squares > 1 / Bm4d::most_weight ? 1 / squares : Bm4d::most_weight;
}

/// Adds values[i + n / 2] to values[i], `stride` apart, for the next power of two n and half of it
/// and so on: the sum, at values[0], in one order on every backend.
constexpr float sum_by_halves(float* values, std::int64_t count, std::int64_t stride) {
    std::int64_t apart = 1;
    while (2 * apart < count) {
        apart *= 2;
    }
    for (; apart > 0; apart /= 2) {
        for (std::int64_t i = 0; i < apart && i + apart < count; ++i) {
            values[i * stride] += values[(i + apart) * stride];
        }
    }
    return values[0];
}

/// Whether the first `group` matches of a row lack the reference: only other patches at distance 0
/// come before it.
constexpr bool lacks_reference(const std::uint64_t* index, const float* distance, int group,
                               std::int64_t reference) {
    if (distance[group - 1] > 0) {
        return false;
    }
    for (int g = 0; g < group; ++g) {
        if (index[g] == static_cast<std::uint64_t>(reference)) {
            return false;
        }
    }
    return true;
}

/// The numbers of one call, for both backends.
struct Bm4dCall {
    static constexpr int exponents = 7; ///< of haar_exponent(): groups of up to 64

    MatchCall match;
    std::int64_t held_first;
    std::int64_t held_layers;
    std::int64_t patch_voxels;
    bool has_wavelets;              ///< along some axis of a patch
    float threshold[exponents];     ///< by a coefficient's exponent
    float inverse_sigma[exponents]; ///< the same
    float alike_noisy;              ///< the most distance of patches that are alike, first pass
    float alike_first;              ///< the same, second pass
    double value_unit;              ///< 2^value_bits
    double weight_unit;             ///< 2^weight_bits
    double weight_in_values;        ///< weight_unit / value_unit
    DctTable table[3];              ///< along z, y and x

    /// The operations of a group; what bm4d_operations() is made of.
    double operations() const {
        return 150.0 * static_cast<double>(patch_voxels) * bm4d_group(match.count);
    }

    /// The corner of a row's reference.
    constexpr std::int64_t reference(std::int64_t row) const {
        return match.index(match.reference(0, row / match.grid[2] / match.grid[1]),
                           match.reference(1, row / match.grid[2] % match.grid[1]),
                           match.reference(2, row % match.grid[2]));
    }

    /// The quotient of sums of values and of weights, which is more than 0.
    constexpr float mean(std::int64_t values, std::int64_t weights) const {
        return static_cast<float>(static_cast<double>(values) / static_cast<double>(weights) *
                                  weight_in_values);
    }

    /// Layers of the weights begin here.
    constexpr std::int64_t weights_first() const { return held_first - (match.patch[0] - 1); }
    /// Whether a patch with its corner in this layer of the volume reaches into what is held.
    constexpr bool reaches(std::int64_t z) const {
        return z >= weights_first() && z < held_first + held_layers;
    }
};

Bm4dCall make_bm4d_call(const Match& match, const MatchLayers& layers, const Bm4d& bm4d,
                        const HeldLayers& held);

} // namespace runner
