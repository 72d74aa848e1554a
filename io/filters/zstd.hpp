// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/filters/codec.hpp"

namespace runner {

/// Filter 32015: zstd frames. Its parameter is the level.
Codec zstd_codec();

} // namespace runner
