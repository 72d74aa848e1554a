// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/filters/codec.hpp"

namespace runner {

/// Filter 4: the unpacked size in four bytes, the lowest first, then a stream of NASA's extended
/// Rice coding. By libaec. Parameters: options, pixels per block, bits per pixel, pixels per
/// scanline.
Codec szip_codec();

} // namespace runner
