// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/match/volume.hpp"
#include "jobs/stream_job.hpp"
#include "kernels/denoise_nlm.hpp"
#include "kernels/match.hpp"

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

/// What a job by non-local means is made of beside its input.
struct NlmKeys {
    Match match;                 ///< with step ≤ patch along each axis with several references
    std::optional<double> sigma; ///< nothing: estimated
    double strength = 0.6;
    Stabilise stabilise = Stabilise::none;
    ElementType out_type = ElementType::float32; ///< this or the input's
};

/// Layers, and lines of these, of the volume whose references' lists are there at once.
struct NlmBatch {
    std::int64_t layers = 0;
    std::int64_t lines = 0;
};

/// Denoising by non-local means; docs/denoise.md says what it computes. Rows are lines of the
/// volume, a layer has all of a z. References whose estimates reach over a chunk's border are
/// matched in both chunks, from the same voxels.
class NlmJob : public StreamJob {
  public:
    /// `shape`: the output's, as the input's: of an image two extents or three.
    NlmJob(Volume volume, const NlmKeys& keys, std::vector<std::int64_t> shape);

    StreamShape shape() const override { return shape_; }
    std::string computation() const override { return "nlm 1"; }
    std::vector<Attribute> attributes() const override;
    /// Needed for the noise level, and for how large a voxel may be.
    std::unique_ptr<Survey> survey() const override;
    std::unique_ptr<StreamJob> surveyed(const Findings& findings) const override;
    void check_rows(std::int64_t first, std::int64_t rows, const std::byte* in) const override;
    std::int64_t scratch_bytes(Backend backend, const RowBlock& block) const override;
    void run(Queue& queue, const RowBlock& block, const std::byte* in, std::byte* out,
             std::byte* scratch) const override;

  private:
    struct Memory;

    void learn(const Findings& findings);
    template <class Q>
    void run_on(Q& queue, const RowBlock& block, const std::byte* in, std::byte* out,
                std::byte* scratch) const;
    template <class Q>
    void add_estimates(Q& queue, const NlmLayers& held, std::int64_t in_first, const float* voxels,
                       const Memory& memory) const;
    /// For a block of so many layers.
    NlmBatch batch(Backend backend, std::int64_t layers) const;

    Volume volume_;
    NlmKeys keys_;
    StreamShape shape_;
    Nlm nlm_;
    bool known_ = false; ///< nlm_ is, which may take a survey
};

} // namespace runner
