// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/hdf5/attributes.hpp"
#include "jobs/denoise/list_batch.hpp"
#include "jobs/denoise/noise.hpp"
#include "jobs/match/volume.hpp"
#include "jobs/stream_job.hpp"
#include "kernels/denoise/denoise_nlm.hpp"
#include "kernels/match/match.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// What a job by non-local means is made of beside its input.
struct NlmKeys {
    Match match; ///< with step ≤ patch along each axis with several references
    NoiseKeys noise;
    double strength = 0.6;
};

/// Denoising by non-local means; docs/denoise.md says what it computes. Rows are lines of the
/// volume, a layer has all of a z. References whose estimates reach over a chunk's border are
/// matched in both chunks, from the same voxels.
class NlmJob : public StreamJob {
  public:
    /// `shape`: the output's, as the input's: of an image two extents or three.
    NlmJob(Volume volume, const NlmKeys& keys, std::vector<std::int64_t> shape);

    StreamShape shape() const override { return shape_; }
    std::string computation() const override { return "nlm 2"; }
    std::vector<Likeness> likeness() const override {
        return {Likeness::in_place(Likeness::Values::alike, shape_.output.shape)};
    }
    std::optional<Locality> locality() const override {
        return match_locality(match_, estimates_references);
    }
    std::optional<Locality> mixing() const override { return match_mixing(match_); }
    std::vector<Attribute> attributes() const override;
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

    template <class Q>
    void run_on(Q& queue, const RowBlock& block, const std::byte* in, std::byte* out,
                std::byte* scratch) const;
    /// For a block of so many layers.
    ListBatch batch(Backend backend, std::int64_t layers) const;
    Nlm nlm() const;

    Volume volume_;
    Match match_;
    double strength_;
    Noise noise_;
    StreamShape shape_;
};

} // namespace runner
