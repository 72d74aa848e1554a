// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/profile/kernel_log.hpp"

#include "kernels/profile/limit_kernels.cuh"
#include "kernels/queue/launch.cuh"
#include "kernels/queue/peer_memory.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace runner {
namespace {

constexpr int samples = 9;

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/// Seconds of `work` on the queue, which is called once before.
template <class Work> double seconds_of(CudaQueue& queue, const Work& work) {
    work();
    CudaQueue::Event begin(queue);
    CudaQueue::Event end(queue);
    std::vector<double> seconds;
    for (int i = 0; i < samples; ++i) {
        begin.record(queue);
        work();
        end.record(queue);
        end.wait();
        seconds.push_back(end.seconds_since(begin));
    }
    return median(seconds);
}

/// The same by the host's clock, of work on two queues at once.
template <class Work>
double seconds_of_both(const CudaQueue& one, const CudaQueue& other, const Work& work) {
    using Clock = std::chrono::steady_clock;
    std::vector<double> seconds;
    for (int i = 0; i <= samples; ++i) {
        const auto start = Clock::now();
        work();
        one.synchronize();
        other.synchronize();
        seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    }
    return median(seconds);
}

/// A part of its free memory, a multiple of 1 MiB, so that a small GPU can be measured too. All of
/// it is beyond any L2 cache where there is room.
std::int64_t buffer_bytes(const DeviceInfo& device) {
    constexpr std::int64_t mib = std::int64_t{1} << 20;
    return std::clamp(free_device_memory(device.index) / 8 / mib, std::int64_t{1},
                      std::int64_t{512}) *
           mib;
}

struct Measured {
    explicit Measured(const DeviceInfo& measured) : device(measured) {}

    const DeviceInfo& device;
    CudaQueue queue{device.index};
    std::int64_t bytes = buffer_bytes(device);
    Buffer from = allocate_device(queue, bytes);
    Buffer to = allocate_device(queue, bytes);

    unsigned blocks() const { return 16 * static_cast<unsigned>(device.multiprocessors); }
    double once() const { return static_cast<double>(bytes); }

    /// By the better of CUDA's own copy and a kernel's.
    double copy_rate() {
        const double own =
            seconds_of(queue, [&] { copy_on_device(queue, to.data(), from.data(), bytes); });
        const double kernel = seconds_of(queue, [&] {
            launch(queue, {dim3(blocks()), dim3(512)}, copy_kernel<4>,
                   reinterpret_cast<const uint4*>(from.data()), reinterpret_cast<uint4*>(to.data()),
                   bytes / 16);
        });
        return 2 * once() / std::min(own, kernel);
    }

    template <class T> double multiply_adds() {
        constexpr unsigned threads = 256;
        const double seconds = seconds_of(queue, [&] {
            launch(queue, {dim3(blocks()), dim3(threads)}, multiply_add_kernel<T>,
                   reinterpret_cast<T*>(to.data()), T(0.999), T(1));
        });
        return static_cast<double>(blocks()) * threads * multiply_add_chains * multiply_add_length /
               seconds;
    }

    void measure_link(DeviceRates& rates) {
        const std::int64_t size = std::min(bytes, std::int64_t{256} << 20);
        const Buffer up = allocate_staging(queue, size);
        const Buffer down = allocate_staging(queue, size);
        CudaQueue other(device.index);
        const auto moved = static_cast<double>(size);
        const auto send = [&] { upload(queue, from.data(), up.data(), size); };
        const auto fetch = [&] { download(other, down.data(), to.data(), size); };
        rates.upload_bytes = moved / seconds_of(queue, send);
        rates.download_bytes = moved / seconds_of(other, fetch);
        rates.both_ways_bytes = 2 * moved / seconds_of_both(queue, other, [&] {
                                    send();
                                    fetch();
                                });
    }

    /// From this device's memory to the peer's.
    double peer_rate(Measured& peer) {
        const std::int64_t size = std::min(bytes, peer.bytes);
        queue.make_current();
        const cudaError_t status =
            cuda_status([&] { return cudaDeviceEnablePeerAccess(peer.device.index, 0); });
        if (status == cudaErrorPeerAccessAlreadyEnabled) {
            (void)cuda_status([] { return cudaGetLastError(); });
        } else if (status != cudaSuccess) {
            throw_cuda_error(status, "peer access");
        }
        const double seconds =
            seconds_of(queue, [&] { copy_from_peer(queue, peer.to.data(), from.data(), size); });
        return static_cast<double>(size) / seconds;
    }
};

} // namespace

std::vector<DeviceRates> measure_rates(const std::vector<DeviceInfo>& devices) {
    std::deque<Measured> measured;
    std::vector<DeviceRates> all;
    for (const DeviceInfo& device : devices) {
        Measured& own = measured.emplace_back(device);
        DeviceRates rates;
        rates.uuid = device.uuid;
        rates.name = device.name;
        rates.versions = cuda_versions();
        rates.copy_bytes = own.copy_rate();
        rates.float32_multiply_adds = own.multiply_adds<float>();
        rates.float64_multiply_adds = own.multiply_adds<double>();
        own.measure_link(rates);
        all.push_back(std::move(rates));
    }
    for (std::size_t i = 0; i < devices.size(); ++i) {
        for (const int peer : devices[i].peers) {
            const auto at = static_cast<std::size_t>(peer);
            all[i].peers.push_back({devices[at].uuid, measured[i].peer_rate(measured[at])});
        }
    }
    return all;
}

} // namespace runner
