// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fake_cuda/fake_cuda.hpp"

#include "tests/fake_cuda/fake_device.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include <cuda_runtime_api.h>

// The functions of the CUDA runtime that the project calls, each through FakeDevice::call.
namespace {

using fake_cuda::FakeDevice;
using fake_cuda::Work;

template <class Body> cudaError_t call(const char* name, Body body, Work work = Work::usual) {
    return static_cast<cudaError_t>(FakeDevice::get().call(
        name, [&](FakeDevice& device) { return static_cast<int>(body(device)); }, work));
}

thread_local int current = 0; ///< the device, which CUDA keeps per thread

/// By the host function that stands for a kernel.
std::map<const void*, std::string>& kernel_names() {
    static std::map<const void*, std::string> names;
    return names;
}

/// For calls that say something of the one device or set it up.
cudaError_t accept(const char* name) {
    return call(name, [](FakeDevice&) { return cudaSuccess; });
}

} // namespace

int fake_cuda::current_device() { return current; }

extern "C" {

const char* cudaGetErrorName(cudaError_t /*error*/) { return "cudaErrorOfFake"; }
const char* cudaGetErrorString(cudaError_t /*error*/) { return "as the test asked for"; }

cudaError_t cudaGetDeviceCount(int* count) {
    *count = 1;
    return accept("cudaGetDeviceCount");
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int /*device*/) {
    *properties = {};
    (void)std::snprintf(properties->name, sizeof(properties->name), "fake GPU");
    properties->multiProcessorCount = 3;
    return accept("cudaGetDeviceProperties");
}
cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int /*device*/) {
    (void)std::snprintf(text, static_cast<std::size_t>(length), "0000:00:00.0");
    return accept("cudaDeviceGetPCIBusId");
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int /*device*/, int /*peer*/) {
    *can = 0;
    return accept("cudaDeviceCanAccessPeer");
}
/// Its memory is nobody else's.
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* /*handle*/, void* /*memory*/) {
    return call("cudaIpcGetMemHandle", [](FakeDevice&) { return cudaErrorNotSupported; });
}
cudaError_t cudaIpcOpenMemHandle(void** /*memory*/, cudaIpcMemHandle_t /*handle*/,
                                 unsigned /*flags*/) {
    return call("cudaIpcOpenMemHandle", [](FakeDevice&) { return cudaErrorNotSupported; });
}
cudaError_t cudaIpcCloseMemHandle(void* /*memory*/) { return accept("cudaIpcCloseMemHandle"); }
cudaError_t cudaGetLastError() { return accept("cudaGetLastError"); }
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr /*attribute*/, int /*device*/) {
    *value = 64 * 1024;
    return accept("cudaDeviceGetAttribute");
}
cudaError_t cudaRuntimeGetVersion(int* version) {
    *version = CUDART_VERSION;
    return accept("cudaRuntimeGetVersion");
}
cudaError_t cudaDriverGetVersion(int* version) {
    *version = CUDART_VERSION;
    return accept("cudaDriverGetVersion");
}
cudaError_t cudaSetDevice(int device) {
    current = device;
    return accept("cudaSetDevice");
}
cudaError_t cudaGetDevice(int* device) {
    *device = current;
    return accept("cudaGetDevice");
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
    return call("cudaMemGetInfo", [&](FakeDevice& device) {
        *free = static_cast<std::size_t>(device.memory_free());
        *total = static_cast<std::size_t>(device.memory_total());
        return cudaSuccess;
    });
}

