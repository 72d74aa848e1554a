// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/engines/engine.hpp"

namespace runner::evolve {

/// Runs every EvolveJob: run_evolution().
const Engine& engine();

} // namespace runner::evolve
