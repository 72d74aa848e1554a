// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.hpp"
#include "kernels/elements/converted.cuh"
#include "kernels/elements/invalid.hpp"
#include "kernels/queue/launch.cuh"
#include "kernels/stitch/stitch.hpp"
#include "kernels/stitch/stitch_rules.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace runner {
namespace {

constexpr unsigned threads = 256;

/// A call, for elements of type T.
template <class T> struct StitchCall {
    StitchBlend blend;
    std::int64_t out_columns;
    std::int64_t samples;
    std::int64_t all_lines; ///< of the output
    std::int64_t lines;
    std::int64_t line;
    std::int64_t partner;
    std::int64_t pixel;
    std::int64_t elements;
    ElementType out_type;
    bool is_same; ///< the output has the input's type
    bool heeds_invalid;
    InvalidTest<T> is_invalid;
    double mark; ///< what an invalid element of the output is

    static StitchCall of(const Stitch& stitch, std::int64_t groups) {
        const double number = stitch.invalid.value_or(0);
        return {StitchBlend::of(stitch),
                stitch.out_columns(),
                stitch.samples,
                groups * stitch.lines,
                stitch.lines,
                stitch.line,
                stitch.partner,
                stitch.pixel,
                stitch.elements,
                stitch.out_type,
                stitch.in_type == stitch.out_type,
                stitch.invalid.has_value(),
                invalid_test<T>(number),
                invalid_value(stitch.out_type, number)};
    }
};

/// An element of the input as one of the output.
template <class T>
__device__ inline void store_element(const StitchCall<T>& call, T element, std::byte* out,
                                     std::int64_t at) {
    if (call.is_same) {
        reinterpret_cast<T*>(out)[at] = element;
    } else {
        store_number(call.out_type, to_double(element), out, at);
    }
}

/// A thread makes one element of a line; a block has blockDim.x of these in blockDim.y lines.
template <class T>
__global__ void __launch_bounds__(threads)
    stitch_kernel(StitchCall<T> call, std::uint32_t strips, const T* in, std::byte* out) {
    const std::uint32_t some = blockIdx.x / strips;
    const std::int64_t line = std::int64_t{some} * blockDim.y + threadIdx.y;
    const std::int64_t element =
        std::int64_t{blockIdx.x - some * strips} * blockDim.x + threadIdx.x;
    if (line >= call.all_lines || element >= call.out_columns * call.samples) {
        return;
    }
    const std::int64_t group = call.lines == 1 ? line : line / call.lines;
    const std::int64_t column = call.samples == 1 ? element : element / call.samples;
    const T* const first = in + group * call.elements + (line - group * call.lines) * call.line +
                           (element - column * call.samples);
    const StitchedPixel pixel =
        StitchedPixel::of(column, call.blend.columns, call.blend.overlap, call.blend.is_left);
    const std::int64_t at = line * call.out_columns * call.samples + element;
    const T a = pixel.first < 0 ? T{} : first[pixel.first * call.pixel];
    const T b = pixel.second < 0 ? T{} : first[call.partner + pixel.second * call.pixel];
    bool has_a = pixel.first >= 0;
    bool has_b = pixel.second >= 0;
    if (call.heeds_invalid) {
        has_a = has_a && !call.is_invalid(a);
        has_b = has_b && !call.is_invalid(b);
        if (!has_a && !has_b) {
            store_number(call.out_type, call.mark, out, at);
            return;
        }
    }
    if (has_a && has_b && call.blend.is_linear) {
        store_number(call.out_type, call.blend.sum(pixel, to_double(a), to_double(b)), out, at);
        return;
    }
    const bool takes_a = has_a && (!has_b || call.blend.takes_first(pixel.first));
    store_element(call, takes_a ? a : b, out, at);
}

} // namespace

void stitch(CudaQueue& queue, const Stitch& stitch, std::int64_t groups, const std::byte* in,
            std::byte* out) {
    const std::int64_t width = stitch.out_columns() * stitch.samples;
    const std::int64_t all_lines = groups * stitch.lines;
    if (all_lines == 0) {
        return;
    }
    unsigned across = threads;
    while (across / 2 >= width && across > 1) {
        across /= 2;
    }
    const unsigned down = threads / across;
    const std::int64_t strips = (width + across - 1) / across;
    const std::int64_t blocks = (all_lines + down - 1) / down * strips;
    if (blocks > std::numeric_limits<std::int32_t>::max()) {
        throw Error(ExitCode::defect,
                    {"a block of rows is too large for one launch", "stitch", "", ""});
    }
    visit_element_type(stitch.in_type, [&](auto zero) {
        using T = decltype(zero);
        const auto in_bytes = static_cast<double>(2 * stitch.columns * stitch.samples) * sizeof(T);
        const auto out_bytes = static_cast<double>(width * size_of(stitch.out_type));
        launch(queue,
               {dim3(static_cast<unsigned>(blocks)), dim3(across, down), 0,
                KernelWork{static_cast<double>(all_lines) * (in_bytes + out_bytes)}},
               stitch_kernel<T>, StitchCall<T>::of(stitch, groups),
               static_cast<std::uint32_t>(strips), reinterpret_cast<const T*>(in), out);
    });
}

} // namespace runner
