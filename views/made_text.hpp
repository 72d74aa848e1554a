// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_info.hpp"

#include <cstdint>
#include <string>

namespace runner {

/// What a verb has made, a line for a person: "out.h5:/data: uint16 [512, 512], 512 KiB\n". The
/// dataset is left out of files whose format has one alone.
std::string made_text(const std::string& file, const std::string& dataset, const ArrayInfo& array);

/// The same of a picture.
std::string made_picture_text(const std::string& file, std::int64_t width, std::int64_t height);

/// The same of a sequence of files.
std::string made_sequence_text(std::int64_t count, const std::string& first,
                               const std::string& last);

} // namespace runner
