// SPDX-License-Identifier: BSD-3-Clause
// The scatter kernel: rows of any length come in as aligned words, whose elements go to their
// places in shared memory one by one; columns leave as aligned words.
#include "kernels/transpose/transpose_scatter.hpp"

#include "kernels/queue/dynamic_shared.cuh"
#include "kernels/queue/launch.cuh"
#include "kernels/transpose/transpose_scatter_load.cuh"

#include <algorithm>

namespace runner {
namespace {

using namespace scatter_cuda;

/// A row of a tile's output: bytes [begin, end) are this tile's, of which whole vectors begin at
/// `vectors`.
struct ScatterRun {
    std::byte* to;
    int begin;
    int vectors;
    int end;
};

template <int vector, class Rows>
__device__ ScatterRun scatter_run(const ScatterCall& call, const ScatterTile& tile,
                                  const Rows& rows, int row) {
    const ScatterPlan& plan = call.plan;
    ScatterRun run;
    run.to = tile.out + rows(row);
    const auto place = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(run.to));
    const int skipped = static_cast<int>(-place & static_cast<unsigned>(plan.align - 1));
    run.end = plan.whole ? tile.a_count * plan.pitch
                         : min(plan.step * plan.point_bytes() + skipped,
                               tile.b_count * plan.point_bytes());
    run.begin = tile.b == 0 ? 0 : min(skipped, run.end);
    run.vectors = min(run.begin + static_cast<int>(-(place + run.begin) & (vector - 1U)), run.end);
    return run;
}

/// Rows of the output from the `first` on, folded or not.
struct ScatteredRows {
    EvenRows even;
    FoldedRows folded;
    bool folds;

    __device__ ScatteredRows(const ScatterCall& call, std::int64_t first)
        : even(call.out_rows, first), folded(call.out_rows, first),
          folds(call.plan.fold == TileFold::across) {}
    __device__ std::int64_t operator()(int row) const { return folds ? folded(row) : even(row); }
};

/// The elements before the rows' first vectors, where a tile is a row's first, or after their last,
/// where it is the last.
template <int element, int vector, class Rows>
__device__ void write_ends(const ScatterCall& call, const ScatterTile& tile, const Rows& rows,
                           const std::byte* shared, int count) {
    constexpr int places = vector / element;
    const int length =
        call.plan.whole ? tile.a_count * call.plan.pitch : tile.b_count * call.plan.point_bytes();
    const bool first = tile.b == 0;
    const bool last = tile.b + tile.b_count == call.plan.b.count;
    for (int i = static_cast<int>(threadIdx.x); i < places * count; i += threads) {
        const int row = i / places;
        const int at = i % places * element;
        std::byte* to = tile.out + rows(row);
        const std::byte* from = shared + row * call.plan.pitch;
        const int head = min(static_cast<int>(vector - beyond(to, vector)) % vector, length);
        const int tail = length - static_cast<int>(beyond(to + length, vector)) + at;
        if (first && at < head) {
            *reinterpret_cast<Word<element>*>(to + at) =
                *reinterpret_cast<const Word<element>*>(from + at);
        }
        if (last && tail >= head && tail < length) {
            *reinterpret_cast<Word<element>*>(to + tail) =
                *reinterpret_cast<const Word<element>*>(from + tail);
        }
    }
}

/// The bytes at any place of shared memory, or at a vector's.
template <int element, int vector> __device__ Word<vector> load_shared(const std::byte* from) {
    if constexpr (vector == 16 || element == word) {
        return *reinterpret_cast<const Word<vector>*>(from);
    } else {
        const unsigned shift = beyond(from, word);
        const auto* words = reinterpret_cast<const std::uint32_t*>(from - shift);
        return __funnelshift_r(words[0], words[1], 8 * shift);
    }
}

template <int element, int vector, class Rows>
__device__ void write_tile_vectors(const ScatterCall& call, const ScatterTile& tile,
                                   const Rows& rows, const std::byte* shared) {
    const ScatterPlan& plan = call.plan;
    const int count = plan.whole ? 1 : tile.a_count;
    const Divided thread = divide(threadIdx.x, call.out_lanes);
    if (static_cast<int>(thread.quotient) < call.out_rows_at_once) {
        const int stride = vector * plan.out_lanes;
        for (int row = static_cast<int>(thread.quotient); row < count;
             row += call.out_rows_at_once) {
            const ScatterRun run = scatter_run<vector>(call, tile, rows, row);
            const int first = run.vectors + vector * static_cast<int>(thread.rest);
            const std::byte* from = shared + row * plan.pitch + first;
            std::byte* to = run.to + first;
#pragma unroll 4
            for (int left = run.end - first; left >= vector; left -= stride) {
                *reinterpret_cast<Word<vector>*>(to) = load_shared<element, vector>(from);
                from += stride;
                to += stride;
            }
        }
    }
    if constexpr (element < vector) {
        if (tile.b == 0 || tile.b + tile.b_count == plan.b.count) {
            write_ends<element, vector>(call, tile, rows, shared, count);
        }
    }
}

template <int element, bool points, bool at_words>
__global__ void __launch_bounds__(threads, 5) scatter_kernel(ScatterCall call) {
    const ScatterPlan& plan = call.plan;
    const ScatterTile tile = scatter_tile(call);
    std::byte* shared = reinterpret_cast<std::byte*>(dynamic_shared()) + plan.margin * plan.pitch;
    if (plan.vector == 16) {
        const std::byte* to = tile.out + tile.a * call.out_rows.far;
        shared += (beyond(to, 16) - beyond(shared, 16)) & 15U;
    }
    if (!points && element < word && plan.fold == TileFold::along) {
        read_words<element, false, at_words && element == word, true>(call, tile, shared);
    } else {
        read_words<element, points, at_words, false>(call, tile, shared);
    }
    __syncthreads();
    if (plan.vector == 16) {
        write_tile_vectors<element, 16>(call, tile, EvenRows(call.out_rows, tile.a), shared);
    } else {
        write_tile_vectors<element, word>(call, tile, ScatteredRows(call, tile.a), shared);
    }
}

using ScatterKernel = void (*)(ScatterCall);

template <int element> ScatterKernel kernel_for(const ScatterPlan& plan) {
    if (plan.point > 1) {
        return scatter_kernel<element, true, true>;
    }
    return plan.at_words ? scatter_kernel<element, false, true>
                         : scatter_kernel<element, false, element == word>;
}

ScatterKernel kernel_for(const ScatterPlan& plan) {
    switch (plan.element_bytes) {
    case 1: return kernel_for<1>(plan);
    case 2: return kernel_for<2>(plan);
    default: return kernel_for<4>(plan);
    }
}

Divisor divisor(std::int64_t n) { return make_divisor(static_cast<std::uint32_t>(n)); }

TileRows tile_rows(const TransposeRows& rows) { return {divisor(rows.minor), rows.far, rows.near}; }

} // namespace

