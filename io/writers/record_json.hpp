// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace runner {

/// The lines of an output's record (io/output/beside_record.hpp) as JSON:
///
///   {
///     "runner": ".ome.zarr output 3",
///     "bytes": 4096128,
///     "modified": "1795310460000000005 ns",
///     "identity": ["kind = convolve", …],
///     "record": {"array": …, "attributes": …, "row_hashes_checksum": "…"},
///     "checksum": "…",                        of the lines, as there
///     "row_hashes": [[first row, rows, "hash"], …]
///   }

/// `lines`: of a record of version 3.
std::string record_json(std::string_view lines);

/// The lines that record_json() has made a text of. @throws JsonError for another text.
std::string record_lines(std::string_view json);

} // namespace runner
