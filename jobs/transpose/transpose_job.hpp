// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/kind.hpp"
#include "jobs/permute_job.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace runner {

/// Another order of axes; docs/transpose.md says what it makes.
class TransposeJob : public PermuteJob {
  public:
    /// What is known of the input beside its elements.
    struct Input {
        std::size_t axes = 3;               ///< `shape.input` may have leading ones of 1 before
        std::optional<double> invalid = {}; ///< elements that are, and stay so
    };

    /// For an input of all axes of `shape`, of which nothing else is known.
    explicit TransposeJob(PermuteShape shape)
        : shape_(std::move(shape)), input_{shape_.axes(), std::nullopt} {}
    /// `channels`: of the images that it makes.
    TransposeJob(PermuteShape shape, const Input& input, int channels)
        : shape_(std::move(shape)), input_(input), channels_(channels) {}

    PermuteShape shape() const override { return shape_; }
    std::string computation() const override { return "transpose 1"; }
    std::vector<Likeness> likeness() const override;
    std::optional<Locality> locality() const override { return Locality{}; }
    std::optional<Locality> mixing() const override { return std::nullopt; }
    std::optional<double> invalid() const override { return input_.invalid; }
    int channels() const override { return channels_; }
    std::vector<std::string> axis_work(std::size_t axes) const override;
    void run(Queue& queue, const Extents& box, const std::byte* in, std::byte* out) const override;

  private:
    PermuteShape shape_;
    Input input_;
    int channels_ = 1;
};

/// The keys of [transpose].
std::vector<KeyText> transpose_keys();

/// Reads [transpose]: permutation. What it returns makes a TransposeJob and throws Error
/// * input: an empty one;
/// * usage: another output type than the input's, or a permutation that does not fit its axes.
std::unique_ptr<KindParameters> parse_transpose(TableReader& table);

} // namespace runner
