// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/queue/shown_device.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace runner {

std::string nth_of_devices(std::string_view list, int nth) {
    if (list.empty()) {
        return "";
    }
    for (auto skip = nth % (1 + std::count(list.begin(), list.end(), ',')); skip > 0; --skip) {
        list.remove_prefix(list.find(',') + 1);
    }
    return std::string(list.substr(0, list.find(',')));
}

std::string list_of_devices(const std::string& folder) {
    constexpr std::string_view driver = "nvidia"; // nvidiactl and nvidia-uvm are no devices
    int count = 0;
    std::error_code failure;
    for (std::filesystem::directory_iterator entry(folder, failure), end; !failure && entry != end;
         entry.increment(failure)) {
        const std::string name = entry->path().filename();
        int number = 0;
        const char* const last = name.data() + name.size();
        if (name.starts_with(driver) && name.size() > driver.size() &&
            std::from_chars(name.data() + driver.size(), last, number).ptr == last) {
            ++count;
        }
    }
    std::string list;
    for (int index = 0; index < count; ++index) { // CUDA numbers those there are from 0
        list += (index == 0 ? "" : ",") + std::to_string(index);
    }
    return list;
}

void show_one_device_only(int nth) {
    constexpr const char* name = "CUDA_VISIBLE_DEVICES";
    const char* const set = std::getenv(name);
    const std::string device = nth_of_devices(set == nullptr ? list_of_devices() : set, nth);
    if (!device.empty()) {
        (void)::setenv(name, device.c_str(), 1);
    }
}

} // namespace runner
