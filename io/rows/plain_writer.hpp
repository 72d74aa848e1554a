// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace runner {

/// Rows in place in any file that is there, dense from byte `offset` on.
std::unique_ptr<RowWriter> open_plain_writer(const OutputDataset& output, std::int64_t offset,
                                             int threads);

/// @throws Error (output): another program changed the output while it was being written. `where`:
/// the file, or the part of it.
[[noreturn]] void refuse_changed_output(const std::string& where);

} // namespace runner
