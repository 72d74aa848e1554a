// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/engines/engine.hpp"

namespace runner {

/// Runs every PermuteJob: run_permutation().
const Engine& permute_engine();

} // namespace runner
