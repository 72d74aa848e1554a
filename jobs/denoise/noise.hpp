// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/match/volume.hpp"
#include "jobs/survey.hpp"
#include "kernels/match/voxels.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace runner {

/// What is done to voxels before they are matched, and undone after.
enum class Stabilise {
    none,
    anscombe, ///< of counts of photons: their noise becomes 1
};

/// What a method of denoising is told of the noise and of the output.
struct NoiseKeys {
    std::optional<double> sigma; ///< nothing: estimated
    Stabilise stabilise = Stabilise::none;
    ElementType out_type = ElementType::float32; ///< this or the input's
};

/// What must be known of an input before it is denoised, and how it becomes float32 and back.
class Noise {
  public:
    Noise(const Volume& volume, const NoiseKeys& keys);

    /// Whether sigma() and magnitude() are known, which may take a survey.
    bool known() const { return known_; }
    /// The survey that finds them; null: none is required.
    std::unique_ptr<Survey> survey() const;
    void learn(const Findings& findings);

    /// Standard deviation of the noise of what is matched.
    double sigma() const { return sigma_; }
    /// No voxel of what is matched has more.
    float magnitude() const { return magnitude_; }

    ElementType out_type() const { return keys_.out_type; }

    /// Whether read() and write() need memory of their own.
    bool changes_input() const;
    bool changes_output() const;

    /// What is matched: `in` itself, or made of it in `spare`.
    template <class Q>
    const float* read(Q& queue, std::int64_t voxels, const std::byte* in, float* spare) const {
        if (!changes_input()) {
            return reinterpret_cast<const float*>(in);
        }
        voxels_to_float(queue, volume_.type, voxels, in, spare);
        if (keys_.stabilise == Stabilise::anscombe) {
            stabilise_counts(queue, voxels, spare, spare);
        }
        return spare;
    }

    /// The output of results, which are lost where it is not they themselves.
    template <class Q>
    void write(Q& queue, std::int64_t voxels, float* results, std::byte* out) const {
        if (keys_.stabilise == Stabilise::anscombe) {
            restore_counts(queue, voxels, results, results);
        }
        if (changes_output()) {
            voxels_from_float(queue, keys_.out_type, voxels, results, out);
        }
    }

  private:
    Volume volume_;
    NoiseKeys keys_;
    double sigma_ = 0;
    float magnitude_ = 0;
    bool known_ = false;
};

} // namespace runner
