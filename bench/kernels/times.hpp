// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/queue/cuda_queue.hpp"

#include <algorithm>
#include <vector>

namespace runner {

/// Seconds of calls, the least first.
struct Times {
    std::vector<double> sorted;
    double median() const { return sorted[sorted.size() / 2]; }
    /// (90th − 10th percentile) / median.
    double spread() const {
        return (sorted[sorted.size() * 9 / 10] - sorted[sorted.size() / 10]) / median();
    }
};

/// Seconds of one call of `work`, which is called once before; a sample is `calls` in a row.
template <class F> Times time(CudaQueue& queue, int samples, int calls, F&& work) {
    work();
    Times times;
    CudaQueue::Event begin(queue);
    CudaQueue::Event end(queue);
    for (int i = 0; i < samples; ++i) {
        begin.record(queue);
        for (int k = 0; k < calls; ++k) {
            work();
        }
        end.record(queue);
        end.wait();
        times.sorted.push_back(end.seconds_since(begin) / calls);
    }
    std::sort(times.sorted.begin(), times.sorted.end());
    return times;
}

} // namespace runner
