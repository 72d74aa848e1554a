// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/queue/devices.hpp"
#include "kernels/queue/queue.hpp"
#include "runner/job_file/job_file.hpp"
#include "runner/prepare/plan_request.hpp"
#include "runner/ranks/binding.hpp"
#include "runner/ranks/mpi.hpp"

#include <string>

namespace runner {

/// The name of this host, "unknown" where the system has none.
std::string host_name();

/// Where a rank works.
struct RankBinding {
    Backend backend = Backend::cpu;
    std::string host;
    DeviceInfo device; ///< for CUDA
    int sharers = 1;   ///< ranks on that GPU
    CpuList cores;
    RankLimits limits;       ///< of this rank
    RankLimits least_limits; ///< the least of all ranks', for what they plan alike
};

/// This rank's share of its host's cores, whatever GPU it gets. Collective.
CpuList share_of_host(const Ranks& ranks);

/// Chooses backend, GPU and cores for every rank, confines this process to its cores, and finds
/// what memory it may take. `automatic` means CUDA where every rank sees a GPU, else the CPU.
/// Collective.
/// @throws AgreedError (gpu) when `cuda` is asked for and a rank sees no GPU.
RankBinding bind_rank(const Ranks& ranks, BackendChoice choice);

} // namespace runner
