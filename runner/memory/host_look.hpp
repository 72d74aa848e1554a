// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/queue/queue.hpp"
#include "runner/prepare/prepare.hpp"

#include <cstddef>
#include <memory>

namespace runner {

/// Does on the host what must be done there with the values of a pass's input before its job runs:
/// checks the rows, where the job does, and surveys them. Waits for the input in `queue`, and
/// copies it to the host piece by piece, in a build or on a queue where that is another memory.
/// Returns the job that knows the survey's findings; null where the pass's own job is ready.
/// @throws Error (input) for values that the job does not take.
std::unique_ptr<Job> look_at_input(Queue& queue, const PreparedJob& pass, const std::byte* input);

} // namespace runner
