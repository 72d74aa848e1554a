// SPDX-License-Identifier: BSD-3-Clause
#include "cli/devices_text.hpp"

#include "base/format.hpp"
#include "base/json.hpp"
#include "base/sizes.hpp"
#include "kernels/queue/devices.hpp"
#include "runner/ranks/binding.hpp"

namespace runner {
namespace {

/// Ranks of a host that see the same devices take them in order.
std::string ranks_of(const DeviceInfo& device, std::size_t count) {
    return fmt::format("local ranks {}, {}, …", device.index,
                       device.index + static_cast<int>(count));
}

std::string peers_text(const DeviceInfo& device) {
    std::string text;
    for (const int peer : device.peers) {
        text += fmt::format("{}{}", (text.empty() ? "" : " "), peer);
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
        text += fmt::format("{}  {}  {}\n   compute capability {}.{}, {} multiprocessors, memory "
                            "{} ({} free), L2 {}, shared memory {} a block, {} copy engines\n   "
                            "PCI {}, NUMA node {}, peers {}; goes to {}\n",
                            device.index, device.name, device.uuid, device.major, device.minor,
                            device.multiprocessors, size_text(device.memory_total),
                            size_text(free_device_memory(device.index)), size_text(device.l2_bytes),
                            size_text(device.shared_bytes), device.copy_engines, device.pci,
                            topology.numa_node_of(device.pci), peers_text(device),
                            ranks_of(device, devices.size()));
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
