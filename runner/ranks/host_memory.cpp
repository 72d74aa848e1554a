// SPDX-License-Identifier: BSD-3-Clause
#include "runner/ranks/host_memory.hpp"

#include "base/sizes.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string_view>

namespace runner {
namespace {

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

/// The number a one-number file holds; nothing for "max" or no file.
std::optional<std::int64_t> read_number(const std::string& path) {
    std::ifstream file(path);
    std::int64_t number = 0;
    if (file >> number) {
        return number;
    }
    return std::nullopt;
}

/// "Key:   123 kB" of a /proc file, in bytes.
std::optional<std::int64_t> read_kilobytes(const std::string& path, const std::string& key) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string name;
        std::int64_t number = 0;
        if (words >> name >> number && name == key + ":") {
            return number * KiB;
        }
    }
    return std::nullopt;
}

/// What one cgroup leaves: its limit less what it holds and could not give back at once.
std::optional<std::int64_t> cgroup_level(const std::string& folder) {
    const bool v2 = read_number(folder + "/memory.current").has_value();
    const auto limit = read_number(folder + (v2 ? "/memory.max" : "/memory.limit_in_bytes"));
    const auto usage = read_number(folder + (v2 ? "/memory.current" : "/memory.usage_in_bytes"));
    if (!limit || !usage) {
        return std::nullopt;
    }
    std::int64_t reclaimable = 0;
    std::ifstream stat(folder + "/memory.stat");
    for (std::string name; stat >> name;) {
        std::int64_t value = 0;
        stat >> value;
        reclaimable += (name == "inactive_file" || name == "active_file") ? value : 0;
    }
    return std::max<std::int64_t>(0, *limit - std::max<std::int64_t>(0, *usage - reclaimable));
}

std::int64_t cgroup_memory(const std::string& root) {
    std::int64_t least = unlimited;
    std::ifstream file(root + "/proc/self/cgroup");
    for (std::string line; std::getline(file, line);) {
        // "0::/path" in version 2, "7:memory:/path" in version 1.
        const auto first = line.find(':');
        const auto second = line.find(':', first + 1);
        if (second == std::string::npos) {
            continue;
        }
        const std::string controllers = line.substr(first + 1, second - first - 1);
        std::string base = root + "/sys/fs/cgroup";
        if (!controllers.empty()) {
            if (("," + controllers + ",").find(",memory,") == std::string::npos) {
                continue;
            }
            base += "/memory";
        }
        std::string path = line.substr(second + 1);
        for (;;) {
            least = std::min(least, cgroup_level(base + path).value_or(unlimited));
            const auto slash = path.find_last_of('/');
            if (slash == std::string::npos || path.empty()) {
                break;
            }
            path.resize(slash);
        }
    }
    return least;
}

std::int64_t environment_number(const char* name) {
    const char* text = std::getenv(name);
    return text == nullptr ? 0 : std::strtoll(text, nullptr, 10);
}

/// A size as Slurm has it: a number of MiB, or with K, M, G or T behind it, as sbatch takes them; 0
/// where there is none, or no size that means anything.
std::int64_t environment_size(const char* name) {
    const char* const text = std::getenv(name);
    if (text == nullptr) {
        return 0;
    }
    char* end = nullptr;
    const double number = std::strtod(text, &end);
    constexpr std::string_view units = "KMGT";
    const std::size_t unit =
        end == text || *end == '\0'
            ? 1
            : units.find(static_cast<char>(std::toupper(static_cast<unsigned char>(*end))));
    if (unit == std::string_view::npos) {
        return 0;
    }
    const double bytes = number * std::pow(1024.0, static_cast<double>(unit + 1));
    return bytes >= 1 && bytes < 0x1p62 ? static_cast<std::int64_t>(bytes) : 0;
}

/// SLURM_MEM_PER_NODE, or per CPU times the CPUs on this node.
std::int64_t slurm_memory() {
    if (const std::int64_t node = environment_size("SLURM_MEM_PER_NODE"); node > 0) {
        return node;
    }
    const std::int64_t cpus = std::max<std::int64_t>(1, environment_number("SLURM_CPUS_ON_NODE"));
    const std::int64_t each = environment_size("SLURM_MEM_PER_CPU");
    return each > 0 && each < unlimited / cpus ? each * cpus : unlimited;
}

} // namespace

HostMemory available_host_memory(const std::string& root) {
    HostMemory memory{read_kilobytes(root + "/proc/meminfo", "MemAvailable").value_or(unlimited),
                      "machine"};
    if (const std::int64_t cgroup = cgroup_memory(root); cgroup < memory.bytes) {
        memory = {cgroup, "cgroup"};
    }
    if (const std::int64_t slurm = slurm_memory(); slurm < memory.bytes) {
        memory = {slurm, "Slurm"};
    }
    return memory;
}

HostMemory available_host_memory() { return available_host_memory(""); }

std::int64_t peak_resident_memory() {
    return read_kilobytes("/proc/self/status", "VmHWM").value_or(0);
}

} // namespace runner
