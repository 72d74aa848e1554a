// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/denoise/denoise_bm4d_group.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace runner {
namespace {

enum class Way { transform, restore };

/// Lines of n values, `inner` apart and side by side.
template <Basis basis, Way way, int n>
void change_lines(const DctTable& table, std::int64_t outer, std::int64_t inner,
                  const float* __restrict in, float* __restrict out) {
    for (std::int64_t o = 0; o < outer; ++o) {
        for (std::int64_t i = 0; i < inner; ++i) {
            float line[n];
            for (int j = 0; j < n; ++j) {
                line[j] = in[(o * n + j) * inner + i];
            }
            if constexpr (way == Way::transform) {
                transform_line<basis, n>(table, line);
            } else {
                restore_line<basis, n>(table, line);
            }
            for (int j = 0; j < n; ++j) {
                out[(o * n + j) * inner + i] = line[j];
            }
        }
    }
}

template <Basis basis, Way way>
void change_lines(const DctTable& table, int n, std::int64_t outer, std::int64_t inner,
                  const float* in, float* out) {
    switch (n) {
    case 1: std::copy_n(in, outer * inner, out); break;
    case 2: change_lines<basis, way, 2>(table, outer, inner, in, out); break;
    case 3: change_lines<basis, way, 3>(table, outer, inner, in, out); break;
    case 4: change_lines<basis, way, 4>(table, outer, inner, in, out); break;
    case 5: change_lines<basis, way, 5>(table, outer, inner, in, out); break;
    case 6: change_lines<basis, way, 6>(table, outer, inner, in, out); break;
    case 7: change_lines<basis, way, 7>(table, outer, inner, in, out); break;
    default: change_lines<basis, way, 8>(table, outer, inner, in, out); break;
    }
}

void split(std::int64_t count, const float* __restrict a, const float* __restrict b,
           float* __restrict mean, float* __restrict half) {
    for (std::int64_t i = 0; i < count; ++i) {
        mean[i] = (a[i] + b[i]) * 0.5F;
        half[i] = (a[i] - b[i]) * 0.5F;
    }
}

void join(std::int64_t count, const float* __restrict mean, const float* __restrict half,
          float* __restrict a, float* __restrict b) {
    for (std::int64_t i = 0; i < count; ++i) {
        a[i] = mean[i] + half[i];
        b[i] = mean[i] - half[i];
    }
}

void transpose(std::int64_t rows, std::int64_t columns, const float* __restrict in,
               float* __restrict out) {
    for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < columns; ++j) {
            out[j * rows + i] = in[i * columns + j];
        }
    }
}

} // namespace

GroupFilter::GroupFilter(const Bm4dCall& call, const Bm4dVolumes& volumes, const MatchLists& lists,
                         const Bm4dSums& sums)
    : call_(call), volumes_(volumes), lists_(lists), sums_(sums) {
    const auto values = static_cast<std::size_t>(call.patch_voxels * bm4d_group(call.match.count));
    for (Values* each : {&noisy_, &first_, &other_, &patches_, &spare_, &haar_}) {
        each->resize(values);
    }
}

/// The volume's patches, transformed along the group: haar_.
void GroupFilter::gather(const float* volume) {
    const auto& [pz, py, px] = call_.match.patch;
    const std::int64_t line = call_.match.volume[2];
    const std::int64_t layer = call_.match.volume[1] * line;
    const std::int64_t before = call_.match.in_first * layer;
    float* to = patches_.data();
    for (int g = 0; g < group_; ++g) {
        const float* from = volume + corners_[g] - before;
        for (std::int64_t z = 0; z < pz; ++z) {
            for (std::int64_t y = 0; y < py; ++y, to += px) {
                const float* row = from + z * layer + y * line;
                if (px == 4) { // one move, not a call
                    std::copy_n(row, 4, to);
                } else {
                    std::copy_n(row, px, to);
                }
            }
        }
    }
    const std::int64_t voxels = call_.patch_voxels;
    float* means = patches_.data();
    float* next = spare_.data();
    for (int length = group_ / 2; length > 0; length /= 2, std::swap(means, next)) {
        for (std::int64_t i = 0; i < length; ++i) {
            split(voxels, means + 2 * i * voxels, means + (2 * i + 1) * voxels, next + i * voxels,
                  haar_.data() + (length + i) * voxels);
        }
    }
    std::copy_n(means, voxels, haar_.data());
}

