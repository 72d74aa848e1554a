// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"
#include "io/input/dataset_layout.hpp"
#include "runner/prepare/prepare.hpp"

#include <memory>
#include <span>
#include <string>

namespace runner {

/// Reads the rows of a dataset from outside: here where plain reads and our own unpacking do; else
/// by a process of its own that reads them with HDF5, within limits, and hands them over in shared
/// memory. `threads` ≥ 1. @throws Error (input): that the process crashed or gave no answer in
/// time; (launch).
std::unique_ptr<RowReader> open_probed_rows(const DatasetLayout& layout, const InputRules& rules,
                                            int threads);

/// Whether the program was started to serve rows, and what it does then until its standard input
/// ends.
bool is_row_server(std::span<const std::string> arguments);
ExitCode serve_rows(std::span<const std::string> arguments);

/// Reads the rows of a job's input, of the part that the job takes. `threads` ≥ 1. `kept_lines`: as
/// open_ordered_rows(). @throws Error as open_probed_rows().
std::unique_ptr<RowReader> open_input_rows(const PreparedJob& prepared, int threads,
                                           std::int64_t kept_lines = 0);

} // namespace runner
