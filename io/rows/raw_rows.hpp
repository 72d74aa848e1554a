// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/dense_rows.hpp"

#include <memory>
#include <string>

namespace runner {

/// Elements that follow one another in a file which does not say what they are: `layout` does, but
/// for its storage. @throws Error (input).
std::unique_ptr<RowReader> open_raw_rows(const std::string& file, DenseLayout layout, int threads);

} // namespace runner
