// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace runner {

/// Turns the bytes of each of `count` elements of `size` bytes (1, 2, 4 or 8) round.
void swap_bytes(std::byte* elements, std::int64_t count, std::int64_t size);

} // namespace runner
