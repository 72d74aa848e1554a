// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/buffer.hpp"

#include <cstdint>
#include <memory>

// CUDA's own names for a stream and an event, so that no file outside kernels/ needs its headers.
struct CUstream_st;
struct CUevent_st;

namespace runner {

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

    int device() const noexcept { return device_; }
    CUstream_st* stream() const noexcept { return stream_.get(); }

    /// Makes this queue's device the calling thread's current one.
    void make_current() const;

    /// Blocks until all work is done.
    void synchronize() const;

  private:
    struct Destroy {
        void operator()(CUstream_st* stream) const noexcept;
    };
    int device_;
    std::unique_ptr<CUstream_st, Destroy> stream_;
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
