// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace runner {

/// What the launches of one kernel with one shape of block did on a GPU.
struct KernelUse {
    std::string name;
    std::array<std::int64_t, 3> grid{};  ///< blocks along x, y, z of the largest launch
    std::array<std::int64_t, 3> block{}; ///< threads
    std::int64_t registers = 0;          ///< of a thread
    std::int64_t local_bytes = 0;  ///< of a thread, in device memory: what did not fit registers
    std::int64_t shared_bytes = 0; ///< of a block, static and dynamic
    double occupancy =
        0; ///< threads that a multiprocessor holds at once, over the most it can hold
    std::int64_t launches = 0;
    std::int64_t timed = 0; ///< of these, by events
    double seconds = 0;     ///< of all launches, as the timed ones took
    double bytes = 0;       ///< KernelWork of all launches; 0: the kernel has no formula
    double operations = 0;
    bool doubles = false; ///< the operations are of float64

    static auto members(auto& self) {
        return std::tie(self.name, self.grid, self.block, self.registers, self.local_bytes,
                        self.shared_bytes, self.occupancy, self.launches, self.timed, self.seconds,
                        self.bytes, self.operations, self.doubles);
    }
};

/// Adds what other queues, passes or ranks did on the same GPU; the longest first.
void add_uses(std::vector<KernelUse>& all, const std::vector<KernelUse>& more);

/// Whether the nth launch of a kernel is timed, n from 1: the first 32 are, then 16 of every
/// doubling, so that a million launches take a few hundred events.
bool is_timed(std::int64_t nth);
/// How many launches a timed one stands for.
std::int64_t launches_timed_by(std::int64_t nth);

/// Bytes a second from one GPU's memory to another's.
struct PeerRate {
    std::string uuid;
    double bytes = 0;

    static auto members(auto& self) { return std::tie(self.uuid, self.bytes); }
};

/// What a GPU can do a second, as `runner devices --measure` finds it.
struct DeviceRates {
    std::string uuid;
    std::string name;
    std::string versions;             ///< cuda_versions()
    std::string measured;             ///< ISO 8601, UTC
    double copy_bytes = 0;            ///< read and written in its memory
    double float32_multiply_adds = 0; ///< each is two operations
    double float64_multiply_adds = 0;
    double upload_bytes = 0; ///< from page-locked memory
    double download_bytes = 0;
    double both_ways_bytes = 0; ///< up and down together, both at once
    std::vector<PeerRate> peers;

    bool known() const { return copy_bytes > 0; }

    static auto members(auto& self) {
        return std::tie(self.uuid, self.name, self.versions, self.measured, self.copy_bytes,
                        self.float32_multiply_adds, self.float64_multiply_adds, self.upload_bytes,
                        self.download_bytes, self.both_ways_bytes, self.peers);
    }
};

/// The least time that a GPU could have taken for a kernel's work over the time it took.
struct LimitShare {
    double share = 0;
    std::string_view limit; ///< what bounds that least time: "copy" or "multiply-add"
};
/// Nothing without rates, time or formula.
std::optional<LimitShare> share_of_limit(const KernelUse& use, const DeviceRates& rates);

/// The least seconds in which a GPU takes in and gives back so many bytes of page-locked memory;
/// 0 without rates.
double least_link_seconds(const DeviceRates& rates, double up, double down);

/// A kernel's name as its source has it, with template arguments and without result, parameters and
/// namespaces of this program: "channels_kernel<unsigned char, (Direction)0>" of a symbol's name.
std::string kernel_name(const std::string& symbol);

} // namespace runner