cudaError_t cudaMalloc(void** data, std::size_t bytes) {
    return call("cudaMalloc", [&](FakeDevice& device) {
        *data = device.take(FakeDevice::Place::device, static_cast<std::int64_t>(bytes));
        return *data == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
    });
}
cudaError_t cudaHostAlloc(void** data, std::size_t bytes, unsigned /*flags*/) {
    return call("cudaHostAlloc", [&](FakeDevice& device) {
        *data = device.take(FakeDevice::Place::host, static_cast<std::int64_t>(bytes));
        return *data == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
    });
}
cudaError_t cudaFree(void* data) {
    return call(
        "cudaFree",
        [&](FakeDevice& device) {
            device.give_back(FakeDevice::Place::device, data);
            return cudaSuccess;
        },
        Work::release);
}
cudaError_t cudaFreeHost(void* data) {
    return call(
        "cudaFreeHost",
        [&](FakeDevice& device) {
            device.give_back(FakeDevice::Place::host, data);
            return cudaSuccess;
        },
        Work::release);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned /*flags*/) {
    return call("cudaStreamCreateWithFlags", [&](FakeDevice& device) {
        *stream = static_cast<cudaStream_t>(device.make_stream());
        return cudaSuccess;
    });
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    return call(
        "cudaStreamDestroy",
        [&](FakeDevice& device) {
            device.destroy_stream(stream);
            return cudaSuccess;
        },
        Work::release);
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    return call("cudaStreamSynchronize", [&](FakeDevice& device) {
        device.run(stream);
        return cudaSuccess;
    });
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned /*flags*/) {
    return call("cudaStreamWaitEvent", [&](FakeDevice& device) {
        device.hold(stream, event);
        return cudaSuccess;
    });
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
    using Place = FakeDevice::Place;
    return call("cudaMemcpyAsync", [&](FakeDevice& device) {
        const auto count = static_cast<std::int64_t>(bytes);
        device.check_taken(kind == cudaMemcpyDeviceToHost ? Place::host : Place::device, to, count);
        device.check_taken(kind == cudaMemcpyHostToDevice ? Place::host : Place::device, from,
                           count);
        device.put(stream, [=] { std::memcpy(to, from, bytes); });
        return cudaSuccess;
    });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned /*flags*/) {
    return call("cudaEventCreateWithFlags", [&](FakeDevice& device) {
        *event = static_cast<cudaEvent_t>(device.make_event());
        return cudaSuccess;
    });
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
    return call(
        "cudaEventDestroy",
        [&](FakeDevice& device) {
            device.destroy_event(event);
            return cudaSuccess;
        },
        Work::release);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    return call("cudaEventRecord", [&](FakeDevice& device) {
        device.record(event, stream);
        return cudaSuccess;
    });
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    FakeDevice::get().linger();
    return call("cudaEventSynchronize", [&](FakeDevice& device) {
        device.reach(event);
        return cudaSuccess;
    });
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
    return call("cudaEventElapsedTime", [&](FakeDevice& device) {
        *milliseconds = 1;
        return device.reached(from) && device.reached(to) ? cudaSuccess : cudaErrorNotReady;
    });
}

cudaError_t cudaDeviceEnablePeerAccess(int /*peer*/, unsigned /*flags*/) {
    return accept("cudaDeviceEnablePeerAccess");
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* /*kernel*/) {
    *attributes = {};
    attributes->numRegs = 40;
    attributes->sharedSizeBytes = 16;
    return accept("cudaFuncGetAttributes");
}
cudaError_t cudaFuncGetName(const char** name, const void* kernel) {
    const auto found = kernel_names().find(kernel);
    *name = found == kernel_names().end() ? "none" : found->second.c_str();
    return accept("cudaFuncGetName");
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* /*config*/, const void* /*kernel*/,
                                void** /*arguments*/) {
    return accept("cudaLaunchKernelExC");
}
cudaError_t cudaFuncSetAttribute(const void* /*kernel*/, cudaFuncAttribute /*attribute*/,
                                 int /*value*/) {
    return accept("cudaFuncSetAttribute");
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks,
                                                                   const void* /*kernel*/,
                                                                   int /*threads*/,
                                                                   std::size_t /*shared*/,
                                                                   unsigned /*flags*/) {
    *blocks = 1;
    return accept("cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags");
}

// What nvcc's host code calls: to make its kernels known, and from stubs that launch() never runs.
void** __cudaRegisterFatBinary(void* /*binary*/) {
    (void)accept("__cudaRegisterFatBinary");
    static void* handle = nullptr;
    return &handle;
}
void __cudaRegisterFatBinaryEnd(void** /*handle*/) {}
void __cudaUnregisterFatBinary(void** /*handle*/) { (void)accept("__cudaUnregisterFatBinary"); }
void __cudaRegisterFunction(void** /*handle*/, const char* stub, char* /*name*/,
                            const char* device_name, int /*threads*/, void* /*thread*/,
                            void* /*block*/, void* /*block_extent*/, void* /*grid_extent*/,
                            int* /*warp*/) {
    kernel_names()[stub] = device_name;
}
cudaError_t __cudaPopCallConfiguration(dim3* /*grid*/, dim3* /*block*/, std::size_t* /*shared*/,
                                       void* /*stream*/) {
    std::abort();
}
cudaError_t __cudaGetKernel(void** /*kernel*/, const void* /*stub*/) { std::abort(); }
cudaError_t __cudaLaunchKernel(void* /*kernel*/, dim3 /*grid*/, dim3 /*block*/,
                               void** /*arguments*/, std::size_t /*shared*/,
                               cudaStream_t /*stream*/) {
    std::abort();
}

} // extern "C"
