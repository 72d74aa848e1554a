// SPDX-License-Identifier: BSD-3-Clause
#include "runner/plan/job_plan.hpp"

#include <algorithm>

namespace runner {

int automatic_io_threads(int cores) {
    // A rank of 32 cores streams into parts 1.7 times as fast by 16 as by 8
    // (bench/results/scaling-2026-11-26-2-h200-parts.txt).
    constexpr int most = 16;
    return std::clamp(cores / 2, 1, most);
}

void JobPlan::start_from(const PlanRequest& request) {
    backend = request.backend;
    host_memory = request.host_memory;
    device_memory = request.device_memory;
    io_threads = static_cast<int>(request.io_threads.value_or(automatic_io_threads(request.cores)));
    need.storage = request.storage_bytes ? request.storage_bytes(io_threads) : 0;
    keep_lines(request.lines);
}

/// As many as half of the memory holds. One alone is read at once anyway.
void JobPlan::keep_lines(const InputLines& lines) {
    std::int64_t count = lines.count;
    while (count > 1 && count > (host_memory - need.storage) / 2 / lines.bytes) {
        count /= 2;
    }
    if (count > 1) {
        kept_lines = count;
        need.storage += count * lines.bytes;
    }
}

bool JobPlan::fits() const {
    return need.host() <= host_memory && (backend == Backend::cpu || need.device <= device_memory);
}

JobPlan::Shortage JobPlan::shortage() const {
    if (need.host() > host_memory) {
        return {"run.host_memory", need.host(), host_memory};
    }
    return {"run.device_memory", need.device, device_memory};
}

const char* name_of(Backend backend) { return backend == Backend::cuda ? "cuda" : "cpu"; }

} // namespace runner
