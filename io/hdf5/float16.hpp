// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_info.hpp"

namespace runner {

/// IEEE numbers of 16 bits in this machine's byte order, which HDF5 files hold as elements of two
/// bytes (ElementType::bytes2).
StoredType float16_type();

} // namespace runner
