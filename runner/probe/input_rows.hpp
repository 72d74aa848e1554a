// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/prepare/prepare.hpp"

#include <memory>

namespace runner {

/// Reads the rows of a job's input, of the part that the job takes. `threads` ≥ 1. @throws Error as
/// open_probed_rows().
std::unique_ptr<RowReader> open_input_rows(const PreparedJob& prepared, int threads);

} // namespace runner
