// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/denoise/noise.hpp"

#include "jobs/denoise/noise_survey.hpp"
#include "kernels/denoise/noise_level.hpp"

#include <bit>

namespace runner {

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
