// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/denoise/noise.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "jobs/match/match_keys.hpp"
#include "kernels/denoise/noise_level.hpp"
#include "kernels/match/voxels.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

namespace runner {
namespace {

/// Whether the survey is to count what the noise level is estimated from.
enum class CountNoise { no, yes };

/// Voxels of which the median is looked up in a second pass; of more it is as good as without, and
/// reading takes its time.
constexpr std::int64_t most_read_twice = std::int64_t{1} << 27;

class NoiseSurvey : public Survey {
  public:
    NoiseSurvey(Volume volume, CountNoise count_noise)
        : volume_(std::move(volume)), counts_(count_noise == CountNoise::yes) {
        if (counts_) {
            findings_.counts.resize(static_cast<std::size_t>(haar_bins));
            thread_counts_.emplace(haar_bins);
        }
    }

    /// A coefficient takes two layers.
    std::int64_t step() const override { return (counts_ ? 2 : 1) * volume_.shape[1]; }

    void add(CpuQueue& queue, std::int64_t first, std::int64_t rows, const std::byte* in) override {
        float most = 0;
        queue.run([&] { most = checked_magnitude(volume_, first, rows, in); });
        findings_.most = std::max<std::int64_t>(findings_.most, std::bit_cast<std::uint32_t>(most));
        if (!counts_) {
            return;
        }
        const auto* voxels = reinterpret_cast<const float*>(in);
        if (volume_.type != ElementType::float32 || volume_.invalid) {
            converted_.resize(static_cast<std::size_t>(rows * volume_.shape[2]));
            read_voxels(queue, volume_, std::ssize(converted_), in, converted_.data());
            voxels = converted_.data();
        }
        const HaarLayers layers{first / volume_.shape[1], rows / volume_.shape[1],
                                first / volume_.shape[1], rows / volume_.shape[1]};
        if (bins_.empty()) {
            count_haar(queue, volume_.shape, layers, voxels, *thread_counts_);
        } else {
            count_haar_steps(queue, volume_.shape, layers, voxels, middle_, *thread_counts_);
        }
    }

    Findings& findings() override {
        if (thread_counts_) {
            thread_counts_->move_to(findings_.counts.data());
            thread_counts_.reset();
        }
        return findings_;
    }

    bool needs_another_pass() override {
        if (!counts_) {
            return false;
        }
        (void)findings();
        if (!bins_.empty()) {
            bins_.insert(bins_.end(), findings_.counts.begin(), findings_.counts.end());
            findings_.counts = std::move(bins_);
            return false;
        }
        if (volume_.layer_voxels() > most_read_twice / volume_.shape[0]) {
            findings_.counts.resize(static_cast<std::size_t>(haar_counts));
            return false;
        }
        middle_ = middle_bins(findings_.counts.data());
        bins_ = std::move(findings_.counts);
        findings_.counts.assign(static_cast<std::size_t>(2 * haar_steps), 0);
        thread_counts_.emplace(2 * haar_steps);
        return true;
    }