/// From haar_, which stays.
template <Basis basis> void GroupFilter::transform(Values& spectrum) {
    const auto& [pz, py, px] = call_.match.patch;
    transpose(group_, call_.patch_voxels, haar_.data(), patches_.data());
    change_lines<basis, Way::transform>(call_.table[0], pz, 1, std::int64_t{py} * px * group_,
                                        patches_.data(), spare_.data());
    change_lines<basis, Way::transform>(call_.table[1], py, pz, std::int64_t{px} * group_,
                                        spare_.data(), patches_.data());
    change_lines<basis, Way::transform>(call_.table[2], px, std::int64_t{pz} * py, group_,
                                        patches_.data(), spectrum.data());
}

/// From the spectrum to patches_.
template <Basis basis> void GroupFilter::restore(Values& spectrum) {
    const auto& [pz, py, px] = call_.match.patch;
    change_lines<basis, Way::restore>(call_.table[2], px, std::int64_t{pz} * py, group_,
                                      spectrum.data(), patches_.data());
    change_lines<basis, Way::restore>(call_.table[1], py, pz, std::int64_t{px} * group_,
                                      patches_.data(), spare_.data());
    change_lines<basis, Way::restore>(call_.table[0], pz, 1, std::int64_t{py} * px * group_,
                                      spare_.data(), patches_.data());
    const std::int64_t voxels = call_.patch_voxels;
    transpose(voxels, group_, patches_.data(), haar_.data());
    std::copy_n(haar_.data(), voxels, patches_.data());
    for (int length = 1; length < group_; length *= 2, std::swap(patches_, spare_)) {
        for (std::int64_t i = 0; i < length; ++i) {
            join(voxels, patches_.data() + i * voxels, haar_.data() + (length + i) * voxels,
                 spare_.data() + 2 * i * voxels, spare_.data() + (2 * i + 1) * voxels);
        }
    }
}

/// The spectrum from haar_, changed, in the basis for which `change` gives less, which it returns.
template <class Change> float GroupFilter::change_sparser(Values& spectrum, const Change& change) {
    basis_ = Basis::cosine;
    transform<Basis::cosine>(spectrum);
    const float cosines = change(spectrum);
    if (!call_.has_wavelets) {
        return cosines;
    }
    transform<Basis::wavelet>(other_);
    const float wavelets = change(other_);
    if (wavelets >= cosines) {
        return cosines;
    }
    basis_ = Basis::wavelet;
    std::swap(spectrum, other_);
    return wavelets;
}

/// The hard threshold; gives how many are left.
float GroupFilter::keep_large(Values& spectrum) const {
    float threshold[Match::max_count];
    for (int g = 0; g < group_; ++g) {
        threshold[g] = call_.threshold[haar_exponent(g, levels_)];
    }
    const float mean = spectrum[0];
    int left = 0;
    for (std::int64_t v = 0; v < call_.patch_voxels; ++v) {
        float* values = spectrum.data() + v * group_;
        for (int g = 0; g < group_; ++g) {
            const bool stays = std::abs(values[g]) >= threshold[g];
            values[g] = stays ? values[g] : 0;
            left += stays ? 1 : 0;
        }
    }
    if (std::abs(mean) < threshold[0]) {
        spectrum[0] = mean;
        ++left;
    }
    return static_cast<float>(left);
}

