// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"

#include <memory>

namespace runner {

/// The texts of numbers of 16 bits as StoredType has them, which files hold as elements of two
/// bytes (ElementType::bytes2), in this machine's byte order and in the other.
inline constexpr const char* float16_text = "float16";
inline constexpr const char* swapped_float16_text = "big-endian float16";

/// Whether the elements are numbers of 16 bits, of either byte order.
bool is_float16(const ArrayInfo& array);

/// Rows of float32 where those of `rows` are float16; else `rows` itself. They are made in the
/// caller's memory.
std::unique_ptr<RowReader> open_widened_rows(std::unique_ptr<RowReader> rows);

} // namespace runner