  private:
    Volume volume_;
    bool counts_;
    Findings findings_;
    std::optional<ThreadCounts> thread_counts_ = {}; ///< of the pass that is under way
    std::vector<std::uint64_t> bins_;                ///< of the first pass, in the second
    std::array<std::uint32_t, 2> middle_{};
    std::vector<float> converted_;
};

/// A survey of a volume that finds the greatest magnitude of a voxel, as the bits of a float32, in
/// Findings::most; and counts Haar coefficients in Findings::counts (haar_counts of
/// kernels/denoise/noise_level.hpp, the steps in a second pass where the volume is not large) if it
/// is to.
/// @throws Error (input) for a voxel that is not finite.
std::unique_ptr<Survey> make_noise_survey(const Volume& volume, CountNoise count_noise) {
    return std::make_unique<NoiseSurvey>(volume, count_noise);
}

/// Few enough that a median is off by some per cent, and that edges may be most of them.
constexpr std::int64_t few_voxels = 10000;

/// The exponent of the power of two that what is matched is divided by.
int exponent_of(double sigma, float magnitude) {
    constexpr int most_above = 55; // the squares of sums of a patch are finite
    if (!(magnitude > 0)) {
        return 0;
    }
    int most = 0;
    std::frexp(magnitude, &most); // magnitude < 2^most
    if (!(sigma > 0)) {
        return most;
    }
    int noise = 0;
    std::frexp(sigma, &noise);
    return std::clamp(noise, most - most_above, most);
}

/// Whether no voxel of this type is too large for its squares, and none so small that they vanish.
bool is_counted(ElementType type) {
    return type == ElementType::uint8 || type == ElementType::uint16;
}

} // namespace

Noise::Noise(const Volume& volume, const NoiseKeys& keys) : volume_(volume), keys_(keys) {
    if (!survey()) {
        Findings none;
        const float most = volume_.type == ElementType::uint8 ? 255.0F : 65535.0F;
        none.most = std::bit_cast<std::uint32_t>(most);
        learn(none);
    }
}

std::unique_ptr<Survey> Noise::survey() const {
    const bool estimates = !keys_.sigma && keys_.stabilise == Stabilise::none;
    if (known_ || (!estimates && is_counted(volume_.type))) {
        return nullptr;
    }
    return make_noise_survey(volume_, estimates ? CountNoise::yes : CountNoise::no);
}

void Noise::learn(const Findings& findings) {
    magnitude_ = std::bit_cast<float>(static_cast<std::uint32_t>(findings.most));
    if (keys_.stabilise == Stabilise::anscombe) {
        CpuQueue queue(1);
        stabilise_counts(queue, 1, &magnitude_, &magnitude_);
        input_sigma_ = 1;
    } else if (keys_.sigma) {
        input_sigma_ = *keys_.sigma;
    } else {
        input_sigma_ = noise_sigma(findings.counts.data());
        estimated_from_ = counted_voxels(volume_.shape, findings.counts.data());
    }
    if (keys_.stabilise == Stabilise::none && !is_counted(volume_.type)) {
        exponent_ = exponent_of(input_sigma_, magnitude_);
    }
    known_ = true;
}

float Noise::threshold() const {
    return distance_limit(std::ldexp(keys_.threshold, -2 * exponent_));
}

std::vector<std::string> Noise::found() const {
    if (!estimated_from_) {
        return {};
    }
    return {fmt::format("denoise.sigma = \"auto\" found {:.6g}, from {} of {} voxels", input_sigma_,
                        *estimated_from_, volume_.rows() * volume_.shape[2])};
}

std::vector<std::string> Noise::notes() const {
    if (!estimated_from_ || (input_sigma_ > 0 && *estimated_from_ >= few_voxels)) {
        return {};
    }
    const std::string where = volume_.source.file + ":" + volume_.source.dataset;
    const std::int64_t all = volume_.rows() * volume_.shape[2];
    std::string rest = fmt::format("it rests on {} of {} voxels", *estimated_from_, all);
    if (*estimated_from_ < all / 2) {
        rest += volume_.invalid ? "; the others are invalid, beside such, or in regions of one "
                                  "value, which say nothing of the noise"
                                : "; the others are in regions of one value, which say nothing of "
                                  "the noise";
    }
    if (!(input_sigma_ > 0)) {
        return {format_error({"the noise found is 0, so that little or nothing is denoised", where,
                              rest, "Write the standard deviation of the noise: denoise.sigma"})};
    }
    return {format_error({"the noise is estimated from few voxels", where,
                          fmt::format("sigma is {:.6g}; {}", input_sigma_, rest),
                          "If that is not the noise, write its standard deviation: "
                          "denoise.sigma"})};
}

bool Noise::changes_output() const {
    return keys_.out_type != ElementType::float32 || keys_.stabilise != Stabilise::none;
}

} // namespace runner
