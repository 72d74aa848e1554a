// SPDX-License-Identifier: BSD-3-Clause
#include "runner/ranks/binding.hpp"

#include "base/format.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>

#include <hwloc.h>
#include <sched.h>

namespace runner {
namespace {

CpuList to_list(hwloc_const_bitmap_t set) {
    CpuList cpus;
    for (int cpu = hwloc_bitmap_first(set); cpu >= 0; cpu = hwloc_bitmap_next(set, cpu)) {
        cpus.push_back(cpu);
    }
    return cpus;
}

CpuList affinity_mask() {
    cpu_set_t set;
    CPU_ZERO(&set);
    CpuList cpus;
    if (::sched_getaffinity(0, sizeof(set), &set) == 0) {
        for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
            if (CPU_ISSET(cpu, &set)) {
                cpus.push_back(cpu);
            }
        }
    }
    return cpus;
}

/// mpirun sets the first when it bound the rank, and the second only when it was told how.
bool bound_by_mpirun_default() {
    return std::getenv("OMPI_MCA_orte_bound_at_launch") != nullptr &&
           std::getenv("OMPI_MCA_hwloc_base_binding_policy") == nullptr;
}

} // namespace

std::vector<GpuChoice> choose_gpus(const std::vector<HostRank>& ranks) {
    std::map<std::string, int> taken;
    std::vector<GpuChoice> choices;
    for (const HostRank& rank : ranks) {
        GpuChoice choice;
        for (const DeviceInfo& device : rank.devices) {
            if (choice.device < 0 || taken[device.uuid] < taken[choice.uuid]) {
                choice.device = device.index;
                choice.uuid = device.uuid;
            }
        }
        if (choice.device >= 0) {
            ++taken[choice.uuid];
        }
        choices.push_back(choice);
    }
    for (GpuChoice& choice : choices) {
        choice.sharers = choice.device < 0 ? 1 : taken[choice.uuid];
    }
    return choices;
}

std::string cpu_list_text(const CpuList& cpus) {
    std::string text;
    for (std::size_t i = 0; i < cpus.size();) {
        std::size_t end = i + 1;
        while (end < cpus.size() && cpus[end] == cpus[end - 1] + 1) {
            ++end;
        }
        text += fmt::format("{}{}", (text.empty() ? "" : ","), cpus[i]);
        if (end - i > 1) {
            text += fmt::format("-{}", cpus[end - 1]);
        }
        i = end;
    }
    return text;
}

struct HostTopology::Loaded {
    struct Destroy {
        void operator()(hwloc_topology_t handle) const noexcept { hwloc_topology_destroy(handle); }
    };
    std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, Destroy> topology;

    /// The object that has the device and cores: its nearest ancestor that is no I/O object.
    hwloc_obj_t place_of(const std::string& pci) const {
        hwloc_obj_t device =
            topology ? hwloc_get_pcidev_by_busidstring(topology.get(), pci.c_str()) : nullptr;
        return device == nullptr ? nullptr : hwloc_get_non_io_ancestor_obj(topology.get(), device);
    }
};

HostTopology::HostTopology() = default;
HostTopology::~HostTopology() = default;

HostTopology::Loaded& HostTopology::loaded() {
    if (!loaded_) {
        loaded_ = std::make_unique<Loaded>();
        hwloc_topology_t raw = nullptr;
        if (hwloc_topology_init(&raw) == 0) {
            loaded_->topology.reset(raw);
            if (hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_IMPORTANT) != 0 ||
                hwloc_topology_load(raw) != 0) {
                loaded_->topology.reset();
            }
        }
    }
    return *loaded_;
}

CpuList HostTopology::allowed_cpus() {
    if (bound_by_mpirun_default()) {
        if (const auto& topology = loaded().topology) {
            CpuList cgroup = to_list(hwloc_topology_get_allowed_cpuset(topology.get()));
            if (!cgroup.empty()) {
                return cgroup;
            }
        }
    }
    return affinity_mask();
}

CpuList HostTopology::cpus_near(const std::string& pci, const CpuList& allowed) {
    hwloc_obj_t place = loaded().place_of(pci);
    if (place == nullptr || place->cpuset == nullptr) {
        return allowed;
    }
    CpuList near;
    for (const int cpu : allowed) {
        if (hwloc_bitmap_isset(place->cpuset, static_cast<unsigned>(cpu)) != 0) {
            near.push_back(cpu);
        }
    }
    return near.empty() ? allowed : near;
}

int HostTopology::numa_node_of(const std::string& pci) {
    hwloc_obj_t place = loaded().place_of(pci);
    if (place == nullptr || place->nodeset == nullptr) {
        return -1;
    }
    return hwloc_bitmap_first(place->nodeset);
}

CpuList share_of(const CpuList& cpus, int index, int sharers) {
    const std::size_t count = cpus.size();
    const auto part = static_cast<std::size_t>(index);
    const auto parts = static_cast<std::size_t>(sharers);
    if (count < parts) {
        return cpus;
    }
    return {cpus.begin() + static_cast<std::ptrdiff_t>(count * part / parts),
            cpus.begin() + static_cast<std::ptrdiff_t>(count * (part + 1) / parts)};
}

bool bind_process(const CpuList& cpus) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int cpu : cpus) {
        if (cpu < CPU_SETSIZE) {
            CPU_SET(static_cast<unsigned>(cpu), &set);
        }
    }
    return ::sched_setaffinity(0, sizeof(set), &set) == 0;
}

} // namespace runner
