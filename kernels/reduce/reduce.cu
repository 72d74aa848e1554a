// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/reduce/reduce.hpp"

#include "kernels/elements/ordered_key.hpp"
#include "kernels/reduce/reduce_device.cuh"
#include "kernels/reduce/reduce_select.hpp"

#include <cstdint>
#include <limits>
#include <type_traits>

namespace runner {
namespace {

using namespace reduce_cuda;

constexpr int lanes = static_cast<int>(Reduction::lanes);
constexpr int columns = static_cast<int>(most_tile);

/// The sum of `term` of the place's elements in float64, in the order that Reduction says; the
/// threads with threadIdx.y 0 get it.
template <class T, class Term>
__device__ double sum_in_order(const Places<T>& places, const ReduceTile& tile, bool has_place,
                               const Term& term, double* partial) {
    double all = 0;
    for (std::int64_t first = 0; first < places.layout.elements; first += Reduction::piece) {
        const std::int64_t end = min(places.layout.elements, first + Reduction::piece);
        for (int lane = static_cast<int>(threadIdx.y); lane < lanes;
             lane += static_cast<int>(blockDim.y)) {
            double sum = 0;
            if (has_place) {
                places.for_elements(tile, first + lane, end, lanes, [&](T element) {
                    sum = __dadd_rn(sum, places.is_value(element) ? term(element) : 0.0);
                });
            }
            partial[lane * blockDim.x + threadIdx.x] = sum;
        }
        __syncthreads();
        for (int half = lanes / 2; half > 0; half /= 2) {
            for (int j = static_cast<int>(threadIdx.y); j < half;
                 j += static_cast<int>(blockDim.y)) {
                double& sum = partial[j * blockDim.x + threadIdx.x];
                sum = __dadd_rn(sum, partial[(j + half) * blockDim.x + threadIdx.x]);
            }
            __syncthreads();
        }
        all = __dadd_rn(all, partial[threadIdx.x]);
        __syncthreads();
    }
    return all;
}

/// The sum of the place's elements, with the same shared memory; the threads with threadIdx.y 0 get
/// it.
template <class T>
__device__ ExactSum<T> exact_sum(const Places<T>& places, const ReduceTile& tile, bool has_place,
                                 double* partial) {
    if constexpr (std::is_floating_point_v<T>) {
        return sum_in_order(
            places, tile, has_place, [](T element) { return to_double(element); }, partial);
    } else {
        using Sum = ExactSum<T>;
        __shared__ Sum sums[8 * columns]; // or a sum of each lane
        Sum own = 0;
        if (has_place) {
            places.for_elements(
                tile, threadIdx.y, places.layout.elements, blockDim.y, [&](T element) {
                    own += places.is_value(element) ? static_cast<Sum>(element) : Sum{0};
                });
        }
        sums[threadIdx.y * blockDim.x + threadIdx.x] = own;
        __syncthreads();
        Sum all = 0;
        for (unsigned y = 0; threadIdx.y == 0 && y < blockDim.y; ++y) {
            all += sums[y * blockDim.x + threadIdx.x];
        }
        __syncthreads();
        return all;
    }
}

/// How many of the place's elements are values; all threads get it.
template <class T>
__device__ std::int64_t count_valid(const Places<T>& places, const ReduceTile& tile,
                                    bool has_place) {
    if (!places.has_invalid) {
        return places.layout.elements;
    }
    std::int64_t own = 0;
    if (has_place) {
        places.for_elements(tile, threadIdx.y, places.layout.elements, blockDim.y,
                            [&](T element) { own += places.is_value(element) ? 1 : 0; });
    }
    return sum_of_column(own);
}

template <class T>
__global__ void __launch_bounds__(256) means_kernel(Places<T> places, bool is_deviation) {
    __shared__ double means[columns];
    __shared__ double partial[lanes * columns];
    for_tiles_of_block(places, [&](const ReduceTile& tile, bool has_place) {
        const std::int64_t valid = count_valid(places, tile, has_place);
        const auto count = static_cast<double>(valid);
        double result =
            __ddiv_rn(nearest_double(exact_sum(places, tile, has_place, partial)), count);
        if (is_deviation) {
            if (threadIdx.y == 0) {
                means[threadIdx.x] = result;
            }
            __syncthreads();
            const double mean = means[threadIdx.x];
            const double squares = sum_in_order(
                places, tile, has_place,
                [&](T element) { return squared_distance(to_double(element), mean); }, partial);
            result = __dsqrt_rn(__ddiv_rn(squares, count));
        }
        if (threadIdx.y == 0 && has_place) {
            store_number(places.out_type, valid > 0 ? result : places.invalid, places.out,
                         tile.first + threadIdx.x);
        }
    });
}

template <class T> __global__ void __launch_bounds__(256) sums_kernel(Places<T> places) {
    using Out = SumElement<T>;
    __shared__ double partial[std::is_floating_point_v<T> ? lanes * columns : 1];
    for_tiles_of_block(places, [&](const ReduceTile& tile, bool has_place) {
        const std::int64_t valid = count_valid(places, tile, has_place);
        const ExactSum<T> sum = exact_sum(places, tile, has_place, partial);
        if (threadIdx.y == 0 && has_place) {
            reinterpret_cast<Out*>(places.out)[tile.first + threadIdx.x] =
                valid > 0 ? sum_element<T>(sum) : mark_of<Out>(places.invalid);
        }
    });
}

template <class T>
__global__ void __launch_bounds__(256) extremes_kernel(Places<T> places, bool is_most) {
    using Key = SignedOf<sizeof(T)>;
    using Limits = std::numeric_limits<Key>;
    __shared__ Key least[8 * columns]; // or one of each lane
    __shared__ Key most[8 * columns];
    for_tiles_of_block(places, [&](const ReduceTile& tile, bool has_place) {
        const std::int64_t valid = count_valid(places, tile, has_place);
        Key low = Limits::max();
        Key high = Limits::min();
        if (has_place) {
            places.for_elements(tile, threadIdx.y, places.layout.elements, blockDim.y,
                                [&](T element) {
                                    if (places.is_value(element)) {
                                        const Key key = ordered_key(element);
                                        low = key < low ? key : low;
                                        high = key > high ? key : high;
                                    }
                                });
        }
        least[threadIdx.y * blockDim.x + threadIdx.x] = low;
        most[threadIdx.y * blockDim.x + threadIdx.x] = high;
        __syncthreads();
        if (threadIdx.y == 0 && has_place) {
            for (unsigned y = 1; y < blockDim.y; ++y) {
                const Key lower = least[y * blockDim.x + threadIdx.x];
                const Key higher = most[y * blockDim.x + threadIdx.x];
                low = lower < low ? lower : low;
                high = higher > high ? higher : high;
            }
            const bool takes_most = is_most || is_key_of_nan<T>(high);
            reinterpret_cast<T*>(places.out)[tile.first + threadIdx.x] =
                valid > 0 ? element_of_key<T>(takes_most ? high : low) : mark_of<T>(places.invalid);
        }
    });
}

template <class T> __global__ void __launch_bounds__(256) zero_kernel(T* out, std::int64_t count) {
    for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
         i += std::int64_t{gridDim.x} * blockDim.x) {
        out[i] = 0;
    }
}

template <class T>
__global__ void __launch_bounds__(256) histograms_kernel(Places<T> places, HistogramBins bins) {
    for_tiles_of_block(places, [&](const ReduceTile& tile, bool has_place) {
        if (!has_place) {
            return;
        }
        auto* const to = reinterpret_cast<unsigned long long*>(places.out) +
                         (tile.first + threadIdx.x) * bins.bins;
        places.for_elements(tile, threadIdx.y, places.layout.elements, blockDim.y, [&](T element) {
            const std::int64_t bin = bins.bin_of(to_double(element));
            if (bin >= 0 && places.is_value(element)) {
                atomicAdd(to + bin, 1ULL);
            }
        });
    });
}

template <class T>
void count_bins(CudaQueue& queue, const Reduction& reduce, std::int64_t groups,
                const Places<T>& places) {
    const std::int64_t all = groups * reduce.places() * reduce.bins;
    constexpr std::int64_t most_blocks = 1 << 16;
    launch(queue,
           {dim3(static_cast<unsigned>(std::min(most_blocks, (all + 255) / 256))),
            dim3(256),
            0,
            {8.0 * static_cast<double>(all)}},
           zero_kernel<std::uint64_t>, reinterpret_cast<std::uint64_t*>(places.out), all);
    launch_tiles(queue, reduce, places, histograms_kernel<T>,
                 HistogramBins::of(reduce.bins, reduce.range[0], reduce.range[1]));
}

} // namespace

void reduce(CudaQueue& queue, const Reduction& reduce, std::int64_t groups, const std::byte* in,
            std::byte* out, std::byte* /*scratch*/) {
    if (groups == 0) {
        return;
    }
    if (reduce.selects()) {
        reduce_by_order(queue, reduce, groups, in, out);
        return;
    }
    visit_element_type(reduce.in_type, [&](auto zero) {
        using T = decltype(zero);
        const Places<T> places = places_of<T>(reduce, groups, in, out);
        switch (reduce.operation) {
        case Reduction::Operation::mean:
        case Reduction::Operation::std:
            return launch_tiles(queue, reduce, places, means_kernel<T>,
                                reduce.operation == Reduction::Operation::std);
        case Reduction::Operation::sum: return launch_tiles(queue, reduce, places, sums_kernel<T>);
        case Reduction::Operation::histogram: return count_bins(queue, reduce, groups, places);
        default:
            return launch_tiles(queue, reduce, places, extremes_kernel<T>,
                                reduce.operation == Reduction::Operation::max);
        }
    });
}

} // namespace runner
