// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/filters/codec.hpp"

namespace runner {

/// Filter 1, which h5py calls gzip: a zlib stream. By ISA-L.
Codec deflate_codec();

} // namespace runner
