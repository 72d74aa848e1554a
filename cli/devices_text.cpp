// SPDX-License-Identifier: BSD-3-Clause
#include "cli/devices_text.hpp"

#include "base/json.hpp"
#include "base/sizes.hpp"
#include "kernels/queue/devices.hpp"
#include "runner/ranks/binding.hpp"

namespace runner {
namespace {

/// Ranks of a host that see the same devices take them in order.
std::string ranks_of(const DeviceInfo& device, std::size_t count) {
    return "local ranks " + std::to_string(device.index) + ", " +
           std::to_string(device.index + static_cast<int>(count)) + ", …";
}

std::string peers_text(const DeviceInfo& device) {
    std::string text;
    for (const int peer : device.peers) {
        text += (text.empty() ? "" : " ") + std::to_string(peer);
    }
    return text.empty() ? "none" : text;
}

} // namespace

std::string devices_text() {
    const std::vector<DeviceInfo> devices = visible_devices();
    if (devices.empty()) {
        const std::string versions = cuda_versions();
        return "no GPU (" + (versions == "none" ? "built without CUDA" : versions) +
               "); jobs run on the CPU\n";
    }
    HostTopology topology;
    std::string text = cuda_versions() + "\n";
    for (const DeviceInfo& device : devices) {
        text += std::to_string(device.index) + "  " + device.name + "  " + device.uuid +
                "\n   compute capability " + std::to_string(device.major) + "." +
                std::to_string(device.minor) + ", " + std::to_string(device.multiprocessors) +
                " multiprocessors, memory " + size_text(device.memory_total) + " (" +
                size_text(free_device_memory(device.index)) + " free), L2 " +
                size_text(device.l2_bytes) + ", shared memory " + size_text(device.shared_bytes) +
                " a block, " + std::to_string(device.copy_engines) + " copy engines\n   PCI " +
                device.pci + ", NUMA node " + std::to_string(topology.numa_node_of(device.pci)) +
                ", peers " + peers_text(device) + "; goes to " + ranks_of(device, devices.size()) +
                "\n";
    }
    return text;
}

std::string devices_json() {
    Json list = Json::array();
    HostTopology topology;
    const std::vector<DeviceInfo> devices = visible_devices();
    for (const DeviceInfo& device : devices) {
        list.push_back({{"index", device.index},
                        {"name", device.name},
                        {"uuid", device.uuid},
                        {"compute_capability", Json::array(device.major, device.minor)},
                        {"multiprocessors", device.multiprocessors},
                        {"memory_bytes", device.memory_total},
                        {"memory_free_bytes", free_device_memory(device.index)},
                        {"l2_bytes", device.l2_bytes},
                        {"shared_memory_per_block_bytes", device.shared_bytes},
                        {"copy_engines", device.copy_engines},
                        {"pci", device.pci},
                        {"numa_node", topology.numa_node_of(device.pci)},
                        {"peers", device.peers},
                        {"first_local_rank", device.index},
                        {"local_rank_step", devices.size()}});
    }
    return list.lines(2);
}

} // namespace runner
