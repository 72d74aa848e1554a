// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/median/median_any.hpp"
#include "kernels/median/median_networks.hpp"
#include "kernels/median/median_view.hpp"

namespace runner {

void median(CudaQueue& queue, const Median& median, const RowBlock& block, const std::byte* in,
            std::byte* out) {
    if (block.frames == 0 || block.out_rows == 0) {
        return;
    }
    const MedianView view = median_view(median, block);
    constexpr std::int64_t most_columns = std::int64_t{1} << 30;
    const auto launch_networks =
        size_of(median.type) <= 2 ? launch_median_narrow : launch_median_wide;
    if (view.columns >= most_columns || !launch_networks(queue, median.type, view, in, out)) {
        launch_median_search(queue, median.type, view, in, out);
    }
    queue.count(median_operations(median, block));
}

} // namespace runner
