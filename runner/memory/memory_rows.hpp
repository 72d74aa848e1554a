// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace runner {

/// Reads the rows of a dense, row-major array at `data`, which outlives the reader. `threads` ≥ 1
/// copy at once.
std::unique_ptr<RowReader> open_memory_rows(const DatasetInfo& info, const std::byte* data,
                                            int threads);

/// An array that a job writes into.
struct MemoryField {
    std::int64_t row_bytes = 0;
    std::byte* data = nullptr;
};

/// Writes rows into arrays. A row of the output is a row of each field, one after the other. The
/// arrays outlive the writer, and nothing is synced.
std::unique_ptr<RowWriter> open_memory_writer(std::span<const MemoryField> fields, int threads);

} // namespace runner
