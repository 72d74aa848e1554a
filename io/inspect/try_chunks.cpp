// SPDX-License-Identifier: BSD-3-Clause
#include "io/inspect/try_chunks.hpp"

#include "io/files/file.hpp"
#include "io/filters/unpacker.hpp"
#include "io/hdf5/hdf5_dataset.hpp"

#include <algorithm>

namespace runner {
namespace {

/// The first element of a chunk.
std::vector<std::int64_t> start_of(const ChunkPlace& chunk, const DatasetInfo& info) {
    std::vector<std::int64_t> start(info.chunk.size());
    std::int64_t index = chunk.index;
    for (std::size_t axis = start.size(); axis-- > 0;) {
        const std::int64_t extent = info.chunk[axis];
        const std::int64_t count = (info.array.shape[axis] + extent - 1) / extent;
        start[axis] = index % count * extent;
        index /= count;
    }
    return start;
}

std::int64_t chunk_bytes(const DatasetInfo& info) {
    return byte_count({info.array.type, info.chunk});
}

} // namespace

std::vector<ChunkPlace> chunks_to_try(const std::vector<ChunkPlace>& chunks,
                                      const DatasetInfo& info) {
    constexpr std::int64_t most = 256; // each takes a read of the file
    if (chunks.empty()) {
        return {};
    }
    const std::int64_t count =
        std::min({most, tried_bytes / chunk_bytes(info), std::ssize(chunks)});
    return {chunks.begin(), chunks.begin() + count};
}

void try_chunks(const std::string& holder, const PropertyHandle& creation, const DatasetInfo& info,
                std::span<const ChunkPlace> chunks, const std::string& where) {
    const std::vector<Filter> filters = filters_of(creation);
    unsigned options = 0; // of chunks across the array's edge, which may be stored as they are
    if (chunks.empty() || !Unpacker::knows(filters) ||
        H5Pget_chunk_opts(creation.get(), &options) < 0 || options != 0) {
        return;
    }
    const File file(holder, File::Mode::read);
    Unpacker unpacker(filters, chunk_bytes(info));
    std::vector<std::byte> packed;
    for (const ChunkPlace& chunk : chunks) {
        if (chunk.bytes == 0) {
            continue; // known to be bad
        }
        packed.resize(static_cast<std::size_t>(chunk.bytes));
        file.read(chunk.offset, chunk.bytes, packed.data());
        (void)unpacker.unpack(packed, chunk.skipped,
                              where + ", chunk from " + shape_text(start_of(chunk, info)));
    }
}

} // namespace runner
