// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/queue/devices.hpp"

#include "base/format.hpp"
#include "kernels/queue/cuda_call.hpp"
#include "kernels/queue/queue.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>

namespace runner {
namespace {

std::string uuid_text(const cudaUUID_t& uuid) {
    std::string text = "GPU-";
    for (int i = 0; i < 16; ++i) {
        std::array<char, 3> byte{};
        std::snprintf(byte.data(), byte.size(), "%02x",
                      static_cast<unsigned>(static_cast<unsigned char>(uuid.bytes[i])));
        text += byte.data();
        text += (i == 3 || i == 5 || i == 7 || i == 9) ? "-" : "";
    }
    return text;
}

DeviceInfo describe(int index, int count) {
    cudaDeviceProp properties{};
    cuda_call([&] { return cudaGetDeviceProperties(&properties, index); });
    DeviceInfo info;
    info.index = index;
    info.name = properties.name;
    info.uuid = uuid_text(properties.uuid);
    std::array<char, 32> pci{};
    cuda_call(
        [&] { return cudaDeviceGetPCIBusId(pci.data(), static_cast<int>(pci.size()), index); });
    info.pci = pci.data();
    info.major = properties.major;
    info.minor = properties.minor;
    info.multiprocessors = properties.multiProcessorCount;
    info.copy_engines = properties.asyncEngineCount;
    info.memory_total = static_cast<std::int64_t>(properties.totalGlobalMem);
    info.l2_bytes = properties.l2CacheSize;
    info.shared_bytes = static_cast<std::int64_t>(properties.sharedMemPerBlockOptin);
    for (int peer = 0; peer < count; ++peer) {
        int reachable = 0;
        if (peer != index) {
            cuda_call([&] { return cudaDeviceCanAccessPeer(&reachable, index, peer); });
        }
        if (reachable != 0) {
            info.peers.push_back(peer);
        }
    }
    return info;
}

std::string version_text(int version) {
    return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

/// The newest CUDA of the driver, 0 where there is none. Asks the driver's library itself: the
/// runtime's cudaDriverGetVersion starts the driver, which takes up to half a second
/// (bench/results/starts-2026-11-22-2-h200.txt).
int driver_version() {
    const std::unique_ptr<void, int (*)(void*)> library(::dlopen("libcuda.so.1", RTLD_LAZY),
                                                        ::dlclose);
    int version = 0;
    if (library) {
        using GetVersion = int (*)(int*);
        const auto get = reinterpret_cast<GetVersion>(::dlsym(library.get(), "cuDriverGetVersion"));
        if (get == nullptr || get(&version) != 0) {
            return 0;
        }
    }
    return version;
}

} // namespace

std::vector<DeviceInfo> visible_devices() {
    int count = 0;
    const cudaError_t status = cuda_status([&] { return cudaGetDeviceCount(&count); });
    if (status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver) {
        return {};
    }
    if (status != cudaSuccess) {
        throw_cuda_error(status, "looking for devices");
    }
    std::vector<DeviceInfo> devices;
    for (int index = 0; index < count; ++index) {
        devices.push_back(describe(index, count));
    }
    return devices;
}

std::int64_t free_device_memory(int device) {
    cuda_call([&] { return cudaSetDevice(device); });
    std::size_t free = 0;
    std::size_t total = 0;
    cuda_call([&] { return cudaMemGetInfo(&free, &total); });
    return static_cast<std::int64_t>(free);
}

std::string cuda_versions() {
    if (device_lost()) { // the report of a run that was done before
        return "CUDA " + version_text(CUDART_VERSION) + ", device lost";
    }
    const int driver = driver_version();
    return "CUDA " + version_text(CUDART_VERSION) +
           (driver == 0 ? ", no driver" : ", driver " + version_text(driver));
}

Queue make_queue(Backend backend, int device, int threads, std::shared_ptr<StagingPool> staging) {
    if (backend == Backend::cuda) {
        CudaQueue queue(device);
        queue.use_staging(std::move(staging));
        return queue;
    }
    return CpuQueue(threads);
}

void start_driver() noexcept {
    int count = 0;
    cuda_release([&] { return cudaGetDeviceCount(&count); });
}

void start_device(int nth) noexcept {
    int count = 0;
    cuda_release([&] { return cudaGetDeviceCount(&count); });
    if (count > 0) {
        // Makes the context, from CUDA 12 on.
        cuda_release([&] { return cudaSetDevice(nth % count); });
    }
}

ProfileRange::ProfileRange(const char* name) { (void)nvtxRangePushA(name); }

ProfileRange::~ProfileRange() { (void)nvtxRangePop(); }

} // namespace runner
