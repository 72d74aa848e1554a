// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/input/dataset_layout.hpp"
#include "io/rows/rows.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace runner {

/// The one array whose rows are those of all fields side by side: of bytes.
ArrayInfo joined_array(std::span<const OutputField> fields);

/// Datasets of a file as the fields of an output, in that order.
/// @throws Error (input) where they have not as many rows.
std::vector<OutputField> fields_of(std::span<const DatasetLayout> layouts);

/// Reads rows of the joined array by a reader for each field.
std::unique_ptr<RowReader> join_fields(std::span<const OutputField> fields,
                                       std::vector<std::unique_ptr<RowReader>> readers);

/// open_rows() of an output that this run makes, whether of one dataset or of fields.
std::unique_ptr<RowReader> open_output_reader(const OutputDataset& output, int threads);

} // namespace runner
