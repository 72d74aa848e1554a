// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/engines/engine.hpp"

namespace runner {

/// Runs every EvolveJob: run_evolution().
const Engine& evolve_engine();

} // namespace runner
