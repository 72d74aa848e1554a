// SPDX-License-Identifier: BSD-3-Clause
#include "io/output/intact_rows.hpp"

#include "base/sizes.hpp"
#include "io/files/hash.hpp"
#include "io/hdf5/hdf5_handle.hpp"
#include "io/rows/chunk_grid.hpp"
#include "io/rows/row_geometry.hpp"
#include "io/rows/written_format.hpp"
#include "io/writers/output_fields.hpp"
#include "io/writers/shards.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

namespace runner {
namespace {

constexpr std::size_t looked_at = 8;
constexpr std::int64_t piece_bytes = 16 * MiB;

/// The rows that stand the test: of few, or of all.
IntactRows those_that(const RowTest& stand, const std::vector<RowHash>& rows, RowCheck check) {
    if (check == RowCheck::few && rows.size() > looked_at) {
        bool good = true;
        for (std::size_t i = 0; i < looked_at && good; ++i) {
            good = stand(rows[(rows.size() - 1) * i / (looked_at - 1)]);
        }
        if (good) {
            return {rows, false};
        }
    }
    IntactRows intact;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(intact.rows), stand);
    return intact;
}

/// Whether a test of every part of a chunk that the run has holds.
template <class Test> bool every_part(const ChunkGrid& grid, const RowHash& run, Test test) {
    auto [part, end] = grid.parts_of(run.first, run.rows);
    while (part < end && test(part)) {
        ++part;
    }
    return part == end;
}

/// Compressed: every part of a chunk, or the chunk, must be in a shard, as it was packed. A chunk
/// is read once, whatever runs have its layers.
RowTest packed_test(std::shared_ptr<const PackedPieces> pieces, const ChunkGrid& grid) {
    return [pieces = std::move(pieces), grid, bytes = std::vector<std::byte>(),
            chunks = std::map<std::int64_t, bool>()](const RowHash& run) mutable {
        const auto has_chunk = [&](std::int64_t piece) {
            const auto known = chunks.find(piece);
            return known != chunks.end()
                       ? known->second
                       : chunks.emplace(piece, pieces->read(piece, bytes)).first->second;
        };
        return every_part(grid, run, [&](std::int64_t part) {
            const std::int64_t chunk = grid.piece_of(grid.place_of(part).chunk);
            return (chunk != part && pieces->has(chunk) && has_chunk(chunk)) ||
                   pieces->read(part, bytes);
        });
    };
}

RowTest plain_test(const OutputDataset& output, int threads) {
    const std::shared_ptr<RowReader> reader = of_output([&] {
        return output.layout.is_hdf5() ? open_output_reader(output, threads)
                                       : output.layout.format->open_reader(output, threads);
    });
    const std::int64_t row = row_bytes(output.array);
    const std::int64_t most = std::max<std::int64_t>(1, piece_bytes / row);
    return [reader, row, most, bytes = std::vector<std::byte>()](const RowHash& run) mutable {
        BytesHasher hasher;
        for (std::int64_t done = 0; done < run.rows; done += most) {
            const std::int64_t count = std::min(most, run.rows - done);
            bytes.resize(static_cast<std::size_t>(count * row));
            of_output([&] { reader->read(run.first + done, count, bytes.data()); });
            hasher.add(bytes.data(), std::ssize(bytes));
        }
        return hasher.hash() == run.hash;
    };
}

} // namespace

IntactRows intact_rows(const OutputDataset& output, const std::vector<RowHash>& rows,
                       RowCheck check) {
    if (rows.empty()) {
        return {};
    }
    if (!is_packed(output.layout)) {
        return those_that(plain_test(output, 1), rows, check);
    }
    const auto pieces = std::make_shared<const PackedPieces>(output);
    const ChunkGrid grid(output.array, output.layout);
    std::vector<RowHash> listed;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(listed), [&](const RowHash& run) {
        return every_part(grid, run, [&](std::int64_t part) {
            return pieces->has(part) || pieces->has(grid.piece_of(grid.place_of(part).chunk));
        });
    });
    return those_that(packed_test(pieces, grid), listed, check);
}

RowTest open_row_test(const OutputDataset& output, int threads) {
    return !is_packed(output.layout) ? plain_test(output, threads)
                                     : packed_test(std::make_shared<const PackedPieces>(output),
                                                   ChunkGrid(output.array, output.layout));
}

} // namespace runner
