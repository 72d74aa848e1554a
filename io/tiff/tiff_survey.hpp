// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/stored_rows.hpp"

#include <string>

namespace runner {

/// Finds where a TIFF file has its strips and tiles, and how they are packed, by libtiff: call this
/// in a process that may be lost. Pages without compression are read at positions; those in
/// deflate, zstd, LZW and PackBits, also with a predictor, by chunks; others by libtiff.
/// @throws Error (input).
StoredRows survey_tiff(const std::string& file);

} // namespace runner
