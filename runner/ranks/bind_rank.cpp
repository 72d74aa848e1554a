// SPDX-License-Identifier: BSD-3-Clause
#include "runner/ranks/bind_rank.hpp"

#include "base/format.hpp"
#include "runner/ranks/host_memory.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>
#include <vector>

#include <unistd.h>

namespace runner {
namespace {

/// What a rank sends the others: its host and the devices that it sees.
struct Offer {
    int host_leader = 0;
    std::vector<std::string> uuids; ///< by CUDA's index

    static auto members(auto& self) { return std::tie(self.host_leader, self.uuids); }
};

Offer offer(const Ranks& ranks, const std::vector<DeviceInfo>& devices) {
    Offer mine{ranks.host_leader(), {}};
    for (const DeviceInfo& device : devices) {
        mine.uuids.push_back(device.uuid);
    }
    return mine;
}

/// The offers of this host's ranks, in rank order.
std::vector<HostRank> host_ranks(const Ranks& ranks, const std::vector<Offer>& offers) {
    std::vector<HostRank> result;
    for (std::size_t i = 0; i < offers.size(); ++i) {
        if (offers[i].host_leader != ranks.host_leader()) {
            continue;
        }
        HostRank rank;
        rank.rank = static_cast<int>(i);
        DeviceInfo device;
        for (const std::string& uuid : offers[i].uuids) {
            device.uuid = uuid;
            rank.devices.push_back(device);
            ++device.index;
        }
        result.push_back(std::move(rank));
    }
    return result;
}

/// This rank's share of the cores that it and other ranks of the host have in common.
CpuList share_cores(const Ranks& ranks, const CpuList& near) {
    const std::pair mine(ranks.host_leader(), cpu_list_text(near));
    const auto all = ranks.gather(mine);
    const auto self = all.begin() + ranks.rank();
    return share_of(near, static_cast<int>(std::count(all.begin(), self, mine)),
                    static_cast<int>(std::count(all.begin(), all.end(), mine)));
}

bool every_rank_has_a_gpu(const Ranks& ranks, BackendChoice choice,
                          const std::vector<DeviceInfo>& devices) {
    ranks.together([&] {
        if (choice == BackendChoice::cuda && devices.empty()) {
            const bool built = cuda_versions() != "none";
            throw Error(ExitCode::gpu,
                        {"there is no GPU to run on",
                         fmt::format("rank {} on {}", ranks.rank(), host_name()),
                         built ? "CUDA sees no device: " + cuda_versions()
                               : "this runner was built without CUDA",
                         built ? "Check nvidia-smi and CUDA_VISIBLE_DEVICES, or use --backend cpu"
                               : "Build it where nvcc is, or use --backend cpu"});
        }
    });
    return ranks.least(devices.empty() ? 0 : 1) == 1;
}

} // namespace

std::string host_name() {
    std::array<char, 256> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

CpuList share_of_host(const Ranks& ranks) {
    return share_cores(ranks, HostTopology().allowed_cpus());
}

RankBinding bind_rank(const Ranks& ranks, BackendChoice choice) {
    RankBinding binding;
    binding.host = host_name();
    const std::vector<DeviceInfo> devices = ranks.together([&] {
        return choice == BackendChoice::cpu ? std::vector<DeviceInfo>{} : visible_devices();
    });
    HostTopology topology;
    CpuList near = topology.allowed_cpus();
    if (every_rank_has_a_gpu(ranks, choice, devices)) {
        binding.backend = Backend::cuda;
        const auto on_host = host_ranks(ranks, ranks.gather(offer(ranks, devices)));
        const GpuChoice gpu = choose_gpus(on_host)[static_cast<std::size_t>(ranks.local_rank())];
        binding.device = devices[static_cast<std::size_t>(gpu.device)];
        binding.sharers = gpu.sharers;
        near = topology.cpus_near(binding.device.pci, near);
    }
    binding.cores = share_cores(ranks, near);
    bind_process(binding.cores);

    RankLimits& limits = binding.limits;
    limits.cores = std::max(1, static_cast<int>(binding.cores.size()));
    limits.host_memory = available_host_memory().bytes / ranks.local_size();
    if (binding.backend == Backend::cuda) {
        // The first call makes the context; memory is free after every rank on the GPU has its own.
        ranks.together([&] { (void)free_device_memory(binding.device.index); });
        const std::int64_t free =
            ranks.together([&] { return free_device_memory(binding.device.index); });
        limits.device_memory = free / binding.sharers;
    }
    binding.least_limits = {static_cast<int>(ranks.least(limits.cores)),
                            ranks.least(limits.host_memory), ranks.least(limits.device_memory)};
    return binding;
}

} // namespace runner
