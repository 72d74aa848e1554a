// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_info.hpp"

namespace runner {

/// IEEE numbers of 16 bits in this machine's byte order, which HDF5 files hold as elements of two
/// bytes (ElementType::bytes2).
StoredType float16_type();

/// The texts of such elements of either byte order, as StoredType::text.
inline constexpr const char* float16_text = "float16";
inline constexpr const char* swapped_float16_text = "big-endian float16";

} // namespace runner
