// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/kind.hpp"
#include "jobs/permute_job.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace runner {

/// Another order of axes; docs/transpose.md says what it makes.
class TransposeJob : public PermuteJob {
  public:
    /// `invalid`: elements of the input that are, and stay so.
    explicit TransposeJob(PermuteShape shape, std::optional<double> invalid = std::nullopt)
        : shape_(std::move(shape)), invalid_(invalid) {}

    PermuteShape shape() const override { return shape_; }
    std::string computation() const override { return "transpose 1"; }
    std::vector<Likeness> likeness() const override;
    std::optional<double> invalid() const override { return invalid_; }
    void run(Queue& queue, const Extents& box, const std::byte* in, std::byte* out) const override;

  private:
    PermuteShape shape_;
    std::optional<double> invalid_;
};

/// The keys of [transpose].
std::vector<KeyText> transpose_keys();

/// Reads [transpose]: permutation. What it returns makes a TransposeJob and throws Error
/// * input: more than three axes, or an empty one;
/// * usage: another output type than the input's, or a permutation that does not fit its axes.
std::unique_ptr<KindParameters> parse_transpose(TableReader& table);

} // namespace runner
