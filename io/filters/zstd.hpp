// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/filters/codec.hpp"

#include <cstddef>
#include <span>

struct ZSTD_CCtx_s;

namespace runner {

/// Packs bytes as a frame of zstd into the front of `to`, which has room for them, and returns how
/// many there are. @throws OutOfMemory, which the context takes when it is first used;
/// Error (defect).
std::size_t pack_zstd(Bytes from, std::span<std::byte> to, ZSTD_CCtx_s& context, int level);

} // namespace runner
