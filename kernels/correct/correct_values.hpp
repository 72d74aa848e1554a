// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/correct/correct.hpp"

#include <cstdint>

namespace runner {

/// Replaces `count` values of a row by the corrected ones, with the widest vectors there are; the
/// fields' images begin at the row's first pixel. Returns how many were raised to the floor.
std::uint64_t correct_values(const Correct& correct, std::int64_t count, const CorrectField& dark,
                             const CorrectField& flat, float* values);

} // namespace runner
