// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_info.hpp"
#include "base/error.hpp"
#include "io/rows/output_layout.hpp"

#include <cstdint>
#include <string>

namespace runner {

/// Rows of a frame that an output chunk spans, its extents first cut to the array's; a chunk is
/// below 4 GiB. A rank's slab and a
/// write must begin on a multiple of it within each frame of `array.shape[n-2]` rows (one frame of
/// `shape[0]` rows where there is one axis), and end on one or with the frame. 1 when contiguous.
/// Another format says it by its WrittenFormat: where rows may share a byte, the rows after which
/// one begins on a byte border.
/// @throws Error (usage) for a layout that rows cannot be written in.
std::int64_t row_alignment(const ArrayInfo& array, const OutputLayout& layout);

/// The error with the output's name before where it happened; FILE.partial as FILE.
Error of_output(const Error& error, const std::string& file);

/// Bytes that the elements take in the file; with compression, at most.
std::int64_t output_bytes(const ArrayInfo& array, const OutputLayout& layout);

/// The same and what coarser levels of an image take at most until they are packed.
std::int64_t bytes_with_levels(const ArrayInfo& array, const OutputLayout& layout);

/// Disk space in `folder` that an output takes until it is complete; with compression, at most. The
/// elements of several files without compression are in shards too, unless they are placed
/// (io/writers/placed_chunks.hpp), and coarser levels of an image are stored unpacked first.
std::int64_t output_room(const ArrayInfo& array, const OutputLayout& layout,
                         const std::string& folder);

/// Memory that a writer with so many threads takes beside the caller's, at most. Same errors.
std::int64_t writer_bytes(const ArrayInfo& array, const OutputLayout& layout, int threads);

} // namespace runner
