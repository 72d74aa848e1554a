// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/denoise/noise.hpp"

#include "kernels/denoise/noise_level.hpp"
#include "kernels/match/voxels.hpp"

#include <algorithm>
#include <array>
#include <bit>
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
        if (volume_.type != ElementType::float32) {
            converted_.resize(static_cast<std::size_t>(rows * volume_.shape[2]));
            voxels_to_float(queue, volume_.type, std::ssize(converted_), in, converted_.data());
            voxels = converted_.data();
        }
        const HaarLayers layers{first / volume_.shape[1], rows / volume_.shape[1],
                                first / volume_.shape[1], rows / volume_.shape[1]};
        if (bins_.empty()) {
            count_haar(queue, volume_.shape, layers, voxels, findings_.counts.data());
        } else {
            count_haar_steps(queue, volume_.shape, layers, voxels, middle_,
                             findings_.counts.data());
        }
    }

    Findings& findings() override { return findings_; }

    bool needs_another_pass() override {
        if (!counts_) {
            return false;
        }
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
        return true;
    }

  private:
    Volume volume_;
    bool counts_;
    Findings findings_;
    std::vector<std::uint64_t> bins_; ///< of the first pass, in the second
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
    if (known_ || (!estimates && volume_.type != ElementType::float32)) {
        return nullptr;
    }
    return make_noise_survey(volume_, estimates ? CountNoise::yes : CountNoise::no);
}

void Noise::learn(const Findings& findings) {
    magnitude_ = std::bit_cast<float>(static_cast<std::uint32_t>(findings.most));
    if (keys_.stabilise == Stabilise::anscombe) {
        CpuQueue queue(1);
        stabilise_counts(queue, 1, &magnitude_, &magnitude_);
        sigma_ = 1;
    } else {
        sigma_ = keys_.sigma ? *keys_.sigma : noise_sigma(findings.counts.data());
    }
    known_ = true;
}

bool Noise::changes_input() const {
    return volume_.type != ElementType::float32 || keys_.stabilise != Stabilise::none;
}

bool Noise::changes_output() const {
    return keys_.out_type != ElementType::float32 || keys_.stabilise != Stabilise::none;
}

} // namespace runner
