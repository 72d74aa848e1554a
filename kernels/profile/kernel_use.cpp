// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/profile/kernel_use.hpp"

#include <algorithm>
#include <bit>

namespace runner {
namespace {

constexpr std::int64_t all_timed = 32;
constexpr std::int64_t timed_of_doubling = 16;

std::int64_t blocks_of(const KernelUse& use) { return use.grid[0] * use.grid[1] * use.grid[2]; }

void add_use(KernelUse& all, const KernelUse& more) {
    if (blocks_of(more) > blocks_of(all)) {
        all.grid = more.grid;
    }
    all.launches += more.launches;
    all.timed += more.timed;
    all.seconds += more.seconds;
    all.bytes += more.bytes;
    all.operations += more.operations;
}

} // namespace

void add_uses(std::vector<KernelUse>& all, const std::vector<KernelUse>& more) {
    for (const KernelUse& use : more) {
        const auto same = std::find_if(all.begin(), all.end(), [&](const KernelUse& other) {
            return other.name == use.name && other.block == use.block &&
                   other.shared_bytes == use.shared_bytes && other.registers == use.registers;
        });
        if (same == all.end()) {
            all.push_back(use);
        } else {
            add_use(*same, use);
        }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const KernelUse& a, const KernelUse& b) { return a.seconds > b.seconds; });
}

std::int64_t launches_timed_by(std::int64_t nth) {
    if (nth <= all_timed) {
        return 1;
    }
    const auto doubling = std::bit_floor(static_cast<std::uint64_t>(nth));
    return static_cast<std::int64_t>(doubling) / timed_of_doubling;
}

bool is_timed(std::int64_t nth) { return nth % launches_timed_by(nth) == 0; }

std::optional<LimitShare> share_of_limit(const KernelUse& use, const DeviceRates& rates) {
    const double multiply_adds =
        use.doubles ? rates.float64_multiply_adds : rates.float32_multiply_adds;
    if (!rates.known() || use.seconds <= 0 || (use.bytes <= 0 && use.operations <= 0)) {
        return std::nullopt;
    }
    const double moving = use.bytes / rates.copy_bytes;
    const double computing = multiply_adds > 0 ? use.operations / (2 * multiply_adds) : 0;
    return LimitShare{std::max(moving, computing) / use.seconds,
                      moving >= computing ? "copy" : "multiply-add"};
}

double least_link_seconds(const DeviceRates& rates, double up, double down) {
    if (rates.upload_bytes <= 0 || rates.download_bytes <= 0 || rates.both_ways_bytes <= 0) {
        return 0;
    }
    return std::max({up / rates.upload_bytes, down / rates.download_bytes,
                     (up + down) / rates.both_ways_bytes});
}

} // namespace runner
