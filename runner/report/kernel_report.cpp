// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/profile/kernel_use.hpp"
#include "runner/report/report.hpp"
#include "runner/report/report_values.hpp"

#include <algorithm>

namespace runner {
namespace {

/// One GPU, and what its ranks had it do.
struct UsedDevice {
    std::string name;
    std::string uuid;
    KeptRates rates;
    std::vector<KernelUse> kernels;
};

std::vector<UsedDevice> used_devices(const std::vector<RankReport>& ranks) {
    std::vector<UsedDevice> devices;
    for (const RankReport& rank : ranks) {
        auto device = std::find_if(devices.begin(), devices.end(), [&](const UsedDevice& other) {
            return other.uuid == rank.uuid;
        });
        if (device == devices.end()) {
            device = devices.insert(device, {rank.device, rank.uuid, rank.rates, {}});
        }
        add_uses(device->kernels, rank.times.kernels);
    }
    return devices;
}

Json kernel_value(const UsedDevice& device, const KernelUse& use) {
    Json value = {{"device", device.name},
                  {"uuid", device.uuid},
                  {"name", use.name},
                  {"launches", use.launches},
                  {"timed", use.timed},
                  {"seconds", use.seconds},
                  {"grid", Json::array(use.grid[0], use.grid[1], use.grid[2])},
                  {"block", Json::array(use.block[0], use.block[1], use.block[2])},
                  {"registers", use.registers},
                  {"local_bytes", use.local_bytes},
                  {"shared_bytes", use.shared_bytes},
                  {"occupancy", use.occupancy},
                  {"bytes", use.bytes},
                  {"operations", use.operations},
                  {"operations_of", use.doubles ? "float64" : "float32"}};
    if (const auto share = share_of_limit(use, device.rates.rates)) {
        value["share"] = share->share;
        value["limit"] = share->limit;
    }
    return value;
}

} // namespace

Json kernels_value(const std::vector<RankReport>& ranks) {
    Json kernels = Json::array();
    for (const UsedDevice& device : used_devices(ranks)) {
        for (const KernelUse& use : device.kernels) {
            kernels.push_back(kernel_value(device, use));
        }
    }
    return kernels;
}

Json rates_value(const std::vector<RankReport>& ranks) {
    Json all = Json::array();
    for (const UsedDevice& device : used_devices(ranks)) {
        if (device.rates.rates.known()) {
            all.push_back(rates_json(device.rates.rates));
        } else {
            all.push_back({{"uuid", device.uuid},
                           {"device", device.name},
                           {"why_unknown", device.rates.why}});
        }
    }
    return all;
}

} // namespace runner
