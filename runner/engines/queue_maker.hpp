// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/queue/queue.hpp"

#include <functional>

namespace runner {

/// Makes one lane's queue.
using QueueMaker = std::function<Queue()>;

} // namespace runner
