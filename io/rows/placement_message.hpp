// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/message.hpp"
#include "io/rows/placement.hpp"

#include <cstddef>
#include <optional>
#include <utility>

namespace runner {

/// The placement of a dataset of so many axes, which another process put as to_text().
/// @throws BadMessage.
inline Placement take_placement(MessageReader& from, std::size_t axes) {
    std::optional<Placement> placement = placement_of(from.text(), axes);
    if (!placement) {
        throw BadMessage("a placement is none");
    }
    return std::move(*placement);
}

} // namespace runner
