// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/denoise/denoise_nlm.hpp"

#include "base/rounding.hpp"
#include "kernels/denoise/denoise_nlm_call.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

namespace runner {
namespace {

/// The estimates of one thread, one reference after the other.
class Estimator {
  public:
    Estimator(const NlmCall& call, const float* volume, const MatchLists& lists, std::int64_t* sums)
        : call_(call), match_(call.match), volume_(volume), lists_(lists), sums_(sums),
          row_(match_.volume[2]), layer_(match_.volume[1] * row_) {}

    void add(std::int64_t z, std::int64_t y, std::int64_t x) {
        const std::int64_t row = (z * match_.grid[1] + y) * match_.grid[2] + x;
        weigh(row);
        const std::int64_t at_z = match_.reference(0, z);
        const std::int64_t place =
            match_.index(at_z - call_.held_first, match_.reference(1, y), match_.reference(2, x));
        const auto wide = static_cast<std::size_t>(match_.patch[2]);
        for (std::int64_t pz = 0; pz < match_.patch[0]; ++pz) {
            const std::int64_t held = at_z + pz - call_.held_first;
            if (held < 0 || held >= call_.held_layers) {
                continue;
            }
            for (std::int64_t py = 0; py < match_.patch[1]; ++py) {
                const std::int64_t within = pz * layer_ + py * row_;
                std::array<float, Match::max_patch> sum{};
                for (std::size_t i = 0; i < matches_; ++i) {
                    const float* from = volume_ + places_[i] + within;
                    for (std::size_t px = 0; px < wide; ++px) {
                        sum[px] += weights_[i] * from[px];
                    }
                }
                for (std::size_t px = 0; px < wide; ++px) {
                    sums_[place + within + static_cast<std::int64_t>(px)] +=
                        std::llrint(call_.estimate(sum[px], weight_));
                }
            }
        }
    }

  private:
    void weigh(std::int64_t row) {
        matches_ = static_cast<std::size_t>(lists_.count[row]);
        weight_ = 0;
        for (std::size_t i = 0; i < matches_; ++i) {
            const auto at = static_cast<std::size_t>(row * match_.count) + i;
            places_[i] = static_cast<std::int64_t>(lists_.index[at]) - match_.in_first * layer_;
            weights_[i] = call_.weight(lists_.distance[at]);
            weight_ += weights_[i];
        }
    }

    const NlmCall& call_;
    const MatchCall& match_;
    const float* volume_;
    const MatchLists& lists_;
    std::int64_t* sums_;
    std::int64_t row_;
    std::int64_t layer_;
    std::size_t matches_ = 0;
    float weight_ = 0;
    std::array<std::int64_t, Match::max_count> places_{};
    std::array<float, Match::max_count> weights_{};
};

} // namespace

int nlm_fraction_bits(float magnitude) {
    constexpr int most_estimates = 10; // bits: 8 x 8 x 8 of them, and a sign
    int exponent = 0;
    std::frexp(magnitude, &exponent); // magnitude < 2^exponent
    return std::clamp(62 - most_estimates - exponent, -1000, 1000);
}

NlmCall make_nlm_call(const Match& match, const MatchLayers& layers, const Nlm& nlm,
                      const HeldLayers& held) {
    NlmCall call{};
    call.match = make_match_call(match, layers);
    call.held_first = held.first;
    call.held_layers = held.layers;
    call.free = 2 * nlm.sigma * nlm.sigma;
    const double h = nlm.strength * nlm.sigma;
    call.falloff = h * h > 0 ? -1 / (h * h) : -std::numeric_limits<double>::infinity();
    call.unit = std::ldexp(1.0, nlm.fraction_bits);
    return call;
}

double nlm_operations(const Match& match, const MatchLayers& layers) {
    const NlmCall call = make_nlm_call(match, layers, {}, {});
    return static_cast<double>(call.match.rows()) * call.operations();
}

void clear_nlm_sums(CpuQueue& queue, std::int64_t count, std::int64_t* sums) {
    using Range = tbb::blocked_range<std::int64_t>;
    queue.run([&] {
        tbb::parallel_for(Range(0, count, 1 << 16), [&](const Range& range) {
            std::fill(sums + range.begin(), sums + range.end(), 0);
        });
    });
}

void add_nlm_estimates(CpuQueue& queue, const Match& match, const MatchLayers& layers,
                       const Nlm& nlm, const float* volume, const MatchLists& lists,
                       const HeldLayers& held, std::int64_t* sums) {
    const NlmCall call = make_nlm_call(match, layers, nlm, held);
    const auto& grid = call.match.grid;
    // Each of four rounds takes every other block along z and y: what lies between two blocks is
    // more than a patch, so that no two threads meet in a sum.
    constexpr std::int64_t side = Match::max_patch;
    const std::int64_t blocks_y = ceil_divide(grid[1], 2 * side);
    const std::int64_t blocks = ceil_divide(grid[0], 2 * side) * blocks_y;
    const auto round = [&](std::int64_t odd_z, std::int64_t odd_y) {
        using Range = tbb::blocked_range<std::int64_t>;
        tbb::parallel_for(Range(0, blocks, 1), [&](const Range& range) {
            Estimator estimator(call, volume, lists, sums);
            for (std::int64_t i = range.begin(); i < range.end(); ++i) {
                const std::int64_t z = (2 * (i / blocks_y) + odd_z) * side;
                const std::int64_t y = (2 * (i % blocks_y) + odd_y) * side;
                for (std::int64_t k = z; k < std::min(z + side, grid[0]); ++k) {
                    for (std::int64_t j = y; j < std::min(y + side, grid[1]); ++j) {
                        for (std::int64_t x = 0; x < grid[2]; ++x) {
                            estimator.add(k, j, x);
                        }
                        queue.count(static_cast<double>(grid[2]) * call.operations());
                    }
                }
            }
        });
    };
    queue.run([&] {
        for (const std::int64_t odd_z : {0, 1}) {
            for (const std::int64_t odd_y : {0, 1}) {
                round(odd_z, odd_y);
            }
        }
    });
}

void finish_nlm(CpuQueue& queue, const Match& match, const Nlm& nlm, const HeldLayers& held,
                const std::int64_t* sums, float* out) {
    const NlmCall call = make_nlm_call(match, {}, nlm, held);
    const std::int64_t row = match.volume[2];
    using Range = tbb::blocked_range<std::int64_t>;
    queue.run([&] {
        tbb::parallel_for(Range(0, held.layers * match.volume[1]), [&](const Range& rows) {
            for (std::int64_t i = rows.begin(); i < rows.end(); ++i) {
                for (std::int64_t x = 0; x < row; ++x) {
                    out[i * row + x] =
                        call.mean(sums[i * row + x], held.first + i / match.volume[1],
                                  i % match.volume[1], x);
                }
            }
        });
    });
}

} // namespace runner
