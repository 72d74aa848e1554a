// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace runner {

/// The CRC-32 of .zip, gzip and PNG. `before`: of the bytes before these.
std::uint32_t crc32_of(std::span<const std::byte> bytes, std::uint32_t before = 0);

} // namespace runner