/// The spectrum of the first pass' result becomes the factors of Wiener's filter; gives the sum of
/// their squares. They are summed over a patch's layer, these over layers, these over the group.
float GroupFilter::find_factors(Values& spectrum) const {
    float inverse_sigma[Match::max_count];
    for (int g = 0; g < group_; ++g) {
        inverse_sigma[g] = call_.inverse_sigma[haar_exponent(g, levels_)];
    }
    const int layers = call_.match.patch[0];
    const std::int64_t layer = call_.patch_voxels / layers;
    float sums[Match::max_patch * Match::max_count] = {};
    for (std::int64_t z = 0; z < layers; ++z) {
        float* sum = sums + z * group_;
        for (std::int64_t v = z * layer; v < (z + 1) * layer; ++v) {
            float* values = spectrum.data() + v * group_;
            for (int g = 0; g < group_; ++g) {
                const float factor = wiener_factor(values[g], inverse_sigma[g]);
                values[g] = factor;
                sum[g] += factor * factor;
            }
        }
    }
    for (int g = 0; g < group_; ++g) {
        sum_by_halves(sums + g, layers, group_);
    }
    return sum_by_halves(sums, group_, 1);
}

void GroupFilter::put(float weight) {
    const auto& [pz, py, px] = call_.match.patch;
    const std::int64_t line = call_.match.volume[2];
    const std::int64_t layer = call_.match.volume[1] * line;
    const float alike = volumes_.first != nullptr ? call_.alike_first : call_.alike_noisy;
    const float* from = patches_.data();
    for (int g = 0; g < group_; ++g, from += call_.patch_voxels) {
        const std::int64_t corner = corners_[g] / layer;
        if (!call_.reaches(corner)) {
            continue;
        }
        const std::int64_t at = corners_[g];
        // Exact: the factors of the weight are powers of two.
        const double exact = weight * (distances_[g] <= alike ? 1 : Bm4d::unlike_part);
        sums_.weights[at - call_.weights_first() * layer] += std::llrint(exact * call_.weight_unit);
        const double unit = exact * call_.value_unit;
        for (int z = 0; z < pz; ++z) {
            const std::int64_t held = corner + z - call_.held_first;
            if (held < 0 || held >= call_.held_layers) {
                continue;
            }
            for (int y = 0; y < py; ++y) {
                std::int64_t* to = sums_.values + at + (z - call_.held_first) * layer + y * line;
                const float* values = from + (std::int64_t{z} * py + y) * px;
                const double scale = unit * bm4d_window(z, pz) * bm4d_window(y, py);
                for (int x = 0; x < px; ++x) {
                    to[x] +=
                        std::llrint(static_cast<double>(values[x]) * scale * bm4d_window(x, px));
                }
            }
        }
    }
}

void GroupFilter::add(std::int64_t row) {
    group_ = bm4d_group(lists_.count[row]);
    levels_ = std::countr_zero(static_cast<unsigned>(group_));
    const std::uint64_t* index = lists_.index + row * call_.match.count;
    const float* distance = lists_.distance + row * call_.match.count;
    std::copy_n(index, group_, corners_);
    const std::int64_t reference = call_.reference(row);
    if (lacks_reference(index, distance, group_, reference)) {
        corners_[group_ - 1] = reference; // at distance 0, like what it takes the place of
    }
    distances_ = distance;
    float weight = 0;
    if (volumes_.first != nullptr) {
        gather(volumes_.first);
        const float squares =
            change_sparser(first_, [&](Values& spectrum) { return find_factors(spectrum); });
        weight = wiener_weight(squares);
        gather(volumes_.noisy);
        basis_ == Basis::cosine ? transform<Basis::cosine>(noisy_)
                                : transform<Basis::wavelet>(noisy_);
        for (std::int64_t i = 0; i < call_.patch_voxels * group_; ++i) {
            noisy_.data()[i] *= first_.data()[i];
        }
    } else {
        gather(volumes_.noisy);
        weight = 1 / change_sparser(noisy_, [&](Values& spectrum) { return keep_large(spectrum); });
    }
    basis_ == Basis::cosine ? restore<Basis::cosine>(noisy_) : restore<Basis::wavelet>(noisy_);
    put(weight);
}

} // namespace runner
