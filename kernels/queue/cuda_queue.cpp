// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/queue/cuda_queue.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/sizes.hpp"
#include "kernels/queue/cuda_call.hpp"
#include "kernels/queue/queue.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace runner {
namespace {

std::size_t at_least_one(std::int64_t bytes) {
    return static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1));
}

void release_pinned(std::byte* data, std::int64_t /*size*/, int /*device*/) {
    cuda_release([&] { return cudaFreeHost(data); });
}

Buffer lock_pages(CudaQueue& queue, std::int64_t bytes) {
    queue.make_current();
    void* data = nullptr;
    const cudaError_t status = cuda_status(
        [&] { return cudaHostAlloc(&data, at_least_one(bytes), cudaHostAllocPortable); });
    if (status == cudaErrorMemoryAllocation) {
        throw OutOfMemory(ExitCode::launch,
                          {"cannot take page-locked host memory", size_text(bytes),
                           cudaGetErrorString(status), "Set run.host_memory lower"});
    }
    if (status != cudaSuccess) {
        throw_cuda_error(status, "page-locked host memory, " + size_text(bytes));
    }
    return {static_cast<std::byte*>(data), bytes, queue.device(), release_pinned};
}

void release_device(std::byte* data, std::int64_t /*size*/, int device) {
    cuda_release([&] { return cudaSetDevice(device); });
    cuda_release([&] { return cudaFree(data); });
}

} // namespace

CudaQueue::Event::Event(const CudaQueue& queue) : device_(queue.device()) {
    queue.make_current();
    cudaEvent_t event = nullptr;
    cuda_call([&] { return cudaEventCreateWithFlags(&event, cudaEventBlockingSync); });
    event_.reset(event);
}

void CudaQueue::Event::record(CudaQueue& queue) {
    queue.make_current();
    cuda_call([&] { return cudaEventRecord(event_.get(), queue.stream()); });
}

void CudaQueue::Event::hold(CudaQueue& queue) const {
    queue.make_current();
    cuda_call([&] { return cudaStreamWaitEvent(queue.stream(), event_.get(), 0); });
}

void CudaQueue::Event::wait() const {
    cuda_call([&] { return cudaSetDevice(device_); });
    cuda_call([&] { return cudaEventSynchronize(event_.get()); });
}

double CudaQueue::Event::seconds_since(const Event& earlier) const {
    float milliseconds = 0;
    cuda_call(
        [&] { return cudaEventElapsedTime(&milliseconds, earlier.event_.get(), event_.get()); });
    return 1e-3 * static_cast<double>(milliseconds);
}

void CudaQueue::Event::Destroy::operator()(CUevent_st* event) const noexcept {
    cuda_release([&] { return cudaEventDestroy(event); });
}

CudaQueue::CudaQueue(int device) : device_(device), stream_(nullptr, Destroy{true}) {
    make_current();
    cudaStream_t stream = nullptr;
    cuda_call([&] { return cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking); });
    stream_.reset(stream);
}

CudaQueue::CudaQueue(int device, CUstream_st* stream)
    : device_(device), stream_(stream, Destroy{false}) {}

void CudaQueue::make_current() const {
    cuda_call([&] { return cudaSetDevice(device_); });
}

void CudaQueue::synchronize() const {
    make_current();
    cuda_call([&] { return cudaStreamSynchronize(stream_.get()); });
}

void CudaQueue::count(double operations) {
    meter_->check();
    if (!stream_.get_deleter().owns) {
        return;
    }
    if (uncounted_.size() < most_uncounted) {
        uncounted_.push_back({Event(*this), operations});
    } else {
        uncounted_.front().end.wait();
        meter_->add(uncounted_.front().operations);
        uncounted_.push_back({std::move(uncounted_.front().end), operations});
        uncounted_.pop_front();
    }
    uncounted_.back().end.record(*this);
    meter_->check();
}

void CudaQueue::settle() {
    for (const Piece& piece : uncounted_) {
        meter_->add(piece.operations);
    }
    uncounted_.clear();
}

void CudaQueue::Destroy::operator()(CUstream_st* stream) const noexcept {
    if (!owns) {
        return;
    }
    cuda_release([&] { return cudaStreamDestroy(stream); });
}

Buffer allocate_staging(CudaQueue& queue, std::int64_t bytes) {
    const std::shared_ptr<StagingPool>& pool = queue.staging();
    if (!pool) {
        return lock_pages(queue, bytes);
    }
    const Buffer::Release put_back = [pool](std::byte* data, std::int64_t size, int device) {
        pool->keep({data, size, device, release_pinned});
    };
    Buffer memory = pool->take(bytes);
    if (memory.data() == nullptr) {
        try {
            memory = lock_pages(queue, bytes);
        } catch (const OutOfMemory&) {
            pool->clear();
            memory = lock_pages(queue, bytes);
        }
    }
    return {memory.release(), bytes, queue.device(), put_back};
}

Buffer allocate_device(CudaQueue& queue, std::int64_t bytes) {
    queue.make_current();
    void* data = nullptr;
    const cudaError_t status = cuda_status([&] { return cudaMalloc(&data, at_least_one(bytes)); });
    if (status != cudaSuccess) {
        throw_cuda_error(status, fmt::format("device {}, {}", queue.device(), size_text(bytes)));
    }
    return {static_cast<std::byte*>(data), bytes, queue.device(), release_device};
}

void upload(CudaQueue& queue, std::byte* device, const std::byte* host, std::int64_t bytes) {
    queue.make_current();
    cuda_call([&] {
        return cudaMemcpyAsync(device, host, static_cast<std::size_t>(bytes),
                               cudaMemcpyHostToDevice, queue.stream());
    });
}

void download(CudaQueue& queue, std::byte* host, const std::byte* device, std::int64_t bytes) {
    queue.make_current();
    cuda_call([&] {
        return cudaMemcpyAsync(host, device, static_cast<std::size_t>(bytes),
                               cudaMemcpyDeviceToHost, queue.stream());
    });
}

void copy_on_device(CudaQueue& queue, std::byte* to, const std::byte* from, std::int64_t bytes) {
    queue.make_current();
    cuda_call([&] {
        return cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToDevice,
                               queue.stream());
    });
}

bool has_cuda() noexcept { return true; }

Queue borrow_stream(int device, std::uintptr_t stream) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): other libraries pass streams as numbers
    return CudaQueue(device, reinterpret_cast<CUstream_st*>(stream));
}

CurrentDeviceKeeper::CurrentDeviceKeeper() noexcept {
    cuda_release([&] { return cudaGetDevice(&device_); });
}

CurrentDeviceKeeper::~CurrentDeviceKeeper() {
    cuda_release([&] { return cudaSetDevice(device_); });
}

} // namespace runner
