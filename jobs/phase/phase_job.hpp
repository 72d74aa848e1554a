// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/kind.hpp"
#include "jobs/stream_job.hpp"
#include "kernels/phase/phase.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// What is said of a phase retrieval beside its filter.
struct PhaseFacts {
    std::string parameters;         ///< as Job::parameters()
    std::vector<std::string> found; ///< as Job::found()
};

/// Paganin's phase retrieval of projections; docs/phase.md says what it computes. The rows of a
/// frame stay together.
class PhaseJob : public StreamJob {
  public:
    /// `shape`: of input and output, which ends with the axes of `phase`'s frames.
    PhaseJob(const PaganinFilter& phase, const std::vector<std::int64_t>& shape, PhaseFacts facts);

    StreamShape shape() const override { return shape_; }
    std::string computation() const override { return "phase 1"; }
    std::optional<std::string> parameters() const override { return facts_.parameters; }
    std::vector<std::string> found() const override { return facts_.found; }
    std::vector<Likeness> likeness() const override {
        return {Likeness::in_place(Likeness::Values::other, shape_.output.shape)};
    }
    std::optional<Locality> locality() const override {
        return Locality{.reach = {0, phase_.rows, phase_.columns}};
    }
    std::int64_t scratch_bytes(Backend /*backend*/, const RowBlock& block) const override;
    std::int64_t kept_bytes(Backend /*backend*/) const override;
    void prepare(Queue& queue, std::byte* kept) const override;
    std::vector<std::string> counted() const override;
    std::vector<std::int64_t> counts(Queue& queue, const std::byte* kept) const override;
    std::shared_ptr<const StreamJob> counting_part() const override;
    double operations(const RowBlock& block) const override;
    void run(Queue& queue, const RowBlock& block, const std::byte* in, std::byte* out,
             const RunMemory& memory) const override;

    const PaganinFilter& phase() const { return phase_; }

  private:
    /// Frames of a block or of a smaller one: in a pipeline a block may be several in one.
    std::int64_t frames(const RowBlock& block) const;

    PaganinFilter phase_;
    PhaseFacts facts_;
    std::vector<std::byte> tables_;
    StreamShape shape_;
};

/// The keys of [phase].
std::vector<KeyText> phase_keys();

/// Reads [phase]. What it returns makes a PhaseJob, of colour an EachSampleJob of such, and throws
/// Error
/// * input: fewer than two axes, an empty one, or a projection too large to transform;
/// * usage: an output type other than float32, a filter that is not finite, or a beam that neither
///   the keys nor the input say (beam_of()).
std::unique_ptr<KindParameters> parse_phase(TableReader& table);

} // namespace runner
