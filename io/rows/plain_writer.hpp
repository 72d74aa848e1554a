// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"

#include <cstdint>
#include <memory>

namespace runner {

/// Rows in place in any file that is there, dense from byte `offset` on.
std::unique_ptr<RowWriter> open_plain_writer(const OutputDataset& output, std::int64_t offset,
                                             int threads);

} // namespace runner
