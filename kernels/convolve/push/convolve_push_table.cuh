// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/convolve/convolve_ways.hpp"
#include "kernels/convolve/push/convolve_push.cuh"
#include "kernels/convolve/tiling.cuh"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

namespace runner::convolve_cuda {

template <class T, int R, class Layout, class Element, class Out, class Arguments, bool aligned>
__global__ void __launch_bounds__(PushShape<T, R, Layout, Element>::threads, Layout::blocks)
    convolve_push_kernel(const __grid_constant__ Arguments call) {
    using Kernel = Push<T, R, Layout, Element, Out, Arguments, aligned>;
    extern __shared__ __align__(128) unsigned char shared[];
    const auto& images = call.images;
    if constexpr (push_in_shares<T, R, Element, Arguments>) {
        for_tiles_of_share(images, Kernel::Shape::width, [&](const ConvolveTile& tile) {
            __syncthreads(); // the tile before may still be read
            Kernel(call, tile, shared).run();
        });
    } else {
        const ConvolveTile tile(images, images.first_tile + blockIdx.x, Kernel::Shape::width);
        Kernel(call, tile, shared).run();
    }
}

template <class T, int R, class Layout, class Element, class Out, class Arguments>
void launch_push(CudaQueue& queue, std::int64_t frames, std::size_t taps, const Arguments& call) {
    using Shape = PushShape<T, R, Layout, Element, Arguments::most_row_radius>;
    const auto kernel = call.images.aligned && call.images.out_aligned
                            ? convolve_push_kernel<T, R, Layout, Element, Out, Arguments, true>
                            : convolve_push_kernel<T, R, Layout, Element, Out, Arguments, false>;
    const KernelWork work = image_work(call.images, frames, sizeof(Element), sizeof(Out),
                                       static_cast<std::int64_t>(taps));
    const int radius = call.column_radius();
    if constexpr (push_in_shares<T, R, Element, Arguments>) {
        launch_shares(queue, kernel, Shape::threads, Shape::shared_bytes, Shape::width,
                      2 * radius + Shape::rows, frames, work, call);
    } else {
        launch_tiles(queue, kernel, Shape::threads, Shape::shared_bytes, Shape::width,
                     push_cut<T>(radius), frames, work, call);
    }
}

/// Taps for another radius than R are padded with −0.
template <class T, int R, class Element = T, class Out = Element,
          class Layout = decltype(push_layout<T, R, Element, Out>())>
void convolve_push(CudaQueue& queue, ConvolveImages<T> images, std::int64_t frames,
                   const std::vector<T>& row_taps, const std::vector<T>& column_taps) {
    PushCall<T, R> call{};
    const auto centred = [](const std::vector<T>& taps, T* all) {
        std::fill(all, all + 2 * R + 1, no_sum<T>);
        std::copy(taps.begin(), taps.end(), all + (2 * R + 1 - taps.size()) / 2);
    };
    centred(row_taps, call.row);
    centred(column_taps, call.column);
    call.images = images;
    launch_push<T, R, Layout, Element, Out>(queue, frames, row_taps.size() + column_taps.size(),
                                            call);
}

/// Radii that AnyPushCall<T, R> has.
template <class T, int R>
void convolve_push_any(CudaQueue& queue, ConvolveImages<T> images, std::int64_t frames,
                       const std::vector<T>& row_taps, const std::vector<T>& column_taps) {
    AnyPushCall<T, R> call{};
    call.images = images;
    set_taps(call, row_taps, column_taps);
    launch_push<T, R, decltype(any_push_layout<T, R>()), T, T>(
        queue, frames, row_taps.size() + column_taps.size(), call);
}

/// The instance of integer_push_radius().
template <class Element, class Out, std::size_t i = 0>
PushLaunch<float> padded_push(std::int64_t radius) {
    constexpr int R = integer_push_radii[i];
    if (radius <= R) {
        return convolve_push<float, R, Element, Out>;
    }
    if constexpr (i + 1 < std::size(integer_push_radii)) {
        return padded_push<Element, Out, i + 1>(radius);
    } else {
        return nullptr;
    }
}

} // namespace runner::convolve_cuda

namespace runner {

template <class T> PushLaunch<T> push_launch(std::int64_t radius) {
    using convolve_cuda::convolve_push;
    if constexpr (sizeof(T) == 8) {
        switch (radius) {
        case 9: return convolve_push<T, 9>;
        case 10: return convolve_push<T, 10>;
        case 11: return convolve_push<T, 11>;
        case 12: return convolve_push<T, 12>;
        case 13: return convolve_push<T, 13>;
        case 14: return convolve_push<T, 14>;
        case 15: return convolve_push<T, 15>;
        case 16: return convolve_push<T, 16>;
        default: break;
        }
    }
    switch (radius) {
    case 1: return convolve_push<T, 1>;
    case 2: return convolve_push<T, 2>;
    case 3: return convolve_push<T, 3>;
    case 4: return convolve_push<T, 4>;
    case 5: return convolve_push<T, 5>;
    case 6: return convolve_push<T, 6>;
    case 7: return convolve_push<T, 7>;
    case 8: return convolve_push<T, 8>;
    case 20: return convolve_push<T, 20>;
    case 24: return convolve_push<T, 24>;
    case 32: return convolve_push<T, 32>;
    case 48: return convolve_push<T, 48>;
    case 64: return convolve_push<T, 64>;
    default: return nullptr;
    }
}

template <class T>
PushLaunch<T> any_push_launch(std::int64_t row_radius, std::int64_t column_radius) {
    using convolve_cuda::convolve_push_any; // of the least R that has the columns' radius
    if (row_radius > convolve_cuda::AnyPushCall<T, 4>::most_row_radius) {
        return nullptr;
    }
    if constexpr (sizeof(T) == 4) {
        switch (column_radius > 32 ? (column_radius + 7) / 8 : 0) {
        case 5: return convolve_push_any<T, 40>;
        case 6: return convolve_push_any<T, 48>;
        case 7: return convolve_push_any<T, 56>;
        case 8: return convolve_push_any<T, 64>;
        default: break;
        }
    }
    switch ((column_radius + 3) / 4) {
    case 0:
    case 1: return convolve_push_any<T, 4>;
    case 2: return convolve_push_any<T, 8>;
    case 3: return convolve_push_any<T, 12>;
    case 4: return convolve_push_any<T, 16>;
    case 5: return convolve_push_any<T, 20>;
    case 6: return convolve_push_any<T, 24>;
    case 7: return convolve_push_any<T, 28>;
    case 8: return convolve_push_any<T, 32>;
    default: return nullptr;
    }
}

template <class Element, class Out> PushLaunch<float> integer_push_launch(std::int64_t radius) {
    return convolve_cuda::padded_push<Element, Out>(radius);
}

} // namespace runner
