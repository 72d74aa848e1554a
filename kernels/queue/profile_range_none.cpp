// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/queue/profile_range.hpp"

// The build without CUDA has no profiler to tell.
namespace runner {

ProfileRange::ProfileRange(const char* /*name*/) {}

ProfileRange::~ProfileRange() = default;

} // namespace runner
