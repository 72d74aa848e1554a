// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/filters/codec.hpp"

namespace runner {

/// Filter 307: a bzip2 stream. By libbz2.
Codec bzip2_codec();

} // namespace runner
