// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/match/volume.hpp"
#include "jobs/stream_job.hpp"
#include "kernels/fill/fill.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace runner {

/// A denoising of a volume with invalid elements: it sees float32 voxels, with means of valid ones
/// in place of those, which are invalid again in its output. Rows are lines of the volume, a layer
/// has all of a z. The method's own halo is filled too, so that a chunk's halo has the elements
/// that this takes.
class FilledJob : public StreamJob {
  public:
    /// `volume`: with invalid elements. `method`: a job of it, which leaves them out of its survey
    /// and takes float32 (Noise::read). `reach`: how far from a voxel those lie that its result is
    /// made of, along z, y and x; none along z makes layers images of their own.
    FilledJob(Volume volume, std::shared_ptr<const StreamJob> method, const MatchReach& reach,
              const Match& match);

    StreamShape shape() const override;
    std::string computation() const override { return method_->computation() + ", filled 1"; }
    std::vector<Attribute> attributes() const override { return method_->attributes(); }
    std::vector<Likeness> likeness() const override { return method_->likeness(); }
    std::optional<Locality> locality() const override { return farther(method_->locality()); }
    std::optional<Locality> mixing() const override { return farther(method_->mixing()); }
    std::vector<std::string> found() const override { return method_->found(); }
    std::vector<std::string> notes() const override { return method_->notes(); }
    std::optional<double> invalid() const override;
    std::unique_ptr<Survey> survey() const override { return method_->survey(); }
    std::unique_ptr<Job> surveyed(const Findings& findings) const override;
    bool checks_rows() const override { return method_->checks_rows(); }
    void check_rows(std::int64_t first, std::int64_t rows, const std::byte* in) const override {
        method_->check_rows(first, rows, in);
    }
    std::int64_t scratch_bytes(Backend backend, const RowBlock& block) const override;
    std::int64_t carried_bytes(const RowBlock& block) const override {
        return method_->carried_bytes(block);
    }
    double operations(const RowBlock& block) const override { return operations_in(block, {}); }
    double operations_in(const RowBlock& block, const BlockRun& blocks) const override {
        return method_->operations_in(filled_block(block), blocks);
    }
    void run(Queue& queue, const RowBlock& block, const std::byte* in, std::byte* out,
             const RunMemory& memory) const override;

  private:
    /// The block as the method sees it.
    RowBlock filled_block(const RowBlock& block) const;
    /// Whether the elements must become float32.
    bool converts() const { return volume_.type != ElementType::float32; }
    /// What so many rows of float32 take, a multiple of 256.
    std::int64_t float_bytes(std::int64_t rows) const;
    template <class Q>
    void fill_on(Q& queue, const RowBlock& block, const RowBlock& method, const std::byte* in,
                 std::byte* filled, std::byte* scratch) const;
    std::optional<Locality> farther(std::optional<Locality> of_method) const;

    Volume volume_;
    std::shared_ptr<const StreamJob> method_;
    Fill fill_; ///< of float32
};

} // namespace runner
