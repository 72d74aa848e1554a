// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/filters/codec.hpp"

namespace runner {

/// Filter 32000, h5py's "lzf": runs of literal bytes and references at most 8 KiB back.
///
/// A control byte c below 32 stands before c + 1 literal bytes. Any other has the length of a
/// reference less 2 in its upper three bits (7: plus the next byte), and the upper five bits of
/// the distance less 1; the byte behind has the lower eight.
Codec lzf_codec();

} // namespace runner
