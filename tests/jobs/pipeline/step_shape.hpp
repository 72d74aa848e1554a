// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/pipeline/step_chain.hpp"

#include <cstdint>

namespace runner {

/// What a chain asks of a step's rows; the rest is left as it is.
inline StreamShape shape(std::int64_t frames, std::int64_t rows, std::int64_t halo,
                         RowBorder border = RowBorder::inside, OutputRows made = {}) {
    StreamShape shape;
    shape.frames = frames;
    shape.rows = rows;
    shape.halo = halo;
    shape.border = border;
    shape.made = made;
    return shape;
}

} // namespace runner
