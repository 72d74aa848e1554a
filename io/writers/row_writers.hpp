// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/chunk_grid.hpp"
#include "io/rows/row_pieces.hpp"
#include "io/rows/rows.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace runner {

class FileAccess;

/// The writers behind open_output_rows(), one for each way to store a dataset.
std::unique_ptr<RowWriter> open_contiguous_writer(const OutputDataset& output, int threads);
/// The same of fields, taken apart fields_block_bytes (or a row) a thread.
std::unique_ptr<RowWriter> open_fields_writer(const OutputDataset& output, int threads);
std::unique_ptr<RowWriter> open_fields_writer(const OutputDataset& output,
                                              std::vector<std::int64_t> offsets, int threads);
/// Chunks without filters: written in place, where create_output() allocated them, or at
/// `addresses`, in the grid's order. What an edge chunk has beyond the array stays zero.
std::unique_ptr<RowWriter> open_chunk_writer(const OutputDataset& output, int threads);
std::unique_ptr<RowWriter> open_chunk_writer(const OutputDataset& output,
                                             std::vector<std::int64_t> addresses, int threads);
/// The writer of an output in parts: each part is written by one thread at a time.
std::unique_ptr<RowWriter> open_parts_writer(const OutputDataset& output, int threads);
/// Rows that go to other writers, which stand in the order of the pieces' sources.
std::unique_ptr<RowWriter> open_pieces_writer(const ArrayInfo& array, std::vector<RowPiece> pieces,
                                              std::vector<std::unique_ptr<RowWriter>> writers,
                                              int threads);
/// Packed chunks: in their files, of an output that places_chunks(), or appended to the rank's
/// shards. The second chooses the first where that is faster. Rows wait in up to `waiting` bytes
/// until chunks of several layers are whole (ChunkBands).
std::unique_ptr<RowWriter> open_placing_writer(const OutputDataset& output, int rank, int threads,
                                               std::int64_t attempt, std::int64_t waiting);
std::unique_ptr<RowWriter> open_packed_writer(const OutputDataset& output, int rank, int threads,
                                              std::int64_t attempt, std::int64_t waiting);

/// Compressed chunks of a finished output, stored again: in place where they take as many bytes as
/// before, else by `files`.
std::unique_ptr<RowWriter> open_stored_chunk_writer(FileAccess& files, const OutputDataset& output,
                                                    int threads);

/// Where each chunk of an unfiltered, allocated output lies in its file, in the grid's order.
/// @throws Error (output) when the file is not the one that create_output made.
std::vector<std::int64_t> chunk_addresses(const OutputDataset& output, const ChunkGrid& grid);

} // namespace runner
