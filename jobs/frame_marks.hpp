// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/input/file_access.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace runner {

/// What the image_key of an NXtomo scan says of a frame.
inline constexpr std::int64_t projection_key = 0;
inline constexpr std::int64_t flat_key = 1;
inline constexpr std::int64_t dark_key = 2;

/// The numbers of a dataset that frames are chosen by, one integer for each of `frames`.
/// @throws Error (input).
std::vector<std::int64_t> read_frame_marks(const std::string& file, const std::string& dataset,
                                           std::int64_t frames, FileAccess& files);

} // namespace runner
