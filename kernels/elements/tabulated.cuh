// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/elements/elementwise.cuh"

#include <bit>

namespace runner {

inline constexpr int tabulated_turns = 4; ///< of elementwise_vectors vectors of 16 elements

/// A function of 8 bits in shared memory: each lane of a warp has a copy of results of 1 byte in
/// a bank of its own, so that lanes never wait for each other; larger results have one copy.
template <class Out> class Table {
  public:
    static constexpr int copies = sizeof(Out) == 1 ? 32 : 1;

    /// All threads of a block, 256, call it.
    template <class In, class Change> __device__ void fill(const Change& change) {
        static_assert(elementwise_threads == 256);
        const auto i = static_cast<int>(threadIdx.x);
        const Out result = change(static_cast<In>(i));
        for (int copy = 0; copy < copies; ++copy) {
            // Each lane begins with another copy: otherwise all would write to one bank.
            at_[place(i, (copy + i) % copies)] = result;
        }
        __syncthreads();
    }
    __device__ Out operator[](unsigned i) const {
        return at_[place(static_cast<int>(i), static_cast<int>(threadIdx.x) % copies)];
    }

  private:
    /// In copies, words of four results stand side by side: results i, i + 64, i + 128, i + 192.
    static __device__ int place(int i, int copy) {
        return copies == 1 ? i : i % 64 * (4 * copies) + copy * 4 + i / 64;
    }

    Out at_[256 * copies];
};

/// out[i] = change(in[i]) of elements of 1 byte, by a table of the 256 results. `aligned`: `in`
/// begins at a multiple of 16 bytes, `out` of 16 bytes or 16 elements, whichever is less. Test has
/// count_in(word) as well, for the four elements of a word.
template <class In, class Out, class Change, class Test>
__global__ void __launch_bounds__(elementwise_threads)
    tabulated_kernel(const In* in, Out* out, std::int64_t count, bool aligned, Change change,
                     CountedElements<Test> counted) {
    static_assert(sizeof(In) == 1);
    begin_count(counted.tally);
    int found = 0;
    __shared__ Table<Out> table;
    table.template fill<In>(change);
    constexpr int n = 16;
    constexpr int stored = std::min(n, 16 / static_cast<int>(sizeof(Out)));
    constexpr std::int64_t step = std::int64_t{elementwise_threads} * n;
    constexpr std::int64_t turn = elementwise_vectors * step;
    const std::int64_t block = std::int64_t{blockIdx.x} * tabulated_turns * turn;
    const std::int64_t end = std::min(count, block + tabulated_turns * turn);
    std::int64_t first = block;
    const bool are_counted = counted.tally.takes(block);
    for (; aligned && first + turn <= end && counted.takes_alike(block, end); first += turn) {
        const std::int64_t at = first + std::int64_t{threadIdx.x} * n;
        ElementVector<std::uint8_t, n> x[elementwise_vectors];
#pragma unroll
        for (int v = 0; v < elementwise_vectors; ++v) {
            x[v] = *reinterpret_cast<const ElementVector<std::uint8_t, n>*>(in + at + v * step);
        }
#pragma unroll
        for (int v = 0; v < elementwise_vectors; ++v) {
#pragma unroll
            for (int k = 0; k < n; k += stored) {
                ElementVector<Out, stored> y;
#pragma unroll
                for (int i = 0; i < stored; ++i) {
                    y.at[i] = table[x[v].at[k + i]];
                }
                *reinterpret_cast<ElementVector<Out, stored>*>(out + at + v * step + k) = y;
            }
            if (are_counted) {
                const auto words = std::bit_cast<ElementVector<std::uint32_t, n / 4>>(x[v]);
#pragma unroll
                for (const std::uint32_t word : words.at) {
                    found += counted.test.count_in(word);
                }
            }
        }
    }
    for (std::int64_t i = first + threadIdx.x; i < end; i += elementwise_threads) {
        out[i] = table[static_cast<std::uint8_t>(in[i])];
        found += counted.takes(in[i], i) ? 1 : 0;
    }
    add_to_block(found);
    end_count(counted.tally);
}

/// launch_elementwise() of elements of 1 byte, for what takes long to compute.
template <class In, class Out, class Change, class Test>
void launch_tabulated(CudaQueue& queue, std::int64_t count, const std::byte* in, std::byte* out,
                      const Change& change, const CountedElements<Test>& counted) {
    if (count == 0) {
        return;
    }
    constexpr std::int64_t block =
        std::int64_t{elementwise_threads} * 16 * elementwise_vectors * tabulated_turns;
    const bool aligned = reinterpret_cast<std::uintptr_t>(in) % 16 == 0 &&
                         reinterpret_cast<std::uintptr_t>(out) % 16 == 0;
    launch(queue,
           {dim3(static_cast<unsigned>((count + block - 1) / block)), dim3(elementwise_threads), 0,
            elementwise_work<In, Out>(count)},
           tabulated_kernel<In, Out, Change, Test>, reinterpret_cast<const In*>(in),
           reinterpret_cast<Out*>(out), count, aligned, change, counted);
}

} // namespace runner
