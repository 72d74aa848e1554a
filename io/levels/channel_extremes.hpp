// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/extremes.hpp"
#include "io/levels/level_sweep.hpp"
#include "io/rows/rows.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace runner {

/// The extremes of the channels that an output's format states, of boxes of its elements; of other
/// outputs nothing. For one thread.
class ChannelExtremes {
  public:
    explicit ChannelExtremes(const OutputDataset& output);

    /// Takes the elements of a box, dense and aligned.
    void take(const VolumeBox& box, const std::byte* elements);

    /// The same of rows that may lie apart.
    void take(const VolumeBox& box, const BoxElements& elements);

    const Extremes& found() const { return found_; }

  private:
    ArrayInfo array_;
    std::optional<double> invalid_;
    std::optional<Channels> channels_;
    std::int64_t depth_; ///< layers of a volume
    Extremes found_;
};

} // namespace runner