void transpose_scattered(CudaQueue& queue, const ScatterPlan& plan, const std::byte* in,
                         std::byte* out) {
    const auto divide_up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
    const std::int64_t tiles_a = divide_up(plan.a.count, plan.across);
    const std::int64_t tiles_b = divide_up(plan.b.count, plan.step);
    const std::int64_t height = std::min<std::int64_t>(plan.group, tiles_b);
    const std::int64_t bands = divide_up(tiles_b, height);
    ScatterCall call{};
    call.plan = plan;
    call.in = in;
    call.out = out;
    call.readable = {in, in + plan.b.last() + (plan.c.extent - 1) * plan.c.in +
                             plan.a.count * plan.point_bytes()};
    call.out_rows = tile_rows(plan.a);
    call.in_fold = divisor(plan.b.minor);
    call.fold_step = plan.b.far - plan.b.minor * plan.b.near;
    call.points = divisor(plan.point);
    call.in_lanes = divisor(plan.in_lanes);
    call.out_lanes = divisor(plan.out_lanes);
    call.in_rows_at_once = threads / plan.in_lanes;
    call.out_rows_at_once = threads / plan.out_lanes;
    call.plane = divisor(tiles_a * tiles_b);
    call.band = divisor(tiles_a * height);
    call.height = divisor(height);
    call.last_height = divisor(tiles_b - (bands - 1) * height);
    call.last_band = static_cast<std::uint32_t>(bands - 1);
    launch(queue,
           {dim3(static_cast<unsigned>(tiles_a * tiles_b * plan.c.extent)), dim3(threads),
            static_cast<std::size_t>(plan.shared_bytes)},
           kernel_for(plan), call);
}

} // namespace runner
