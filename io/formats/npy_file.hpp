// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/dense_rows.hpp"
#include "io/rows/written_format.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace runner {

/// How many bytes of a .npy file parse_npy() needs: its header ends within them, or is refused.
inline constexpr std::int64_t npy_most_header = 1 << 16;

/// Reads a .npy file's header, version 1, 2 or 3. `head` holds the first npy_most_header bytes of
/// the file, or all of a shorter one, `file` its name for messages. Elements are the ten types,
/// float16 as bytes2, and bool as uint8. @throws Error (input) naming the byte.
DenseLayout parse_npy(std::span<const std::byte> head, const std::string& file);

/// The header of version 1 that numpy.save() would write: little-endian, in C order. Its length is
/// a multiple of 64. @throws Error (usage) for elements other than the ten types, and for more axes
/// than the header has room for.
std::string npy_header(const ArrayInfo& array);

/// @throws Error (input).
std::unique_ptr<RowReader> open_npy_reader(const std::string& file, int threads);

/// WrittenFormat's functions. @throws Error (usage).
DataPlace npy_place(const ArrayInfo& array);
void npy_structure(const ArrayInfo& array, const Axes& axes, const StructurePiece& piece);

} // namespace runner
