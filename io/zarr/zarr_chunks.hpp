// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/stored_rows.hpp"
#include "io/zarr/zarr_array.hpp"
#include "io/zarr/zarr_store.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace runner {

/// More are not listed: the list would take too long, and too much memory.
inline constexpr std::int64_t most_chunk_files = std::int64_t{1} << 20;

/// Where the stored chunks of an array lie.
struct ZarrChunks {
    std::vector<std::string> files;     ///< by their own paths
    std::vector<ChunkPlace> places;     ///< in the order of their indices
    std::vector<ArchiveMember> members; ///< of an archive, in the order of their places
    FileMarks marks;                    ///< of the files
    std::int64_t stored_bytes = 0;
};

/// Lists the files of an array's chunks and reads the indexes of its shards. `name`: of the array
/// in the store. `where`: the array, for messages. Chunks beyond the array are left out. @throws
/// Error (input) naming array, chunk and file, where a file is too short or an index is damaged;
/// with BadChunks::mark all chunks of such a file are listed without bytes.
ZarrChunks list_zarr_chunks(ZarrStore& store, const std::string& name, const ZarrArray& array,
                            const std::string& where, InputRules::BadChunks bad_chunks);

} // namespace runner
