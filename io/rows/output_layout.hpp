// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

namespace runner {

/// What a file is; its name's ending says it.
enum class FileFormat { hdf5, sand };

enum class Compression { none, deflate, zstd };

/// How an output dataset is stored. A .sand file has none of what HDF5 has: no chunks, no
/// compression.
struct OutputLayout {
    std::vector<std::int64_t> chunk; ///< extents of a chunk, one per axis; empty: contiguous
    Compression compression = Compression::none; ///< only with chunks
    int level = 1;                               ///< deflate 0–9 (ISA-L has 0–3), zstd 1–22
    bool shuffle = false; ///< bytes of equal weight side by side before compressing
    FileFormat format = FileFormat::hdf5;

    bool operator==(const OutputLayout&) const = default;
};

} // namespace runner
