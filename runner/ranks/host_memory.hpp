// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace runner {

/// How much host memory this process' machine has to give, and what said so.
struct HostMemory {
    std::int64_t bytes = 0;
    std::string source; ///< "machine", "cgroup", "Slurm"
};

/// The least of what the machine has available, what its cgroup leaves (version 1 or 2, every level
/// up to the root) and what Slurm granted the job on this node.
HostMemory available_host_memory();

/// The same, from another root of the file system: for tests.
HostMemory available_host_memory(const std::string& root);

/// The most memory this process has had resident so far, in bytes.
std::int64_t peak_resident_memory();

} // namespace runner
