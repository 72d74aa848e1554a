// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/queue/queue.hpp"
#include "runner/memory/in_core_job.hpp"

#include <cstddef>
#include <span>

namespace runner {

/// One pass of an InCoreJob, under the terms of InCoreJob::run().
void run_in_core(Queue& queue, const PreparedJob& pass, const std::byte* input,
                 std::span<std::byte* const> outputs, const TakeMemory& take,
                 const InCoreLimits& limits);

} // namespace runner
