// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/rounding.hpp"
#include "base/sizes.hpp"
#include "kernels/fourier/fourier_length.hpp"
#include "kernels/phase/phase.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace runner {

/// Two rows of a frame are transformed as the real and the imaginary part of one line. Of the
/// spectra of all rows of the frame the columns from 0 to half are stored, the others being their
/// mirror images; then each column is transformed, multiplied by the filter and transformed back,
/// rows beyond the frame being reflected; then the pairs of rows are.
struct PhaseCall {
    int rows;
    int columns;
    int padded_rows;
    int padded_columns;
    int top;  ///< rows before the frame
    int left; ///< columns before it
    int half; ///< columns of a spectrum
    int pitch;
    /// The filter is scale / (down[ky] + along[kx]).
    float scale;
    const float* down;
    const float* along; ///< up to `pitch`
    const ComplexFloat* row_factors;
    const ComplexFloat* column_factors;
    bool takes_log;
    float floor;

    int pairs() const { return (rows + 1) / 2; }
    /// The row or column of the frame that one of the padded frame is.
    constexpr int row(int i) const { return reflected(i - top, rows); }
    constexpr int column(int i) const { return reflected(i - left, columns); }

    /// c b a | a b c d | d c b, in 32 bits: GPUs divide longer integers slowly.
    static constexpr int reflected(int i, int extent) {
        if (i >= 0 && i < extent) {
            return i;
        }
        int phase = i % (2 * extent);
        phase += phase < 0 ? 2 * extent : 0;
        return phase < extent ? phase : 2 * extent - 1 - phase;
    }
};

/// A call with a filter whose tables are there.
PhaseCall phase_call(const PaganinFilter& phase, const std::byte* tables);

/// Bytes of the spectra of a frame.
inline std::int64_t phase_spectrum_bytes(const PhaseCall& call) {
    return std::int64_t{call.rows} * call.pitch * static_cast<std::int64_t>(sizeof(ComplexFloat));
}

/// Frames whose spectra are in scratch memory at once: as many as take 64 MiB, one at least.
inline std::int64_t phase_frames_at_once(const PhaseCall& call, std::int64_t frames) {
    constexpr std::int64_t most = 16384; // a grid's extent may not be much more
    return std::clamp(std::min(most, 64 * MiB / phase_spectrum_bytes(call)), std::int64_t{1},
                      std::max(frames, std::int64_t{1}));
}

} // namespace runner
