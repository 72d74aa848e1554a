// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace runner {

/// Windows that slide side by side.
inline constexpr int slide_lanes = 64;

/// `size` keys in ascending order for each lane: key i of a lane is slide_lanes keys behind its key
/// i − 1. From each lane's the key leaving[lane], which is among them, is taken and entering[lane]
/// is put in. Everything begins at multiples of 64 bytes.
void slide_windows(std::int16_t* windows, int size, const std::int16_t* leaving,
                   const std::int16_t* entering);
void slide_windows(std::int32_t* windows, int size, const std::int32_t* leaving,
                   const std::int32_t* entering);
void slide_windows(std::int64_t* windows, int size, const std::int64_t* leaving,
                   const std::int64_t* entering);

} // namespace runner
