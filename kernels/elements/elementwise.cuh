// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/elements/tally.cuh"
#include "kernels/queue/launch.cuh"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace runner {

/// So many elements that are loaded and stored at once.
template <class T, int n> struct alignas(sizeof(T) * n) ElementVector { T at[n]; };

/// Elements of a vector where the larger of two types fills 16 bytes.
template <class In, class Out>
inline constexpr int vector_elements = 16 / static_cast<int>(std::max(sizeof(In), sizeof(Out)));

inline constexpr int elementwise_threads = 256;
inline constexpr int elementwise_vectors = 4; ///< that a thread has in flight

/// The grid of a kernel over `count` ≥ 1 elements, each thread of which takes several of a long
/// array, a grid's threads apart.
inline LaunchShape strided_shape(std::int64_t count) {
    constexpr std::int64_t most_blocks = 1 << 16;
    const std::int64_t blocks = (count + elementwise_threads - 1) / elementwise_threads;
    return {dim3(static_cast<unsigned>(std::min(most_blocks, blocks))), dim3(elementwise_threads)};
}

/// Counts the elements for which test(element), of a tally that counts elements.
template <class Test> struct CountedElements {
    Tally tally;
    Test test;

    template <class In> __device__ bool takes(In element, std::int64_t at) const {
        return tally.takes(at) && test(element);
    }
    /// Whether the tally has all of the elements [first, last), or none.
    __device__ bool takes_alike(std::int64_t first, std::int64_t last) const {
        return tally.sum == nullptr || (tally.first <= first && tally.last >= last) ||
               tally.last <= first || tally.first >= last;
    }
};

/// out[i] = change(in[i]). `aligned`: both begin at multiples of their vectors.
template <class In, class Out, class Change, class Test>
__global__ void __launch_bounds__(elementwise_threads)
    elementwise_kernel(const In* in, Out* out, std::int64_t count, bool aligned, Change change,
                       CountedElements<Test> counted) {
    begin_count(counted.tally);
    int found = 0;
    constexpr int n = vector_elements<In, Out>;
    constexpr std::int64_t step = std::int64_t{elementwise_threads} * n;
    const std::int64_t block = static_cast<std::int64_t>(blockIdx.x) * elementwise_vectors * step;
    const std::int64_t first = block + std::int64_t{threadIdx.x} * n;
    const std::int64_t end = std::min(count, block + elementwise_vectors * step);
    if (aligned && end == block + elementwise_vectors * step && counted.takes_alike(block, end)) {
        const bool are_counted = counted.tally.takes(block);
        ElementVector<In, n> x[elementwise_vectors];
#pragma unroll
        for (int v = 0; v < elementwise_vectors; ++v) {
            x[v] = *reinterpret_cast<const ElementVector<In, n>*>(in + first + v * step);
        }
#pragma unroll
        for (int v = 0; v < elementwise_vectors; ++v) {
            ElementVector<Out, n> y;
#pragma unroll
            for (int i = 0; i < n; ++i) {
                y.at[i] = change(x[v].at[i]);
            }
            *reinterpret_cast<ElementVector<Out, n>*>(out + first + v * step) = y;
            if (are_counted) {
#pragma unroll
                for (int i = 0; i < n; ++i) {
                    found += counted.test(x[v].at[i]) ? 1 : 0;
                }
            }
        }
    } else {
        for (std::int64_t i = block + threadIdx.x; i < end; i += elementwise_threads) {
            out[i] = change(in[i]);
            found += counted.takes(in[i], i) ? 1 : 0;
        }
    }
    add_to_block(found);
    end_count(counted.tally);
}

/// The work of reading and writing `count` elements.
template <class In, class Out> KernelWork elementwise_work(std::int64_t count) {
    return {static_cast<double>(count) * (sizeof(In) + sizeof(Out))};
}

/// Applies `change`, which device code can call, to `count` elements.
template <class In, class Out, class Change, class Test>
void launch_elementwise(CudaQueue& queue, std::int64_t count, const std::byte* in, std::byte* out,
                        const Change& change, const CountedElements<Test>& counted) {
    if (count == 0) {
        return;
    }
    constexpr int n = vector_elements<In, Out>;
    constexpr std::int64_t in_block = std::int64_t{elementwise_threads} * elementwise_vectors * n;
    const bool aligned = reinterpret_cast<std::uintptr_t>(in) % (n * sizeof(In)) == 0 &&
                         reinterpret_cast<std::uintptr_t>(out) % (n * sizeof(Out)) == 0;
    const std::int64_t blocks = (count + in_block - 1) / in_block;
    launch(queue,
           {dim3(static_cast<unsigned>(blocks)), dim3(elementwise_threads), 0,
            elementwise_work<In, Out>(count)},
           elementwise_kernel<In, Out, Change, Test>, reinterpret_cast<const In*>(in),
           reinterpret_cast<Out*>(out), count, aligned, change, counted);
}

} // namespace runner
