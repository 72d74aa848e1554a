// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows.hpp"

#include <memory>
#include <string>

namespace runner {

/// The writers behind open_output_rows(), one for each way to store a dataset.
std::unique_ptr<RowWriter> open_contiguous_writer(const OutputDataset& output, int threads);
/// Chunks without filters: written in place, where create_output() allocated them. What an edge
/// chunk has beyond the array stays zero.
std::unique_ptr<RowWriter> open_chunk_writer(const OutputDataset& output, int threads);
/// Compressed chunks: appended to the rank's shard.
std::unique_ptr<RowWriter> open_packed_writer(const OutputDataset& output, int rank, int threads);

/// Compressed chunks of a finished output, stored anew.
std::unique_ptr<RowWriter> open_stored_chunk_writer(const OutputDataset& output, int threads);

/// Stands between the output's name and the rank's number in the name of a shard.
inline constexpr const char* shard_mark = ".shard-";

/// The file that holds a rank's compressed chunks until assemble_output(): records of a
/// ShardRecord and the chunk's bytes, in the order in which they were done.
std::string shard_path(const OutputDataset& output, int rank);

struct ShardRecord {
    std::int64_t chunk = 0; ///< its index in ChunkGrid's order
    std::int64_t bytes = 0; ///< after this record
};

} // namespace runner
