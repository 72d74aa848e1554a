// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/kind.hpp"
#include "jobs/stream_job.hpp"
#include "kernels/convolve/convolve.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace runner {

/// Separable convolution of every image or volume of a dataset; docs/convolve.md says what it
/// computes.
class ConvolveJob : public StreamJob {
  public:
    /// `convolution`: layers, rows and columns are those of a frame. `input`: two axes or more, the
    /// last two rows × columns, in colour rows × pixels × channels; with depth taps the one before
    /// counts layers; the others frames.
    /// `invalid`: elements of the input that are (JobInput::invalid).
    ConvolveJob(Convolution convolution, const ArrayInfo& input,
                std::optional<double> invalid = std::nullopt);

    StreamShape shape() const override;
    std::string computation() const override;
    std::vector<Likeness> likeness() const override {
        return {Likeness::in_place(Likeness::Values::scaled, shape_.output.shape)};
    }
    std::optional<Locality> locality() const override {
        return Locality{.reach = {convolution_.depth_radius(), convolution_.column_radius(),
                                  convolution_.row_radius()},
                        .wraps = convolution_.boundary == Boundary::wrap};
    }
    int channels() const override { return convolution_.channels; }
    std::optional<double> invalid() const override;
    std::int64_t scratch_bytes(Backend backend, const RowBlock& block) const override;
    std::int64_t thread_bytes(const RowBlock& block) const override;
    double operations(const RowBlock& block) const override;
    void run(Queue& queue, const RowBlock& block, const std::byte* in, std::byte* out,
             const RunMemory& memory) const override;

    const Convolution& convolution() const { return convolution_; }

  private:
    /// Rows of the dataset that one row of the image is: in colour each pixel is one.
    std::int64_t rows_per_line() const;
    /// The block in rows of the image.
    RowBlock in_lines(const RowBlock& block) const;

    Convolution convolution_;
    std::optional<double> in_invalid_;
    StreamShape shape_;
};

/// The keys of [convolve].
std::vector<KeyText> convolve_keys();

/// Reads [convolve]: row_taps, column_taps and depth_taps (see parse_taps; the last may be left
/// out), boundary (default reflect) and fill (default 0). What it returns makes a ConvolveJob and
/// throws Error
/// * input: fewer than two axes, with depth taps fewer than three, or an empty axis;
/// * usage: taps too large for the type computed in.
std::unique_ptr<KindParameters> parse_convolve(TableReader& table);

} // namespace runner
