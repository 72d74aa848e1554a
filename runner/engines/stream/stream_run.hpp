// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/engines/engine.hpp"

namespace runner {

/// Runs every StreamJob: run_stream().
const Engine& stream_engine();

} // namespace runner
