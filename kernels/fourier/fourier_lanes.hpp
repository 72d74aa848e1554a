// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/fourier/fourier_length.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace runner {

/// Lines that the CPU transforms side by side.
inline constexpr std::int64_t fourier_lanes = 8;
/// Floats from one value of the lines to the next.
inline constexpr std::int64_t fourier_step = 2 * fourier_lanes;

/// Lines in host memory: value i of all has their real parts at from[i · fourier_step] and then
/// their imaginary ones. A transform needs as much memory again, `to`.
struct FourierLanes {
    float* from = nullptr;
    float* to = nullptr;

    /// The places of a value of a line.
    float& re(std::int64_t i, std::int64_t lane) const { return from[i * fourier_step + lane]; }
    float& im(std::int64_t i, std::int64_t lane) const {
        return from[i * fourier_step + fourier_lanes + lane];
    }
};

/// The memory of a thread that transforms lines.
class FourierLanesMemory {
  public:
    /// Lines of a length, of any values; the memory is used again by the next ones.
    FourierLanes lanes(std::int64_t length) {
        const auto floats = static_cast<std::size_t>(length * fourier_step);
        if (floats_.size() < 2 * floats) {
            floats_.resize(2 * floats);
        }
        return {floats_.data(), floats_.data() + floats};
    }

  private:
    std::vector<float> floats_;
};

} // namespace runner
