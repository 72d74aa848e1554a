// SPDX-License-Identifier: BSD-3-Clause
#include "cli/devices_text.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/json.hpp"
#include "base/sizes.hpp"
#include "io/files/text_file.hpp"
#include "kernels/profile/kernel_log.hpp"
#include "kernels/queue/devices.hpp"
#include "runner/ranks/binding.hpp"
#include "runner/ranks/kept_rates.hpp"

#include <ctime>

namespace runner::cli {
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

std::string bytes_rate_text(double bytes) { return fmt::format("{:.4g} GB/s", 1e-9 * bytes); }

/// "   rates of 2026-…: …" or why there are none.
std::string rates_line(const std::string& uuid, const std::vector<DeviceInfo>& devices) {
    const auto [rates, why] = kept_rates(uuid);
    if (!rates.known()) {
        return "   rates " + why + "\n";
    }
    std::string text = fmt::format(
        "   rates of {}: copy {}, multiply-adds {:.4g} T/s float32 and {:.4g} T/s float64\n   "
        "host to device {}, device to host {}, both at once {}",
        rates.measured, bytes_rate_text(rates.copy_bytes), 1e-12 * rates.float32_multiply_adds,
        1e-12 * rates.float64_multiply_adds, bytes_rate_text(rates.upload_bytes),
        bytes_rate_text(rates.download_bytes), bytes_rate_text(rates.both_ways_bytes));
    for (const PeerRate& peer : rates.peers) {
        for (const DeviceInfo& device : devices) {
            if (device.uuid == peer.uuid) {
                text += fmt::format(", to {} {}", device.index, bytes_rate_text(peer.bytes));
            }
        }
    }
    return text + "\n";
}

} // namespace

void measure_devices() {
    const std::vector<DeviceInfo> devices = visible_devices();
    if (devices.empty()) {
        const std::string versions = cuda_versions();
        throw Error(ExitCode::gpu, {"there is no GPU to measure", "",
                                    versions == "none" ? "the program is built without CUDA"
                                                       : "CUDA sees no device: " + versions,
                                    "Check nvidia-smi and CUDA_VISIBLE_DEVICES"});
    }
    std::vector<DeviceRates> all = measure_rates(devices);
    for (DeviceRates& rates : all) {
        rates.measured = utc_text(std::time(nullptr));
    }
    keep_rates(all);
}

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
        text += rates_line(device.uuid, devices);
    }
    return text;
}

std::string devices_json() {
    Json list = Json::array();
    HostTopology topology;
    const std::vector<DeviceInfo> devices = visible_devices();
    for (const DeviceInfo& device : devices) {
        const auto [rates, why] = kept_rates(device.uuid);
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
                        {"local_rank_step", devices.size()},
                        {"rates", rates.known() ? rates_json(rates) : Json()}});
    }
    return list.lines(2);
}

} // namespace runner::cli
