// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/match/volume.hpp"
#include "jobs/survey.hpp"
#include "kernels/match/voxels.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
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
    /// The largest distance of a match, of the input's voxels.
    double threshold = std::numeric_limits<double>::infinity();
};

/// What must be known of an input before it is denoised, and how it becomes float32 and back.
///
/// What is matched is the input times a power of two, which brings sigma into [0.5, 1): so squares
/// neither overflow nor vanish whatever the input's unit is, and the result of an input times a
/// power of two is the result times that power, bit for bit. Where voxels exceed sigma by more than
/// 2^55, these are brought below 2^55; without noise, below 1. uint8, uint16 and stabilised counts
/// are matched as they are.
class Noise {
  public:
    Noise(const Volume& volume, const NoiseKeys& keys);

    /// Whether sigma() and magnitude() are known, which may take a survey.
    bool known() const { return known_; }
    /// The survey that finds them; null: none is required.
    std::unique_ptr<Survey> survey() const;
    void learn(const Findings& findings);

    /// Standard deviation of the noise of what is matched.
    double sigma() const { return std::ldexp(input_sigma_, -exponent_); }
    /// The same of the input; of stabilised counts that of what is matched.
    double input_sigma() const { return input_sigma_; }
    /// No voxel of what is matched has more.
    float magnitude() const { return std::ldexp(magnitude_, -exponent_); }
    /// The largest distance of a match, of what is matched.
    float threshold() const;

    /// Lines on the noise that a survey found; none without one.
    std::vector<std::string> found() const;
    /// Why these may be wrong.
    std::vector<std::string> notes() const;

    /// Whether write() needs memory of its own.
    bool changes_output() const;

    /// What is matched: `in` itself, or made of it in `spare`, which has as many elements. Of a
    /// volume with invalid elements `in` is float32 and has none (FilledJob).
    template <class Q>
    const float* read(Q& queue, std::int64_t voxels, const std::byte* in, float* spare) const {
        const auto* from = reinterpret_cast<const float*>(in);
        if (volume_.type != ElementType::float32 && !volume_.invalid) {
            voxels_to_float(queue, volume_.type, voxels, in, spare);
            from = spare;
        }
        if (keys_.stabilise == Stabilise::anscombe) {
            stabilise_counts(queue, voxels, from, spare);
            from = spare;
        }
        if (exponent_ != 0) {
            scale_voxels(queue, voxels, from, -exponent_, spare);
            from = spare;
        }
        return from;
    }

    /// The output of results, which are lost where it is not they themselves.
    template <class Q>
    void write(Q& queue, std::int64_t voxels, float* results, std::byte* out) const {
        if (exponent_ != 0) {
            scale_voxels(queue, voxels, results, exponent_, results);
        }
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
    double input_sigma_ = 0;
    float magnitude_ = 0; ///< of the input, or of stabilised counts
    int exponent_ = 0;    ///< what is matched is these times 2^−exponent_
    std::optional<std::int64_t> estimated_from_ = {}; ///< voxels
    bool known_ = false;
};

} // namespace runner
