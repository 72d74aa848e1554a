// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/queue/launch.cuh"
#include "kernels/stripes/stripes_find.hpp"

namespace runner {
namespace {

constexpr int threads = sum_parts; ///< of a block that sums, of which each has a part

/// The sum of term(0) … term(count − 1) for all threads of the block, as sum_parts says.
template <class Term> __device__ double sum_of(std::int64_t count, const Term& term) {
    __shared__ double parts[sum_parts];
    double part = 0;
    for (std::int64_t i = threadIdx.x; i < count; i += sum_parts) {
        part += term(i);
    }
    parts[threadIdx.x] = part;
    __syncthreads();
    for (unsigned half = sum_parts / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            parts[threadIdx.x] += parts[threadIdx.x + half];
        }
        __syncthreads();
    }
    const double sum = parts[0];
    __syncthreads(); // before another sum takes the parts
    return sum;
}

__device__ double key_value(const LongEntry& entry) {
    return StripeEntry<double>::element(entry.key);
}

/// A block a line.
__global__ void __launch_bounds__(threads) ratio_kernel(StripeSearch search) {
    const StripeLines<double>& all = search.all;
    const std::int64_t line = blockIdx.x;
    const std::int64_t kept = all.rows - 2 * search.dropped();
    const LongEntry* const entries = all.entries + line * all.rows + search.dropped();
    const double* const smooth = all.smooth + line * all.rows;
    const double own = sum_of(kept, [&](std::int64_t i) { return key_value(entries[i]); });
    const double usual = sum_of(kept, [&](std::int64_t i) { return smooth[entries[i].row]; });
    if (threadIdx.x == 0) {
        search.factors[line] = usual == 0 ? 1 : own / usual;
    }
}

/// A block a line.
__global__ void __launch_bounds__(threads) change_kernel(StripeSearch search) {
    const double* const line = search.all.lines + blockIdx.x * search.all.rows;
    const double sum =
        sum_of(search.all.rows, [&](std::int64_t r) { return search.change(line, r); });
    if (threadIdx.x == 0) {
        search.factors[blockIdx.x] = sum;
    }
}

/// A block a frame.
__global__ void __launch_bounds__(threads) divide_kernel(StripeSearch search) {
    const std::int64_t columns = search.all.columns;
    double* const factors = search.factors + blockIdx.x * columns;
    const double* const backgrounds = search.backgrounds + blockIdx.x * columns;
    const double mean = sum_of(columns, [&](std::int64_t x) { return backgrounds[x]; }) /
                        static_cast<double>(columns);
    for (std::int64_t x = threadIdx.x; x < columns; x += threads) {
        factors[x] /= backgrounds[x] == 0 ? mean : backgrounds[x];
    }
}

/// A block a frame.
__global__ void __launch_bounds__(threads) limits_kernel(StripeSearch search) {
    const std::int64_t columns = search.all.columns;
    const FactorFit fit(columns);
    const LongEntry* const entries = search.entries + blockIdx.x * columns;
    const auto factor = [&](std::int64_t i) { return key_value(entries[fit.first + i]); };
    const double sum = sum_of(fit.count, factor);
    const double moment =
        sum_of(fit.count, [&](std::int64_t i) { return fit.place(i) * factor(i); });
    if (threadIdx.x == 0) {
        search.limits[blockIdx.x] =
            fit.limits(sum, moment, key_value(entries[0]), key_value(entries[columns - 1]), columns,
                       search.snr);
    }
}

/// A block a line.
__global__ void __launch_bounds__(threads) large_kernel(StripeSearch search) {
    const StripeLines<double>& all = search.all;
    const std::int64_t line = blockIdx.x;
    const bool is_stripe = search.is_stripe(line / all.columns, line % all.columns);
    for (std::int64_t r = threadIdx.x; r < all.rows; r += threads) {
        double& value = all.lines[line * all.rows + r];
        value = is_stripe ? all.smooth[line * all.rows + r] : value / search.factors[line];
    }
}

/// As find_neighbours(). A block a frame.
__global__ void __launch_bounds__(threads) neighbours_kernel(StripeSearch search) {
    const std::int64_t columns = search.all.columns;
    const std::int64_t frame = blockIdx.x;
    const double dead =
        sum_of(columns, [&](std::int64_t x) { return search.is_dead(frame, x) ? 1.0 : 0.0; });
    const bool are_few = dead < static_cast<double>(columns / 3);
    for (std::int64_t x = threadIdx.x; x < columns; x += threads) {
        std::int64_t left = are_few && search.is_dead(frame, x) ? x : -1;
        std::int64_t right = x;
        while (left > 0 && search.is_dead(frame, left)) {
            --left;
        }
        while (left >= 0 && right < columns && search.is_dead(frame, right)) {
            ++right;
        }
        search.left[frame * columns + x] = static_cast<std::int32_t>(left);
        search.right[frame * columns + x] = static_cast<std::int32_t>(right);
    }
}

/// A block a line.
__global__ void __launch_bounds__(threads) dead_kernel(StripeSearch search) {
    const StripeLines<double>& all = search.all;
    const std::int64_t line = blockIdx.x;
    if (search.left[line] < 0) {
        return;
    }
    for (std::int64_t r = threadIdx.x; r < all.rows; r += threads) {
        all.lines[line * all.rows + r] = search.between(line / all.columns, line % all.columns, r);
    }
}

LaunchShape blocks(std::int64_t count) {
    return {dim3(static_cast<unsigned>(count)), dim3(threads)};
}

} // namespace

void find_ratios(CudaQueue& queue, const StripeSearch& search) {
    launch(queue, blocks(search.all.count()), ratio_kernel, search);
}

void find_changes(CudaQueue& queue, const StripeSearch& search) {
    launch(queue, blocks(search.all.count()), change_kernel, search);
}

void divide_factors(CudaQueue& queue, const StripeSearch& search) {
    launch(queue, blocks(search.all.frames), divide_kernel, search);
}

void find_limits(CudaQueue& queue, const StripeSearch& search) {
    launch(queue, blocks(search.all.frames), limits_kernel, search);
}

void replace_large(CudaQueue& queue, const StripeSearch& search) {
    launch(queue, blocks(search.all.count()), large_kernel, search);
}

void replace_dead(CudaQueue& queue, const StripeSearch& search) {
    launch(queue, blocks(search.all.frames), neighbours_kernel, search);
    launch(queue, blocks(search.all.count()), dead_kernel, search);
}

} // namespace runner
