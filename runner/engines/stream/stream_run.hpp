// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/engines/engine.hpp"

namespace runner::stream {

/// Runs every StreamJob: run_stream().
const Engine& engine();

} // namespace runner::stream
