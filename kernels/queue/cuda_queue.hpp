// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/queue/buffer.hpp"
#include "kernels/queue/staging_pool.hpp"
#include "kernels/queue/work_meter.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>

// CUDA's own names for a stream and an event, so that no file outside kernels/ needs its headers.
struct CUstream_st;
struct CUevent_st;

namespace runner {

class LaunchWatch;

/// One CUDA stream of one device: work runs there in order, beside the host. Every call makes the
/// device current first, since CUDA keeps that per thread.
/// All functions throw Error (gpu) when CUDA reports an error.
class CudaQueue {
  public:
    static constexpr bool shares_host_memory = false;

    /// A mark in the queue's order of work.
    class Event {
      public:
        explicit Event(const CudaQueue& queue);
        void record(CudaQueue& queue);
        /// Makes later work of `queue` wait for this mark.
        void hold(CudaQueue& queue) const;
        /// Blocks the calling thread until the mark is reached.
        void wait() const;
        /// Seconds between two reached marks.
        double seconds_since(const Event& earlier) const;

      private:
        struct Destroy {
            void operator()(CUevent_st* event) const noexcept;
        };
        int device_;
        std::unique_ptr<CUevent_st, Destroy> event_;
    };

    /// A new stream on `device` (CUDA's index).
    explicit CudaQueue(int device);
    /// A stream of another owner on `device`, which outlives the queue and the work in it. Nothing
    /// is counted there, as counting waits for work.
    CudaQueue(int device, CUstream_st* stream);

    /// allocate_staging() takes memory from here where it can, and its buffers go back there.
    void use_staging(std::shared_ptr<StagingPool> pool) { staging_ = std::move(pool); }
    const std::shared_ptr<StagingPool>& staging() const noexcept { return staging_; }

    /// Shows every launch from now on to `watch`, or to none.
    void show_launches(std::shared_ptr<LaunchWatch> watch) { watch_ = std::move(watch); }
    LaunchWatch* launch_watch() const noexcept { return watch_.get(); }

    int device() const noexcept { return device_; }
    CUstream_st* stream() const noexcept { return stream_.get(); }

    /// Makes this queue's device the calling thread's current one.
    void make_current() const;

    /// Blocks until all work is done.
    void synchronize() const;

    /// Outlives the queue where somebody holds it.
    const std::shared_ptr<WorkMeter>& meter() const noexcept { return meter_; }

    /// Counts the work handed in since the last call, once the device has done it. At most
    /// most_uncounted such pieces are in flight: beyond, the call waits for the oldest, so that
    /// little is left to wait for when the work is dropped. @throws WorkDropped where it is.
    void count(double operations);
    /// Counts all that was handed in; it is done.
    void settle();

    /// Enough that the device always has a next piece while the host wakes up.
    static constexpr std::size_t most_uncounted = 4;

  private:
    /// Work in flight that is counted at its end.
    struct Piece {
        Event end;
        double operations;
    };
    struct Destroy {
        bool owns = true;
        void operator()(CUstream_st* stream) const noexcept;
    };
    int device_;
    std::unique_ptr<CUstream_st, Destroy> stream_;
    std::shared_ptr<WorkMeter> meter_ = std::make_shared<WorkMeter>();
    std::deque<Piece> uncounted_;          ///< the oldest first
    std::shared_ptr<StagingPool> staging_; ///< or null
    std::shared_ptr<LaunchWatch> watch_;   ///< or null
};

/// What a launch has to do by its kernel's own formula.
struct KernelWork {
    double bytes = 0;      ///< that it must read and write, each once
    double operations = 0; ///< additions and multiplications of floats, or what takes as long
    bool doubles = false;  ///< these are of float64

    KernelWork share(double part) const { return {bytes * part, operations * part, doubles}; }
};

/// A launch as the watch sees it.
struct LaunchFacts {
    const void* kernel = nullptr;
    std::array<std::int64_t, 3> grid{};
    std::array<std::int64_t, 3> block{};
    std::int64_t shared_bytes = 0; ///< dynamic
    KernelWork work;
};

/// Sees the launches of queues. From any thread.
class LaunchWatch {
  public:
    virtual ~LaunchWatch() = default;
    /// Before a launch. Gives the event to record behind it, or null.
    virtual CudaQueue::Event* before(CudaQueue& queue, const LaunchFacts& launch) = 0;
};

/// Page-locked host memory. @throws Error (launch) when the host has none.
Buffer allocate_staging(CudaQueue& queue, std::int64_t bytes);
/// Device memory, aligned to 256 bytes. @throws Error (gpu).
Buffer allocate_device(CudaQueue& queue, std::int64_t bytes);

/// Asynchronous copies in the queue's order; host memory must be page-locked.
void upload(CudaQueue& queue, std::byte* device, const std::byte* host, std::int64_t bytes);
void download(CudaQueue& queue, std::byte* host, const std::byte* device, std::int64_t bytes);
void copy_on_device(CudaQueue& queue, std::byte* to, const std::byte* from, std::int64_t bytes);

} // namespace runner
