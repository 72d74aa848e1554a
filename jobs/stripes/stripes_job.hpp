// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/kind.hpp"
#include "jobs/stream_job.hpp"
#include "kernels/stripes/stripes.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// Sinograms without their stripes; docs/stripes.md says what it computes. The rows of a frame stay
/// together.
class StripesJob : public StreamJob {
  public:
    /// `shape`: of input and output, which ends with the axes of `stripes`' frames. `notes`: about
    /// the input.
    StripesJob(const Stripes& stripes, const std::vector<std::int64_t>& shape,
               std::vector<std::string> notes = {});

    StreamShape shape() const override { return shape_; }
    std::string computation() const override { return "stripes 1"; }
    std::vector<std::string> notes() const override { return notes_; }
    std::vector<Likeness> likeness() const override {
        return {Likeness::in_place(Likeness::Values::alike, shape_.output.shape)};
    }
    std::optional<Locality> locality() const override {
        const bool is_near = stripes_.method == Stripes::Method::sort;
        return Locality{
            .reach = {0, stripes_.rows, is_near ? stripes_.size / 2 : stripes_.columns}};
    }
    std::vector<std::string> axis_work(std::size_t axes) const override;
    std::int64_t scratch_bytes(Backend /*backend*/, const RowBlock& block) const override;
    double operations(const RowBlock& block) const override;
    void run(Queue& queue, const RowBlock& block, const std::byte* in, std::byte* out,
             const RunMemory& memory) const override;

  private:
    /// Frames of a block or of a smaller one: in a pipeline a block may be several in one.
    std::int64_t frames(const RowBlock& block) const;

    Stripes stripes_;
    StreamShape shape_;
    std::vector<std::string> notes_;
};

/// The keys of [stripes].
std::vector<KeyText> stripes_keys();

/// Reads [stripes]. What it returns makes a StripesJob, of colour an EachSampleJob of such, and
/// throws Error
/// * input: fewer than two axes, an empty one, or too many angles;
/// * usage: an output type that is not the input's.
std::unique_ptr<KindParameters> parse_stripes(TableReader& table);

} // namespace runner
