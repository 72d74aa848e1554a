// SPDX-License-Identifier: BSD-3-Clause
#include "io/output/intact_rows.hpp"

#include "io/hdf5/of_output.hpp"
#include "io/rows/chunk_grid.hpp"
#include "io/rows/row_geometry.hpp"
#include "io/rows/written_format.hpp"
#include "io/writers/output_fields.hpp"
#include "io/writers/packed_parts.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>

namespace runner {
namespace {

using Look = std::function<bool(const RowHash&)>;

constexpr std::size_t looked_at = 8;

/// The rows that stand the test: of few, or of all.
std::vector<RowHash> those_that(const Look& stand, const std::vector<RowHash>& rows,
                                RowCheck check) {
    if (check == RowCheck::few && rows.size() > looked_at) {
        bool good = true;
        for (std::size_t i = 0; i < looked_at && good; ++i) {
            good = stand(rows[(rows.size() - 1) * i / (looked_at - 1)]);
        }
        if (good) {
            return rows;
        }
    }
    std::vector<RowHash> intact;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(intact), stand);
    return intact;
}

/// Compressed: every part of a chunk must be in a shard; of those checked the bytes are read.
std::vector<RowHash> intact_packed(const OutputDataset& output, const std::vector<RowHash>& rows,
                                   RowCheck check) {
    const PackedParts parts(output);
    const ChunkGrid grid(output.array, output.layout);
    const auto every_part = [&](const RowHash& run, const std::function<bool(std::int64_t)>& is) {
        auto [part, end] = grid.parts_of(run.first, run.rows);
        while (part < end && is(part)) {
            ++part;
        }
        return part == end;
    };
    std::vector<RowHash> listed;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(listed), [&](const RowHash& run) {
        return every_part(run, [&](std::int64_t part) { return parts.has(part); });
    });
    std::vector<std::byte> bytes;
    return those_that(
        [&](const RowHash& run) {
            return every_part(run, [&](std::int64_t part) { return parts.read(part, bytes); });
        },
        listed, check);
}

} // namespace

std::vector<RowHash> intact_rows(const OutputDataset& output, const std::vector<RowHash>& rows,
                                 RowCheck check) {
    if (rows.empty()) {
        return rows;
    }
    if (output.layout.compression != Compression::none) {
        return intact_packed(output, rows, check);
    }
    const std::unique_ptr<RowReader> reader = of_output([&] {
        return output.layout.is_hdf5() ? open_output_reader(output, 1)
                                       : output.layout.format->open_reader(output, 1);
    });
    std::vector<std::byte> bytes;
    return those_that(
        [&](const RowHash& run) {
            bytes.resize(static_cast<std::size_t>(run.rows * row_bytes(output.array)));
            of_output([&] { reader->read(run.first, run.rows, bytes.data()); });
            return hash_bytes(bytes.data(), std::ssize(bytes)) == run.hash;
        },
        rows, check);
}

} // namespace runner
