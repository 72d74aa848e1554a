// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace runner {

/// What a probe of an input may take.
struct ProbeLimits {
    std::int64_t memory = 0; ///< bytes of address space
    std::int64_t cpu_seconds = 0;
    std::int64_t seconds = 0; ///< of the clock: storage may be slow
    std::int64_t files = 0;   ///< open at once
};

/// For this file: a larger one may have more chunks to inspect.
ProbeLimits probe_limits(const std::string& file);

/// Sets them for this process, and that it leaves no core file; it ends by a signal where it passes
/// one of time. @throws Error (launch).
void enter_limits(const ProbeLimits& limits);

} // namespace runner
