// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace runner {

/// The one array whose rows are those of all fields side by side: of bytes.
ArrayInfo joined_array(std::span<const OutputField> fields);

/// The datasets of these names as the fields of an output, in that order.
/// @throws Error (input) as inspect_dataset(), and where they have not as many rows.
std::vector<OutputField> inspect_fields(const std::string& file,
                                        std::span<const std::string> datasets);

/// Reads rows of the joined array. `threads` as open_rows().
std::unique_ptr<RowReader> open_fields(const std::string& file, std::span<const OutputField> fields,
                                       int threads);

/// open_rows() of an output, whether of one dataset or of fields.
std::unique_ptr<RowReader> open_output_reader(const OutputDataset& output, int threads);

} // namespace runner
