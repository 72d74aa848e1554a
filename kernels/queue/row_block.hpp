// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace runner {

/// Rows that pass through the device at once, and the rows they need. Frame by frame the input
/// buffer holds rows [in_first, in_first + in_rows) and the output buffer rows
/// [out_first, out_first + out_rows), densely. Row numbers count within a frame and are *extended*:
/// a negative one, or one past the frame, stands beyond its border.
///
/// A needed row that the input buffer holds under its own number is taken from there. Any other
/// needed row lies beyond the frame's border; the operation's boundary rule maps it into the frame,
/// and the row it maps to is always held. With several frames both ranges are the whole frame.
struct RowBlock {
    std::int64_t frames = 1;
    std::int64_t in_first = 0;
    std::int64_t in_rows = 0;
    std::int64_t out_first = 0;
    std::int64_t out_rows = 0;

    bool operator==(const RowBlock&) const = default;
};

} // namespace runner
