// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <exception>
#include <optional>
#include <string>

namespace runner {

/// The limits that there are on threads and processes, each with its name: of the user
/// (RLIMIT_NPROC), of address space (RLIMIT_AS), which the stacks take, and of the cgroup
/// (pids.max). For messages.
std::string thread_limits_text();

/// Bytes of address space that the process may have; nothing where there is no limit.
std::optional<std::int64_t> most_address_space();

/// The limit on address space, if there is one: for messages; may be empty.
std::string memory_limit_text();

/// What a failure means that is no Error and yet no defect: memory or a thread that the system
/// does not give (std::bad_alloc, std::system_error, what TBB throws). Nothing for any other.
std::optional<Error> system_failure(const std::exception& failure);

} // namespace runner
