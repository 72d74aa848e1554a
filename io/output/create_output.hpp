// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"

#include <cstdint>

namespace runner {

/// Makes the file with the whole dataset laid out: contiguous, or chunked without filters, it is
/// allocated and not filled; with compression it is filled in by assemble_output. Intermediate
/// groups are made. A file of another format gets its length and all but its elements. Nothing is
/// synced. Replaces a file of that name and removes its shards. Run by one rank, before any opens a
/// writer. @throws Error (output), and leaves no file then.
void create_output(const OutputDataset& output);

/// Brings the file that create_output made back to what it was then, but for the elements written
/// since: whatever a killed run left of HDF5's own structures, or of another format's header.
/// Compressed chunks stay in their shards. @throws Error (output) when the file is shorter than its
/// dataset.
void restore_output(const OutputDataset& output);

/// A checksum of where the elements lie in the file: rows written at one layout are at their place
/// in another only where both have the same. 0 with compression.
std::uint64_t layout_hash(const OutputDataset& output);

} // namespace runner
