// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/median/median_call.hpp"
#include "kernels/median/median_walk.cuh"

namespace runner {

bool launch_median_narrow(CudaQueue& queue, ElementType type, const MedianCall& call,
                          const std::byte* in, std::byte* out) {
    using namespace median_cuda;
    switch (type) {
    case ElementType::int8: return launch_elements<ByteKeys, std::int8_t>(queue, call, in, out);
    case ElementType::uint8: return launch_elements<ByteKeys, std::uint8_t>(queue, call, in, out);
    case ElementType::int16: return launch_elements<HalfKeys, std::int16_t>(queue, call, in, out);
    default: return launch_elements<HalfKeys, std::uint16_t>(queue, call, in, out);
    }
}

bool launch_median_wide(CudaQueue& queue, ElementType type, const MedianCall& call,
                        const std::byte* in, std::byte* out) {
    using namespace median_cuda;
    switch (type) {
    case ElementType::int32: return launch_elements<IntKeys, std::int32_t>(queue, call, in, out);
    case ElementType::uint32: return launch_elements<IntKeys, std::uint32_t>(queue, call, in, out);
    case ElementType::float32: return launch_elements<FloatKeys, float>(queue, call, in, out);
    case ElementType::int64: return launch_elements<LongKeys, std::int64_t>(queue, call, in, out);
    case ElementType::uint64: return launch_elements<LongKeys, std::uint64_t>(queue, call, in, out);
    default: return launch_elements<LongKeys, double>(queue, call, in, out);
    }
}

void median(CudaQueue& queue, const Median& median, const RowBlock& block, const std::byte* in,
            std::byte* out, const Tally& replaced) {
    if (block.frames == 0 || block.out_rows == 0) {
        return;
    }
    const MedianCall call = median_call(median, block, replaced);
    constexpr std::int64_t most_columns = std::int64_t{1} << 30;
    const auto launch_networks =
        size_of(median.type) <= 2 ? launch_median_narrow : launch_median_wide;
    if (call.columns >= most_columns ||
        (!launch_networks(queue, median.type, call, in, out) &&
         !launch_median_windows(queue, median.type, call, in, out))) {
        launch_median_search(queue, median.type, call, in, out);
    }
    if (median.invalid) {
        mend_medians(queue, median.type, *median.invalid, call, in, out);
    }
    queue.count(median_operations(median, block));
}

} // namespace runner
