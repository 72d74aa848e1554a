// SPDX-License-Identifier: BSD-3-Clause
#include "io/rows/rows.hpp"

#include "io/files/io_threads.hpp"
#include "io/rows/row_geometry.hpp"

#include <algorithm>
#include <vector>

namespace runner {

void RowReader::read_runs(const RowRuns& runs, std::byte* to) {
    const ArrayInfo& array = info().array;
    if (array.shape.size() == 1) {
        return read(runs.first_column, runs.columns, to);
    }
    const std::int64_t row = row_bytes(array);
    const std::int64_t wanted = runs.columns * size_of(array.type);
    const std::int64_t skipped = runs.first_column * size_of(array.type);
    const std::int64_t most =
        wanted == row ? runs.rows : std::clamp<std::int64_t>(io_block_bytes / row, 1, runs.rows);
    std::vector<std::byte> whole(static_cast<std::size_t>(wanted == row ? 0 : most * row));
    for (std::int64_t run = 0; run < runs.runs; ++run) {
        const std::int64_t first = runs.first + run * runs.stride;
        for (std::int64_t done = 0; done < runs.rows; done += most) {
            const std::int64_t count = std::min(most, runs.rows - done);
            if (wanted == row) {
                read(first + done, count, to);
            } else {
                read(first + done, count, whole.data());
                for (std::int64_t i = 0; i < count; ++i) {
                    std::copy_n(whole.data() + i * row + skipped, wanted, to + i * wanted);
                }
            }
            to += count * wanted;
        }
    }
}

void RowReader::read_scattered(std::span<const ScatteredRows> all) {
    const std::int64_t row = row_bytes(info().array);
    const std::int64_t most = std::max<std::int64_t>(1, scattered_rows_bytes / row);
    std::vector<std::byte> dense;
    for (const auto& [first, rows, to, pitch] : all) {
        for (std::int64_t done = 0; done < rows; done += most) {
            const std::int64_t count = std::min(most, rows - done);
            dense.resize(static_cast<std::size_t>(count * row));
            read(first + done, count, dense.data());
            for (std::int64_t i = 0; i < count; ++i) {
                std::copy_n(dense.data() + i * row, row, to + (done + i) * pitch);
            }
        }
    }
}

void RowWriter::write_runs(std::span<const RowsInMemory> runs) {
    for (const auto& [first, rows, data] : runs) {
        write(first, rows, data);
    }
}

} // namespace runner
