// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"

#include <memory>
#include <string>

namespace runner {

/// Plain reads of a file whose elements lie dense from `info.offset` on. @throws Error (input).
std::unique_ptr<RowReader> open_positional_reader(const std::string& file, DatasetInfo info,
                                                  int threads);

} // namespace runner
