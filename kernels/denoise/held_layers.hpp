// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace runner {

/// Layers [first, first + layers) of a volume, of which a buffer holds sums or results.
struct HeldLayers {
    std::int64_t first = 0;
    std::int64_t layers = 0;

    bool operator==(const HeldLayers&) const = default;
};

} // namespace runner
