// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/hdf5/attributes.hpp"
#include "jobs/denoise/noise.hpp"
#include "jobs/match/volume.hpp"
#include "jobs/stream_job.hpp"
#include "kernels/denoise/window_means.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// What a job by means of whole windows is made of beside its input.
struct WindowKeys {
    Match match; ///< of which volume, patch and window count; step 1
    NoiseKeys noise;
    double strength = 0.6;
};

/// Denoising by non-local means of all candidates; docs/denoise.md says what it computes. Rows are
/// lines of the volume, a layer has all of a z.
class WindowJob : public StreamJob {
  public:
    /// `shape`: the output's, as the input's: of an image two extents or three.
    WindowJob(Volume volume, const WindowKeys& keys, std::vector<std::int64_t> shape);

    StreamShape shape() const override { return shape_; }
    std::string computation() const override { return "nlm window 1"; }
    std::vector<Likeness> likeness() const override {
        return {Likeness::in_place(Likeness::Values::alike, shape_.output.shape)};
    }
    std::optional<Locality> locality() const override {
        return match_locality(match_, estimates_references);
    }
    std::optional<Locality> mixing() const override { return match_mixing(match_); }
    std::vector<Attribute> attributes() const override { return {{"sigma", noise_.input_sigma()}}; }
    /// Needed for the noise level, and for how large a voxel may be.
    std::unique_ptr<Survey> survey() const override { return noise_.survey(); }
    std::unique_ptr<Job> surveyed(const Findings& findings) const override;
    std::vector<std::string> found() const override { return noise_.found(); }
    std::vector<std::string> notes() const override { return noise_.notes(); }
    bool checks_rows() const override { return volume_.is_floating(); }
    void check_rows(std::int64_t first, std::int64_t rows, const std::byte* in) const override;
    std::int64_t scratch_bytes(Backend backend, const RowBlock& block) const override;
    double operations(const RowBlock& block) const override;
    void run(Queue& queue, const RowBlock& block, const std::byte* in, std::byte* out,
             const RunMemory& memory) const override;

  private:
    struct Memory;

    Volume volume_;
    Match match_;
    double strength_;
    Noise noise_;
    StreamShape shape_;
};

} // namespace runner
