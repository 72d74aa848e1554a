// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"
#include "io/writers/row_hashes.hpp"
#include "runner/plan/row_set.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace runner::verify {

/// Checksums of a dataset's elements as an array has them, whatever their place in the file, their
/// chunks, parts and compression.
struct DatasetDigest {
    std::string dataset; ///< "/image"
    std::string type;    ///< "float32"; of elements that are no numbers how the file calls them
    std::vector<std::int64_t> shape;
    std::int64_t rows_per_checksum = 1;
    /// hash_bytes() of so many rows each, the last of the rows that are left.
    std::vector<std::uint64_t> row_checksums;
    std::string checksum; ///< Digest of all elements

    std::int64_t rows() const;
};

/// What a DatasetDigest calls the elements of an array.
std::string element_name(const ArrayInfo& array);

/// The rows of a checksum that keep their number at 4096 or fewer.
std::int64_t usual_rows_per_checksum(std::int64_t rows);

/// What digest_rows() is to read.
struct DigestRequest {
    /// The datasets whose rows stand side by side in a row of the reader (join_fields()); of one
    /// dataset it alone.
    std::vector<OutputField> fields;
    std::int64_t rows_per_checksum = 1;
    std::span<const RowHash> runs = {}; ///< of all rows, to compare in the same pass; or none
};

struct DigestedRows {
    std::vector<DatasetDigest> datasets; ///< one per field
    std::optional<RowRange> wrong;       ///< the first of the runs whose checksum differs
};

/// Reads all rows once, in bounded memory. @throws Error (input).
DigestedRows digest_rows(RowReader& reader, const DigestRequest& request);

} // namespace runner::verify
