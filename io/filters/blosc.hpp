// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/filters/codec.hpp"

namespace runner {

/// Filter 32001: a chunk of Blosc 1, with whichever of its codecs. By libblosc.
Codec blosc_codec();

} // namespace runner
