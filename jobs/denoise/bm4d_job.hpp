// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/hdf5/attributes.hpp"
#include "jobs/denoise/list_batch.hpp"
#include "jobs/denoise/noise.hpp"
#include "jobs/match/volume.hpp"
#include "jobs/stream_job.hpp"
#include "kernels/denoise/denoise_bm4d.hpp"
#include "kernels/match/match.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// What a job by collaborative filtering is made of beside its input.
struct Bm4dKeys {
    Match match; ///< with step ≤ patch along each axis with several references
    NoiseKeys noise;
};

/// Denoising by collaborative filtering in two passes; docs/denoise.md says what it computes. Rows
/// are lines of the volume, a layer has all of a z. A chunk's halo is that of both passes. A chunk
/// leaves the next one what both need, so that each reference is filtered once: the first pass'
/// result, and the sums of layers that the chunk's references reach and the next one completes.
class Bm4dJob : public StreamJob {
  public:
    /// `shape`: the output's, as the input's: of an image two extents or three.
    Bm4dJob(Volume volume, const Bm4dKeys& keys, std::vector<std::int64_t> shape);

    StreamShape shape() const override { return shape_; }
    std::string computation() const override { return "bm4d 3"; }
    std::vector<Likeness> likeness() const override {
        return {Likeness::in_place(Likeness::Values::alike, shape_.output.shape)};
    }
    std::optional<Locality> locality() const override {
        return match_locality(match_, estimates_matches_twice);
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
    std::int64_t carried_bytes(const RowBlock& block) const override;
    double operations(const RowBlock& block) const override { return operations_in(block, {}); }
    double operations_in(const RowBlock& block, const BlockRun& blocks) const override;
    void run(Queue& queue, const RowBlock& block, const std::byte* in, std::byte* out,
             const RunMemory& memory) const override;

  private:
    struct Memory;
    struct Carried;
    struct Pass;
    /// Whether the block that ends where a block begins has left what it computed.
    enum class Before { absent, left };

    template <class Q>
    void run_on(Q& queue, const RowBlock& block, const std::byte* in, std::byte* out,
                const RunMemory& memory) const;
    template <class Q> void run_pass(Q& queue, const Pass& pass, const Memory& memory) const;
    template <class Q>
    void copy_sums(Q& queue, const Bm4dSums& from, std::int64_t layers, const Bm4dSums& to) const;
    /// `layer`, or the volume's end.
    std::int64_t inside(std::int64_t layer) const { return std::min(layer, volume_.shape[0]); }
    /// How many layers from `first` on the estimates of references of the block before reach.
    std::int64_t reached(std::int64_t first) const;
    /// The layers of references whose estimates reach these layers of a pass' result, without those
    /// of the block before.
    HeldLayers references(const HeldLayers& made, Before before) const;
    /// The layers of the first pass that a block of these layers of the result computes.
    HeldLayers first_pass(const HeldLayers& result, Before before) const;
    /// The most layers of it, wherever a block of so many of the result is.
    std::int64_t first_pass(std::int64_t layers) const;
    /// For a block of so many layers.
    ListBatch batch(Backend backend, std::int64_t layers) const;

    Volume volume_;
    Match match_;
    Noise noise_;
    StreamShape shape_;
};

} // namespace runner
