// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/kind.hpp"
#include "jobs/reduce/reduce_shape.hpp"
#include "jobs/stream_job.hpp"
#include "kernels/reduce/reduce.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// Axes of an array reduced to a result: projections, means of frames, histograms; docs/reduce.md
/// says what it computes. The rows of a result stay together as a layer.
class ReduceJob : public StreamJob {
  public:
    /// What is known of the input beside its elements.
    struct Input {
        ArrayInfo array;
        std::vector<bool> is_reduced; ///< of each axis
        int channels = 1;
    };

    /// `reduce` with the axes of `shape`, which is of the same input.
    ReduceJob(Reduction reduce, const ReduceShape& shape, Input input);

    StreamShape shape() const override { return shape_; }
    std::string computation() const override { return "reduce 1"; }
    std::vector<Likeness> likeness() const override;
    std::optional<Locality> locality() const override;
    std::optional<Locality> mixing() const override { return std::nullopt; }
    std::optional<RowOrder> row_order() const override { return order_; }
    std::vector<std::string> axis_work(std::size_t axes) const override;
    std::optional<double> invalid() const override;
    int channels() const override { return keeps_samples() ? input_.channels : 1; }
    std::int64_t scratch_bytes(Backend backend, const RowBlock& block) const override;
    void run(Queue& queue, const RowBlock& block, const std::byte* in, std::byte* out,
             const RunMemory& memory) const override;

  private:
    /// Whether the output's last axis has the samples of colour pixels.
    bool keeps_samples() const;

    Reduction reduce_;
    std::int64_t group_rows_;
    std::optional<RowOrder> order_;
    Input input_;
    StreamShape shape_;
};

/// The keys of [reduce].
std::vector<KeyText> reduce_keys();

/// Reads [reduce]. What it returns makes a ReduceJob and throws Error
/// * input: an empty axis, too many elements of a result, or too many places that axes lie apart
/// in;
/// * usage: an axis that the input does not have, or an output type that the operation does not
///   make.
std::unique_ptr<KindParameters> parse_reduce(TableReader& table);

} // namespace runner
