// SPDX-License-Identifier: BSD-3-Clause
#include "io/filters/crc32.hpp"

#include <zlib.h>

namespace runner {

std::uint32_t crc32_of(std::span<const std::byte> bytes, std::uint32_t before) {
    return static_cast<std::uint32_t>(
        ::crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

} // namespace runner
