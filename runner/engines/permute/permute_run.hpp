// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/engines/engine.hpp"

namespace runner::permute {

/// Runs every PermuteJob: run_permutation().
const Engine& engine();

} // namespace runner::permute
