// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/queue/buffer.hpp"
#include "kernels/queue/work_meter.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include <oneapi/tbb/task_arena.h>

namespace runner {

/// Runs work at once, in the calling thread and the threads of its own arena. Its device memory is
/// host memory, so staging and device are one and nothing is copied between them.
class CpuQueue {
  public:
    /// Staging buffers and device buffers are the same memory.
    static constexpr bool shares_host_memory = true;

    /// A mark in the queue's order of work; reached as soon as it is recorded.
    class Event {
      public:
        explicit Event(const CpuQueue& /*queue*/) {}
        void record(CpuQueue& /*queue*/) { at_ = std::chrono::steady_clock::now(); }
        /// Makes later work of `queue` wait for this mark.
        void hold(CpuQueue& /*queue*/) const {}
        /// Blocks the calling thread until the mark is reached.
        void wait() const {}
        /// Seconds between two reached marks.
        double seconds_since(const Event& earlier) const {
            return std::chrono::duration<double>(at_ - earlier.at_).count();
        }

      private:
        std::chrono::steady_clock::time_point at_{};
    };

    /// `threads` ≥ 1 workers, the caller counted in.
    explicit CpuQueue(int threads)
        : threads_(threads), arena_(std::make_unique<tbb::task_arena>(threads)),
          meter_(std::make_shared<WorkMeter>()) {}

    int threads() const noexcept { return threads_; }

    /// Runs `work` inside the arena: TBB's algorithms in it use this queue's threads only.
    template <class F> void run(F&& work) { arena_->execute(std::forward<F>(work)); }

    void synchronize() const {}

    /// Outlives the queue where somebody holds it.
    const std::shared_ptr<WorkMeter>& meter() const noexcept { return meter_; }

    /// Counts work that is done. From any thread. @throws WorkDropped where it is to be dropped.
    void count(double operations) const {
        meter_->add(operations);
        meter_->check();
    }
    /// Counts what was handed in and is done by now: nothing is left uncounted here.
    void settle() const {}

  private:
    int threads_;
    std::unique_ptr<tbb::task_arena> arena_;
    std::shared_ptr<WorkMeter> meter_;
};

/// Uninitialised host memory, page aligned, in huge pages where the kernel gives them.
/// @throws Error (launch) when the host has no such memory.
Buffer allocate_staging(CpuQueue& queue, std::int64_t bytes);
Buffer allocate_device(CpuQueue& queue, std::int64_t bytes);

/// Copies between host and "device" memory; nothing where both are the same address.
void upload(CpuQueue& queue, std::byte* device, const std::byte* host, std::int64_t bytes);
void download(CpuQueue& queue, std::byte* host, const std::byte* device, std::int64_t bytes);
/// Copies within device memory on all threads; the two ranges must not overlap.
void copy_on_device(CpuQueue& queue, std::byte* to, const std::byte* from, std::int64_t bytes);

} // namespace runner
