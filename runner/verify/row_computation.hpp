// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"
#include "runner/plan/prepare.hpp"
#include "runner/verify/compute_rows.hpp"

#include <cstdint>
#include <functional>

namespace runner {

/// RowComputer::compute(), for jobs of any engine that has it.
using ComputeRows = std::function<void(RowRange rows, const RowComputer::Take& take)>;

/// How rows of the job's output are computed apart from the engine; empty where they cannot be, of
/// a state that evolves. Job and reader outlive it. `alignment`: of the output's storage.
ComputeRows row_computation(const PreparedJob& prepared, RowReader& input, std::int64_t alignment,
                            int threads);

} // namespace runner
