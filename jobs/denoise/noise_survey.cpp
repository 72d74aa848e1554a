// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/denoise/noise_survey.hpp"

#include "kernels/noise_level.hpp"
#include "kernels/voxels.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace runner {
namespace {

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
        count_haar(queue, volume_.shape, layers, voxels, findings_.counts.data());
    }

    Findings& findings() override { return findings_; }

  private:
    Volume volume_;
    bool counts_;
    Findings findings_;
    std::vector<float> converted_;
};

} // namespace

std::unique_ptr<Survey> make_noise_survey(const Volume& volume, CountNoise count_noise) {
    return std::make_unique<NoiseSurvey>(volume, count_noise);
}

} // namespace runner
