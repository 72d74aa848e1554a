// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace runner {

/// Rows in place in any file that is there, dense from byte `offset` on.
std::unique_ptr<RowWriter> open_plain_writer(const OutputDataset& output, std::int64_t offset,
                                             int threads);

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
/// Compressed chunks: appended to the rank's shard.
std::unique_ptr<RowWriter> open_packed_writer(const OutputDataset& output, int threads,
                                              const std::string& shard);

/// A .sand file: what create_output(), restore_output(), row_alignment() and open_output_rows() do
/// for it.
void create_sand(const OutputDataset& output);
void restore_sand(const OutputDataset& output);
std::int64_t sand_alignment(const ArrayInfo& array, const OutputLayout& layout);
std::unique_ptr<RowWriter> open_sand_writer(const OutputDataset& output, int threads);

/// Compressed chunks of a finished output, stored again: in place where they take as many bytes as
/// before, else by `files`.
std::unique_ptr<RowWriter> open_stored_chunk_writer(FileAccess& files, const OutputDataset& output,
                                                    int threads);

/// A shard is a file that holds a rank's compressed parts of chunks (ChunkGrid) until
/// assemble_output(): ShardRecords, each followed by the part's bytes, in the order in which they
/// were done. A run that was killed may leave anything after the last part that its journal knows
/// of.
struct ShardRecord {
    std::int64_t part = 0;   ///< its index in ChunkGrid's order
    std::int64_t bytes = 0;  ///< after this record
    std::uint64_t hash = 0;  ///< hash_bytes() of them
    std::uint64_t check = 0; ///< hash_bytes() of the fields above
};

/// The check that a record's other fields call for.
std::uint64_t check_of(const ShardRecord& record);

std::string shard_path(const OutputDataset& output, int rank, std::int64_t generation);

/// All shards there are, of whichever run, by name.
std::vector<std::string> shard_paths(const OutputDataset& output);

} // namespace runner
