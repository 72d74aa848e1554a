// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/filters/codec.hpp"

namespace runner {

/// Filter 2: the byte planes of the elements (split_bytes()), then what is left of an element. Its
/// parameter is the element's size.
Codec shuffle_codec();

/// Packs as the filter does. `element_bytes` ≥ 1; `to`: as many bytes as `from`, not overlapping.
void shuffle(Bytes from, std::size_t element_bytes, std::byte* to);

} // namespace runner
