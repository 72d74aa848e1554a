// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/byte_source.hpp"
#include "io/rows/rows.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// value = slope · stored + intercept, in float64, the product rounded before the sum.
struct Scale {
    double slope = 1;
    double intercept = 0;
};

/// How a dense array lies in the bytes of a format whose header is read by now.
struct DenseLayout {
    ArrayInfo array;         ///< its shape, and the type that the bytes have
    std::int64_t offset = 0; ///< of the first element
    enum class Bytes { little_endian, big_endian } bytes = Bytes::little_endian;
    DatasetInfo::Order order = DatasetInfo::Order::last_fastest;
    std::optional<Scale> scale;      ///< elements are read as float64 then; of last_fastest alone
    Axes axes;                       ///< as DatasetInfo's
    std::string storage;             ///< as DatasetInfo's
    std::vector<std::string> unkept; ///< as DatasetInfo's
    std::vector<std::string> notes;
};

/// Reads it, `threads` ≥ 1 at once where the source lets them. `file` names the source; `what` is
/// that of its errors. Beside the caller's memory: 1 MiB a thread.
/// @throws Error (input) for a shape without elements or of more bytes than 63 bits, and where the
/// source is known to be too short.
std::unique_ptr<RowReader> open_dense_rows(std::unique_ptr<ByteSource> source,
                                           const std::string& file, const std::string& what,
                                           DenseLayout layout, int threads);

/// Adds a note where more follows the array in a file of so many bytes.
void note_rest(DenseLayout& layout, const std::string& file, std::int64_t file_bytes);

/// Refuses what cannot be read of a shape out of a file. @throws Error (input).
void check_readable_shape(const ArrayInfo& array, const std::string& file, const std::string& what);

/// Elements that follow one another in a file which does not say what they are: `layout` does, but
/// for its storage. @throws Error (input).
std::unique_ptr<RowReader> open_raw_rows(const std::string& file, DenseLayout layout, int threads);

/// Rows in place in any file that is there, dense from byte `offset` on.
std::unique_ptr<RowWriter> open_plain_writer(const OutputDataset& output, std::int64_t offset,
                                             int threads);

/// @throws Error (output): another program changed the output while it was being written. `where`:
/// the file, or the part of it.
[[noreturn]] void refuse_changed_output(const std::string& where);

} // namespace runner
