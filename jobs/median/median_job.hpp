// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/kind.hpp"
#include "jobs/stream_job.hpp"
#include "kernels/median/median.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace runner {

/// The median of a window about every element; docs/median.md says what it computes. Where the
/// window has several layers, the rows of a layer of the volume stay together.
class MedianJob : public StreamJob {
  public:
    /// `shape`: of input and output, which ends with the axes of `median`'s frames.
    MedianJob(const Median& median, const std::vector<std::int64_t>& shape);

    StreamShape shape() const override { return shape_; }
    std::string computation() const override { return "median 1"; }
    std::vector<Likeness> likeness() const override {
        return {Likeness::in_place(Likeness::Values::alike, shape_.output.shape)};
    }
    std::optional<Locality> locality() const override {
        return Locality{.reach = {median_.size[0] / 2, median_.size[1] / 2, median_.size[2] / 2},
                        .wraps = median_.boundary == Boundary::wrap};
    }
    std::optional<double> invalid() const override;
    std::int64_t scratch_bytes(Backend /*backend*/, const RowBlock& /*block*/) const override {
        return 0;
    }
    std::int64_t kept_bytes(Backend backend) const override;
    void prepare(Queue& queue, std::byte* kept) const override;
    /// Replaced elements, where a difference says which those are.
    std::vector<std::string> counted() const override;
    std::vector<std::int64_t> counts(Queue& queue, const std::byte* kept) const override;
    std::shared_ptr<const StreamJob> counting_part() const override;
    double operations(const RowBlock& block) const override {
        return median_operations(median_, block);
    }
    void run(Queue& queue, const RowBlock& block, const std::byte* in, std::byte* out,
             const RunMemory& memory) const override;

  private:
    Median median_;
    StreamShape shape_;
};

/// The keys of [median].
std::vector<KeyText> median_keys();

/// Reads [median]: size (default [3, 3]), boundary (reflect), fill (0), difference and side. What
/// it returns makes a MedianJob, of colour an EachSampleJob of such, and throws Error
/// * input: too few axes, or an empty one;
/// * usage: an output type that is not the input's.
std::unique_ptr<KindParameters> parse_median(TableReader& table);

} // namespace runner
