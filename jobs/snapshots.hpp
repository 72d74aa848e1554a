// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace runner {

/// Which generations of a run are kept: after the first one, those that are multiples of `every`,
/// and the last one. With `every` 0, or no generation to go, the last alone.
struct Snapshots {
    std::uint64_t first = 0;      ///< generation that the state begins at
    std::int64_t generations = 0; ///< to go, ≥ 0; first + generations < 2^64
    std::int64_t every = 0;       ///< ≥ 0

    std::uint64_t last() const { return first + static_cast<std::uint64_t>(generations); }
    /// How many are kept, ≥ 1.
    std::int64_t count() const;
    /// The generation of the index-th of them.
    std::uint64_t generation(std::int64_t index) const;
    /// How many of them are of `generation` or before it.
    std::int64_t count_until(std::uint64_t generation) const;

    bool operator==(const Snapshots&) const = default;
};

} // namespace runner
