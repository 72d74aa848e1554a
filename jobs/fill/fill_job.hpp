// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/kind.hpp"
#include "jobs/stream_job.hpp"
#include "kernels/fill/fill.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// Invalid elements replaced by what is around them; docs/fill.md says what it computes.
class FillJob : public StreamJob {
  public:
    /// `shape`: of input and output, which ends with the axes of `fill`'s frames and its channels.
    FillJob(const Fill& fill, const std::vector<std::int64_t>& shape);

    StreamShape shape() const override { return shape_; }
    std::string computation() const override { return "fill 1"; }
    std::vector<Likeness> likeness() const override {
        return {Likeness::in_place(Likeness::Values::alike, shape_.output.shape)};
    }
    std::optional<Locality> locality() const override {
        return Locality{.reach = {fill_.reach[0], fill_.reach[1], fill_.reach[2]}};
    }
    std::vector<std::string> axis_work(std::size_t axes) const override;
    std::optional<double> invalid() const override;
    int channels() const override { return fill_.channels; }
    std::int64_t scratch_bytes(Backend /*backend*/, const RowBlock& /*block*/) const override {
        return 0;
    }
    std::int64_t kept_bytes(Backend backend) const override;
    void prepare(Queue& queue, std::byte* kept) const override;
    std::vector<std::string> counted() const override { return {"filled_values", "left_values"}; }
    std::vector<std::int64_t> counts(Queue& queue, const std::byte* kept) const override;
    std::shared_ptr<const StreamJob> counting_part() const override {
        return std::make_shared<FillJob>(*this);
    }
    void run(Queue& queue, const RowBlock& block, const std::byte* in, std::byte* out,
             const RunMemory& memory) const override;

  private:
    /// Rows of the dataset that are one row of the image: in colour each pixel is one.
    std::int64_t rows_per_line() const { return fill_.channels > 1 ? fill_.columns : 1; }

    Fill fill_;
    StreamShape shape_;
};

/// The keys of [fill].
std::vector<KeyText> fill_keys();

/// Reads [fill]. What it returns makes a FillJob and throws Error
/// * input: too few axes, an empty one, or an input of which nothing is invalid;
/// * usage: an output type that is not the input's.
std::unique_ptr<KindParameters> parse_fill(TableReader& table);

} // namespace runner
