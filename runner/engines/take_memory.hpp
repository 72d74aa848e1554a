// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/sizes.hpp"
#include "kernels/queue/queue.hpp"
#include "runner/plan/halving.hpp"
#include "runner/watch/stages.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

namespace runner {

/// Makes one lane's queue.
using QueueMaker = std::function<Queue()>;

/// CUDA takes memory for a kernel's code and stack at its first launch. Checks that enough is left
/// once an engine has taken its own. @throws OutOfMemory
template <class Q> void check_launch_room([[maybe_unused]] Q& queue) {
    if constexpr (!Q::shares_host_memory) {
        constexpr std::int64_t launch_room_bytes = 64 * MiB;
        (void)allocate_device(queue, launch_room_bytes);
    }
}

/// Runs Engine<Q>(run, plan, make_queue) with the first of run.plan, smaller(run.plan), … whose
/// memory can be taken.
template <template <class> class Engine, class Run, class Smaller>
RunTimes run_fitting(const Run& run, const Smaller& smaller, const QueueMaker& make_queue) {
    const Queue probe = make_queue();
    return std::visit(
        [&]<class Q>(const Q&) {
            std::vector<Halving> halvings;
            const auto engine = take_fitting(run.plan, halvings, smaller, [&](const auto& plan) {
                return std::make_unique<Engine<Q>>(run, plan, make_queue);
            });
            report_halvings(run.rank, halvings, run.say);
            RunTimes times = engine->run();
            times.halvings = std::move(halvings);
            return times;
        },
        probe);
}

} // namespace runner
