// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/job.hpp"
#include "runner/trial/part/part_choice.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace runner::trial {

/// An axis of what a job makes, and where its elements come from.
struct MadeAxis {
    /// The axis of the job's input that it lies along, in blocks; nothing: every part of the input
    /// makes all of it.
    std::optional<std::size_t> input;
    std::int64_t block = 1;  ///< elements of the input that become one
    std::int64_t extent = 1; ///< of the whole

    bool operator==(const MadeAxis&) const = default;
};

/// What becomes of a part of a job's input, step by step.
class PartCourse {
  public:
    /// Begins with an input of these extents, without the channels of colour, all of whose axes may
    /// be cut.
    explicit PartCourse(const std::vector<std::int64_t>& shape);

    /// Adds a step that takes what the steps before it make.
    void add(const Job& step);

    const WholeInput& input() const { return input_; }
    /// The axes of what the last step makes, without the channels of colour.
    const std::vector<MadeAxis>& made() const { return made_; }

  private:
    /// Moves the borders of the input's axes that the step's last three lie along.
    void widen(const Locality& locality);

    WholeInput input_;
    std::vector<MadeAxis> made_;
};

/// Whether two arrays lie along the same axes of the input in the same order.
bool along_same_axes(const std::vector<MadeAxis>& one, const std::vector<MadeAxis>& other);

/// A box of the input, which begins at multiples of the blocks, as a box of what `part` becomes.
Box made_box(std::span<const MadeAxis> made, const Box& part, const Box& box);

} // namespace runner::trial
