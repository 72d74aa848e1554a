// SPDX-License-Identifier: BSD-3-Clause
#include "io/writers/packed_parts.hpp"

#include "io/files/hash.hpp"
#include "io/rows/chunk_grid.hpp"
#include "io/writers/shards.hpp"

#include <algorithm>

namespace runner {

PackedParts::PackedParts(const OutputDataset& output)
    : places_(index(ChunkGrid(output.array, output.layout).parts())) {
    for (const std::string& path : shard_paths(output)) {
        shards_.emplace_back(path, File::Mode::update);
        list(shards_.size() - 1);
    }
}

/// Up to the first bytes that are no record: there a killed run was cut short, after all that its
/// journal knows of.
void PackedParts::list(std::size_t shard) {
    const File& file = shards_[shard];
    const std::int64_t size = file.size();
    constexpr std::int64_t head = sizeof(ShardRecord);
    for (std::int64_t at = 0; size - at >= head;) {
        ShardRecord record;
        file.read(at, head, reinterpret_cast<std::byte*>(&record));
        at += head;
        if (record.check != check_of(record) || record.part < 0 ||
            record.part >= std::ssize(places_) || record.bytes < 0 || record.bytes > size - at) {
            return;
        }
        places_[index(record.part)].push_back({record.bytes, at, record.hash, shard});
        at += record.bytes;
    }
}

bool PackedParts::read(std::int64_t part, std::vector<std::byte>& bytes) const {
    const std::vector<Place>& places = places_.at(index(part));
    return std::any_of(places.begin(), places.end(), [&](const Place& place) {
        bytes.resize(static_cast<std::size_t>(place.bytes));
        shards_[place.shard].read(place.offset, place.bytes, bytes.data());
        return hash_bytes(bytes.data(), place.bytes) == place.hash;
    });
}

} // namespace runner
