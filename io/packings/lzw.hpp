// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace runner {

/// Unpacks TIFF's LZW: codes of 9 to 12 bits, the highest bit first, 256 to empty the table and 257
/// at the end; a code gets longer one entry before the table needs it. Ends when `to` is full too.
/// Returns how many bytes that were; nothing where the codes are damaged or are those of libtiff's
/// first versions (see is_early_lzw()).
std::optional<std::size_t> unpack_lzw(std::span<const std::byte> packed, std::span<std::byte> to);

/// Whether the stream begins as libtiff wrote it before 1990: codes with the lowest bit first.
bool is_early_lzw(std::span<const std::byte> packed);

} // namespace runner
