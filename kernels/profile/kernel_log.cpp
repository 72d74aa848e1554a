// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/profile/kernel_log.hpp"

#include "kernels/profile/kernel_use.hpp"
#include "kernels/queue/cuda_call.hpp"

#include <array>
#include <deque>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

namespace runner {
namespace {

std::string name_of_kernel(const void* kernel) {
#if CUDART_VERSION >= 12030
    const char* symbol = nullptr;
    cuda_call([&] { return cudaFuncGetName(&symbol, kernel); });
    return symbol == nullptr ? "kernel" : kernel_name(symbol);
#else
    return "kernel"; // older runtimes know no names
#endif
}

/// Threads that a multiprocessor holds at once, over the most it can hold.
double occupancy_of(const CudaQueue& queue, const LaunchFacts& launch, int threads) {
    int blocks = 0;
    int most = 0;
    cuda_call([&] {
        return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
            &blocks, launch.kernel, threads, static_cast<std::size_t>(launch.shared_bytes),
            cudaOccupancyDefault);
    });
    cuda_call([&] {
        return cudaDeviceGetAttribute(&most, cudaDevAttrMaxThreadsPerMultiProcessor,
                                      queue.device());
    });
    return most == 0 ? 0 : static_cast<double>(blocks) * threads / most;
}

/// What is the same for every launch. The kernel is loaded then, so no event takes that time.
KernelUse describe(const CudaQueue& queue, const LaunchFacts& launch) {
    queue.make_current();
    cudaFuncAttributes attributes{};
    cuda_call([&] { return cudaFuncGetAttributes(&attributes, launch.kernel); });
    KernelUse use;
    use.name = name_of_kernel(launch.kernel);
    use.block = launch.block;
    use.registers = attributes.numRegs;
    use.local_bytes = static_cast<std::int64_t>(attributes.localSizeBytes);
    use.shared_bytes = static_cast<std::int64_t>(attributes.sharedSizeBytes) + launch.shared_bytes;
    use.occupancy = occupancy_of(
        queue, launch, static_cast<int>(launch.block[0] * launch.block[1] * launch.block[2]));
    return use;
}

struct TimedLaunch {
    CudaQueue::Event begin;
    CudaQueue::Event end;
    std::int64_t stands_for;
};

struct Entry {
    KernelUse use;
    std::deque<TimedLaunch> timed; ///< whose places in memory stay
};

/// With the time of the launches that were timed.
KernelUse timed_use(const Entry& entry) {
    KernelUse use = entry.use;
    std::int64_t launches = 0;
    double seconds = 0;
    for (const TimedLaunch& launch : entry.timed) {
        launch.end.wait();
        seconds += launch.end.seconds_since(launch.begin) * static_cast<double>(launch.stands_for);
        launches += launch.stands_for;
    }
    use.timed = static_cast<std::int64_t>(entry.timed.size());
    use.seconds = seconds / static_cast<double>(launches) * static_cast<double>(use.launches);
    return use;
}

} // namespace

class KernelLog::Launches : public LaunchWatch {
  public:
    CudaQueue::Event* before(CudaQueue& queue, const LaunchFacts& launch) override {
        const std::lock_guard lock(mutex_);
        Entry& entry = entry_of(queue, launch);
        KernelUse& use = entry.use;
        if (use.grid[0] * use.grid[1] * use.grid[2] <
            launch.grid[0] * launch.grid[1] * launch.grid[2]) {
            use.grid = launch.grid;
        }
        use.bytes += launch.work.bytes;
        use.operations += launch.work.operations;
        use.doubles = launch.work.doubles;
        ++use.launches;
        if (!is_timed(use.launches)) {
            return nullptr;
        }
        entry.timed.push_back(
            {CudaQueue::Event(queue), CudaQueue::Event(queue), launches_timed_by(use.launches)});
        entry.timed.back().begin.record(queue);
        return &entry.timed.back().end;
    }

    std::vector<KernelUse> uses() {
        const std::lock_guard lock(mutex_);
        std::vector<KernelUse> all;
        for (const auto& [key, entry] : entries_) {
            add_uses(all, {timed_use(entry)});
        }
        return all;
    }

  private:
    using Key = std::tuple<const void*, std::array<std::int64_t, 3>, std::int64_t>;

    Entry& entry_of(const CudaQueue& queue, const LaunchFacts& launch) {
        const Key key(launch.kernel, launch.block, launch.shared_bytes);
        const auto found = entries_.find(key);
        return found != entries_.end()
                   ? found->second
                   : entries_.emplace(key, Entry{describe(queue, launch), {}}).first->second;
    }

    std::mutex mutex_;
    std::map<Key, Entry> entries_;
};

KernelLog::KernelLog() : launches_(std::make_shared<Launches>()) {}

void KernelLog::watch(Queue& queue) const {
    if (auto* const own = std::get_if<CudaQueue>(&queue)) {
        own->show_launches(launches_);
    }
}

std::vector<KernelUse> KernelLog::uses() const { return launches_->uses(); }

} // namespace runner
