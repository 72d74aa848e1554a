// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/median/median_networks.hpp"
#include "kernels/median/median_walk.cuh"

namespace runner {

bool launch_median_narrow(CudaQueue& queue, ElementType type, const MedianView& view,
                          const std::byte* in, std::byte* out) {
    using namespace median_cuda;
    switch (type) {
    case ElementType::int8:
        return launch_elements<ByteKeys, std::int8_t>(queue, view, in, out, 0x80808080U);
    case ElementType::uint8:
        return launch_elements<ByteKeys, std::uint8_t>(queue, view, in, out, 0);
    case ElementType::int16:
        return launch_elements<HalfKeys, std::int16_t>(queue, view, in, out, 0x80008000U);
    default: return launch_elements<HalfKeys, std::uint16_t>(queue, view, in, out, 0);
    }
}

} // namespace runner
