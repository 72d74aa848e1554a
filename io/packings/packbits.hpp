// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace runner {

/// Unpacks Apple's PackBits: a byte n below 128 stands before n + 1 literal bytes, one above 128
/// before a byte that is repeated 257 - n times; 128 means nothing. Each line of `line` bytes is
/// packed by itself; 0: they are not. Ends when `to` is full. Returns how many bytes that were;
/// nothing where the bytes end within a run or a run passes the end of its line.
std::optional<std::size_t> unpack_packbits(std::span<const std::byte> packed, std::size_t line,
                                           std::span<std::byte> to);

} // namespace runner
