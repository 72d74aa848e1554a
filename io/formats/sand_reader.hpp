// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"

#include <memory>
#include <string>

namespace runner {

/// What inspect_dataset() and open_rows() say of a .sand file.
DatasetInfo inspect_sand(const std::string& file);
std::unique_ptr<RowReader> open_sand_reader(const std::string& file, int threads);

} // namespace runner
