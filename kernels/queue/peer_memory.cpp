// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/queue/peer_memory.hpp"

#include "kernels/queue/cuda_call.hpp"

#include <cstring>

namespace runner {
namespace {

/// What says that two processes cannot share memory here, and no more: without peer access between
/// the GPUs, in some containers, on some platforms.
bool is_refusal(cudaError_t status) {
    return status == cudaErrorNotSupported || status == cudaErrorInvalidValue ||
           status == cudaErrorInvalidResourceHandle || status == cudaErrorMapBufferObjectFailed ||
           status == cudaErrorPeerAccessUnsupported || status == cudaErrorTooManyPeers ||
           status == cudaErrorInvalidDevice || status == cudaErrorOperatingSystem ||
           status == cudaErrorDeviceUninitialized;
}

/// True for success, false for a refusal, which leaves no trace in the next call's status.
bool shared(cudaError_t status, const char* what) {
    if (status == cudaSuccess) {
        return true;
    }
    if (!is_refusal(status)) {
        throw_cuda_error(status, what);
    }
    (void)cuda_status([] { return cudaGetLastError(); });
    return false;
}

void close_peer(std::byte* data, std::int64_t /*size*/, int device) {
    cuda_release([&] { return cudaSetDevice(device); });
    cuda_release([&] { return cudaIpcCloseMemHandle(data); });
}

} // namespace

std::optional<std::string> name_for_peers(const CudaQueue& queue, const Buffer& memory) {
    queue.make_current();
    cudaIpcMemHandle_t handle{};
    const cudaError_t status =
        cuda_status([&] { return cudaIpcGetMemHandle(&handle, memory.data()); });
    if (!shared(status, "sharing device memory")) {
        return std::nullopt;
    }
    return std::string(reinterpret_cast<const char*>(&handle), sizeof handle);
}

std::optional<Buffer> open_peer_memory(const CudaQueue& queue, const std::string& name) {
    cudaIpcMemHandle_t handle{};
    if (name.size() != sizeof handle) {
        return std::nullopt;
    }
    std::memcpy(&handle, name.data(), sizeof handle);
    queue.make_current();
    void* data = nullptr;
    const cudaError_t status = cuda_status(
        [&] { return cudaIpcOpenMemHandle(&data, handle, cudaIpcMemLazyEnablePeerAccess); });
    if (!shared(status, "opening another process's device memory")) {
        return std::nullopt;
    }
    return Buffer(static_cast<std::byte*>(data), 0, queue.device(), close_peer);
}

void copy_from_peer(CudaQueue& queue, std::byte* to, const std::byte* from, std::int64_t bytes) {
    queue.make_current();
    cuda_call([&] {
        return cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDefault,
                               queue.stream());
    });
}

} // namespace runner
