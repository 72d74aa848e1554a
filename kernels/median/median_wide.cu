// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/median/median_networks.hpp"
#include "kernels/median/median_walk.cuh"

namespace runner {

bool launch_median_wide(CudaQueue& queue, ElementType type, const MedianView& view,
                        const std::byte* in, std::byte* out) {
    using namespace median_cuda;
    constexpr std::uint32_t sign = 0x80000000U;
    switch (type) {
    case ElementType::int32: return launch_elements<IntKeys, std::int32_t>(queue, view, in, out, 0);
    case ElementType::uint32:
        return launch_elements<IntKeys, std::uint32_t>(queue, view, in, out, sign);
    case ElementType::float32: return launch_elements<FloatKeys, float>(queue, view, in, out, 0);
    case ElementType::int64:
        return launch_elements<LongKeys, std::int64_t>(queue, view, in, out, 0);
    case ElementType::uint64:
        return launch_elements<LongKeys, std::uint64_t>(queue, view, in, out, sign);
    default: return launch_elements<LongKeys, double>(queue, view, in, out, 0);
    }
}

} // namespace runner
