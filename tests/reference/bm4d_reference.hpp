// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/denoise/denoise_bm4d.hpp"
#include "tests/reference/match_reference.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

namespace runner::bm4d_reference {

using Matrix = std::vector<std::vector<double>>;

/// Rows are the orthonormal DCT-II of n values.
inline Matrix cosines(int n) {
    Matrix matrix(static_cast<std::size_t>(n), std::vector<double>(static_cast<std::size_t>(n)));
    for (std::size_t k = 0; k < matrix.size(); ++k) {
        for (std::size_t j = 0; j < matrix.size(); ++j) {
            const double angle =
                std::numbers::pi / n * (static_cast<double>(j) + 0.5) * static_cast<double>(k);
            matrix[k][j] = std::sqrt((k == 0 ? 1.0 : 2.0) / n) * std::cos(angle);
        }
    }
    return matrix;
}

/// Rows are the orthonormal Haar functions of n values, n a power of two, in any order but the
/// mean first.
inline Matrix haar(int n) {
    const auto size = static_cast<std::size_t>(n);
    Matrix matrix = {std::vector<double>(size, 1 / std::sqrt(n))};
    for (std::size_t length = size; length > 1; length /= 2) {
        for (std::size_t first = 0; first < size; first += length) {
            std::vector<double> row(size);
            for (std::size_t i = 0; i < length; ++i) {
                row[first + i] = (i < length / 2 ? 1 : -1) / std::sqrt(static_cast<double>(length));
            }
            matrix.push_back(row);
        }
    }
    return matrix;
}

enum class Way { there, back };

/// Values of extents (group, z, y, x) times the matrix, or its transpose, along one axis.
inline std::vector<double> along(const std::vector<double>& values, std::array<std::size_t, 4> n,
                                 std::size_t axis, const Matrix& matrix, Way way) {
    std::vector<double> result(values.size());
    std::size_t stride = 1;
    for (std::size_t i = axis + 1; i < 4; ++i) {
        stride *= n.at(i);
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t k = i / stride % n.at(axis);
        for (std::size_t j = 0; j < n.at(axis); ++j) {
            result[i] += (way == Way::there ? matrix[k][j] : matrix[j][k]) *
                         values[i + j * stride - k * stride];
        }
    }
    return result;
}

struct Result {
    std::vector<double> voxels;
    /// Whether a group that covers the voxel has a coefficient so near the threshold that float32
    /// may have it on the other side, or bases so nearly as good that it may choose the other.
    std::vector<bool> doubtful;
};

/// A filtered group.
struct Group {
    std::vector<double> values;
    double variance = 0; ///< of the noise left, over sigma²
    bool doubtful = false;
};

/// A group's values filtered between these matrices, along the group, z, y and x. `first` is empty
/// in the first pass.
inline Group filter(const std::vector<double>& noisy, const std::vector<double>& first,
                    std::array<std::size_t, 4> n, const std::array<Matrix, 4>& matrices,
                    double sigma, double doubt) {
    const auto changed = [&](std::vector<double> values, Way way) {
        for (std::size_t axis = 0; axis < 4; ++axis) {
            values = along(values, n, axis, matrices.at(axis), way);
        }
        return values;
    };
    Group group;
    std::vector<double> values = changed(noisy, Way::there);
    if (first.empty()) {
        for (std::size_t i = 0; i < values.size(); ++i) {
            const bool left = i == 0 || std::abs(values[i]) >= 2.7 * sigma;
            group.doubtful =
                group.doubtful || (i > 0 && std::abs(std::abs(values[i]) - 2.7 * sigma) < doubt);
            values[i] = left ? values[i] : 0;
            group.variance += left ? 1 : 0;
        }
    } else {
        const std::vector<double> expected = changed(first, Way::there);
        for (std::size_t i = 0; i < values.size(); ++i) {
            const double square = expected[i] * expected[i];
            const double factor = sigma > 0 ? square / (square + sigma * sigma) : 1;
            values[i] *= factor;
            group.variance += factor * factor;
        }
    }
    group.values = changed(values, Way::back);
    return group;
}

/// The better of the two bases: cosines, or Haar's functions along axes of 4 or 8 voxels.
inline Group filter(const std::vector<double>& noisy, const std::vector<double>& first,
                    std::array<std::size_t, 4> n, double sigma, double doubt) {
    std::array<Matrix, 4> matrices = {haar(static_cast<int>(n[0]))};
    for (std::size_t axis = 1; axis < 4; ++axis) {
        matrices.at(axis) = cosines(static_cast<int>(n.at(axis)));
    }
    Group cosine = filter(noisy, first, n, matrices, sigma, doubt);
    for (std::size_t axis = 1; axis < 4; ++axis) {
        if (n.at(axis) == 4 || n.at(axis) == 8) {
            matrices.at(axis) = haar(static_cast<int>(n.at(axis)));
        }
    }
    Group wavelet = filter(noisy, first, n, matrices, sigma, doubt);
    const bool alike = std::ranges::equal(cosine.values, wavelet.values, [&](double a, double b) {
        return std::abs(a - b) <= doubt;
    });
    const bool equal =
        !first.empty() && std::abs(cosine.variance - wavelet.variance) < 1e-5 * cosine.variance;
    Group& better = wavelet.variance < cosine.variance ? wavelet : cosine;
    better.doubtful = cosine.doubtful || wavelet.doubtful || (equal && !alike);
    return better;
}

/// How often a voxel of a patch counts.
inline double window(std::size_t voxel, std::array<std::size_t, 4> n) {
    double times = 1;
    for (std::size_t axis = 3; axis > 0; --axis) {
        const std::size_t place = voxel % n.at(axis);
        times *= place == 0 || place + 1 == n.at(axis) ? 1 : 2;
        voxel /= n.at(axis);
    }
    return times;
}

/// One pass over a whole volume in float64, from the lists of match_reference. `first` is empty
/// in the first pass.
inline Result denoise(const Match& match, double sigma, const std::vector<float>& noisy,
                      const std::vector<float>& first, double doubt) {
    const auto lists = match_reference::match(match, first.empty() ? noisy : first);
    std::vector<double> sums(noisy.size());
    std::vector<double> weights(noisy.size());
    std::vector<bool> doubtful(noisy.size());
    const auto voxels = static_cast<std::size_t>(match.patch_voxels());
    std::vector<std::size_t> references;
    for (const std::int64_t z : match_reference::references(match, 0)) {
        for (const std::int64_t y : match_reference::references(match, 1)) {
            for (const std::int64_t x : match_reference::references(match, 2)) {
                references.push_back(match_reference::place(match, {z, y, x}));
            }
        }
    }
    for (std::size_t row = 0; row < lists.count.size(); ++row) {
        std::size_t group = 1;
        while (2 * group <= static_cast<std::size_t>(lists.count[row])) {
            group *= 2;
        }
        const auto begin = lists.index.begin() + static_cast<std::ptrdiff_t>(row) * match.count;
        std::vector<std::uint64_t> corners(begin, begin + static_cast<std::ptrdiff_t>(group));
        if (std::find(corners.begin(), corners.end(), references[row]) == corners.end()) {
            corners.back() = references[row];
        }
        std::vector<std::size_t> places;
        for (const std::uint64_t corner : corners) {
            for (std::int64_t z = 0; z < match.patch[0]; ++z) {
                for (std::int64_t y = 0; y < match.patch[1]; ++y) {
                    for (std::int64_t x = 0; x < match.patch[2]; ++x) {
                        places.push_back(static_cast<std::size_t>(corner) +
                                         match_reference::place(match, {z, y, x}));
                    }
                }
            }
        }
        const std::array<std::size_t, 4> n = {group, static_cast<std::size_t>(match.patch[0]),
                                              static_cast<std::size_t>(match.patch[1]),
                                              static_cast<std::size_t>(match.patch[2])};
        const auto at_places = [&](const std::vector<float>& volume) {
            std::vector<double> values;
            for (const std::size_t place : places) {
                values.push_back(static_cast<double>(volume[place]));
            }
            return values;
        };
        const Group filtered =
            filter(at_places(noisy), first.empty() ? std::vector<double>{} : at_places(first), n,
                   sigma, doubt);
        const double weight = 1 / std::max(filtered.variance, 1.0 / 256);
        const double most = (first.empty() ? 3 : 0.25) * sigma * sigma;
        for (std::size_t i = 0; i < group * voxels; ++i) {
            const std::size_t g = i / voxels;
            const bool alike =
                corners[g] == references[row] ||
                static_cast<double>(
                    lists.distance[row * static_cast<std::size_t>(match.count) + g]) <= most;
            const double share = (alike ? weight : weight / 8) * window(i % voxels, n);
            sums[places[i]] += share * filtered.values[i];
            weights[places[i]] += share;
            doubtful[places[i]] = doubtful[places[i]] || filtered.doubtful;
        }
    }
    for (std::size_t i = 0; i < sums.size(); ++i) {
        sums[i] /= weights[i];
    }
    return {sums, doubtful};
}

} // namespace runner::bm4d_reference
