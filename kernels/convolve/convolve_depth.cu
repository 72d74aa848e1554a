// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/convolve/convolve_depth.hpp"

#include "kernels/convolve/convolve_sums.cuh"
#include "kernels/elements/converted.cuh"
#include "kernels/queue/launch_parts.cuh"

#include <algorithm>

namespace runner {
namespace {

using namespace convolve_cuda;

constexpr int threads = 256;
constexpr int outputs = 8; ///< layers that a thread makes of one sample

template <class T> struct DepthCall {
    static constexpr int most_taps = 2 * Convolution::fused_radius + 1;

    const T* sums;
    std::byte* out;
    ElementType out_type;
    RowBlock layers;
    std::int64_t layers_of_frame;
    std::int64_t samples; ///< of a layer
    std::int64_t groups;  ///< of eight layers of the output of a frame
    std::int64_t strips;  ///< of as many samples as a block has threads
    std::int64_t first_block;
    int radius;
    Boundary boundary;
    T fill;
    T taps[most_taps]; ///< reversed: in the order in which they are applied
};

template <class Out, class T>
__device__ inline void store_sums(const T (&sums)[outputs], int count, std::int64_t samples,
                                  std::byte* out, std::int64_t at) {
    Out* const place = reinterpret_cast<Out*>(out) + at;
#pragma unroll
    for (int i = 0; i < outputs; ++i) {
        if (i < count) {
            place[i * samples] = converted_on_device<Out>(sums[i]);
        }
    }
}

template <class T>
__device__ inline void store_as(ElementType type, const T (&sums)[outputs], int count,
                                std::int64_t samples, std::byte* out, std::int64_t at) {
    visit_on_device(type,
                    [&](auto zero) { store_sums<decltype(zero)>(sums, count, samples, out, at); });
}

/// A block makes eight layers of a strip. Blocks that follow one another make the layers of one
/// strip, so that what they both read is still in the L2 cache.
template <class T>
__global__ void __launch_bounds__(threads) depth_kernel(const __grid_constant__ DepthCall<T> call) {
    constexpr std::int64_t beyond = -1;
    __shared__ std::int64_t places[DepthCall<T>::most_taps + outputs - 1];
    const RowBlock& layers = call.layers;
    const std::int64_t block = call.first_block + blockIdx.x;
    const std::int64_t skipped = block % call.groups * outputs;
    const std::int64_t strip = block / call.groups % call.strips;
    const std::int64_t frame = block / call.groups / call.strips;
    const std::int64_t first = layers.out_first + skipped - call.radius;
    const std::int64_t last = layers.out_first + layers.out_rows - 1 + call.radius;
    const int count = 2 * call.radius + 1;
    for (int i = static_cast<int>(threadIdx.x); i < count + outputs - 1; i += threads) {
        // Layers past the last needed one may be held nowhere.
        const std::int64_t held =
            first + i > last ? beyond
                             : held_layer(first + i, layers, call.layers_of_frame, call.boundary);
        places[i] = held < 0 ? beyond : (frame * layers.in_rows + held) * call.samples;
    }
    __syncthreads();
    const std::int64_t sample = strip * threads + threadIdx.x;
    if (sample >= call.samples) {
        return;
    }
    const T* const from = call.sums + sample;
    T sums[outputs];
    eight_sums(
        call.taps, count,
        [&](int at, int i) {
            const std::int64_t place = places[at + i];
            return place < 0 ? call.fill : from[place];
        },
        sums);
    const std::int64_t left = layers.out_rows - skipped;
    store_as(call.out_type, sums, static_cast<int>(left < outputs ? left : outputs), call.samples,
             call.out, (frame * layers.out_rows + skipped) * call.samples + sample);
}

template <class T>
void convolve_in(CudaQueue& queue, const Convolution& convolution, const RowBlock& layers,
                 const std::byte* sums, std::byte* out) {
    DepthCall<T> call{};
    call.sums = reinterpret_cast<const T*>(sums);
    call.out = out;
    call.out_type = convolution.out_type;
    call.layers = layers;
    call.layers_of_frame = convolution.layers;
    call.samples = convolution.frame_rows * convolution.columns;
    call.groups = (layers.out_rows + outputs - 1) / outputs;
    call.strips = (call.samples + threads - 1) / threads;
    call.radius = static_cast<int>(convolution.depth_radius());
    call.boundary = convolution.boundary;
    call.fill = static_cast<T>(convolution.fill);
    std::transform(convolution.depth_taps.rbegin(), convolution.depth_taps.rend(), call.taps,
                   [](double tap) { return static_cast<T>(tap); });
    LaunchParts parts;
    parts.count = layers.frames * call.strips * call.groups;
    parts.operations = depth_operations(convolution, layers).depth;
    const auto samples = static_cast<double>(layers.frames * call.samples);
    const auto taps = static_cast<double>(convolution.depth_taps.size());
    const auto rows = static_cast<double>(layers.out_rows);
    const double in_bytes = static_cast<double>(layers.in_rows) * sizeof(T);
    const KernelWork work{
        samples * (in_bytes + rows * static_cast<double>(size_of(convolution.out_type))),
        2 * samples * rows * taps, sizeof(T) == sizeof(double)};
    launch_parts(queue, parts, [&](std::int64_t first, std::int64_t count) {
        call.first_block = first;
        launch(queue,
               {dim3(static_cast<unsigned>(count)), dim3(threads), 0,
                work.share(static_cast<double>(count) / static_cast<double>(parts.count))},
               depth_kernel<T>, call);
    });
}

} // namespace

void convolve_depth(CudaQueue& queue, const Convolution& convolution, const RowBlock& layers,
                    const std::byte* sums, std::byte* out) {
    if (convolution.compute_type() == ElementType::float64) {
        convolve_in<double>(queue, convolution, layers, sums, out);
    } else {
        convolve_in<float>(queue, convolution, layers, sums, out);
    }
}

} // namespace runner
