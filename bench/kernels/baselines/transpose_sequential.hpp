// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/transpose/transpose.hpp"

namespace runner {

/// The plain loops on one core that the published speedups are relative to: reads in order, writes
/// where they fall. Elements of 4 or 8 bytes.
void transpose_sequential(const Transposition& transposition, const std::byte* in, std::byte* out);

} // namespace runner
