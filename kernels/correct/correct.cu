// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.hpp"
#include "kernels/correct/correct.hpp"
#include "kernels/correct/negative_log.hpp"
#include "kernels/elements/elementwise.cuh"

#include <algorithm>
#include <limits>

namespace runner {
namespace {

constexpr int threads = 256;
constexpr int pixels_at_once = 4; ///< 16 bytes of the output and of the fields
constexpr std::int64_t most_frames = 16;

/// negative_log() on the device.
__device__ inline float negative_log_on_device(float t) {
    if (!(t <= std::numeric_limits<float>::max())) {
        return -t;
    }
    const long long bits = __double_as_longlong(static_cast<double>(t));
    const long long e = (bits - root_half_bits) >> 52;
    const double m = __longlong_as_double(bits - (e << 52));
    const double s = __ddiv_rn(__dadd_rn(m, -1), __dadd_rn(m, 1));
    const double z = __dmul_rn(s, s);
    constexpr double terms[] = {log_terms[0], log_terms[1], log_terms[2],
                                log_terms[3], log_terms[4], log_terms[5],
                                log_terms[6], log_terms[7], log_terms[8]};
    double p = terms[8];
#pragma unroll
    for (int i = 7; i >= 0; --i) {
        p = __fma_rn(p, z, terms[i]);
    }
    const double of_m = __dmul_rn(2, __fma_rn(__dmul_rn(s, z), p, s));
    return __double2float_rn(-__fma_rn(static_cast<double>(static_cast<int>(e)), log_of_2, of_m));
}

/// A field's values at pixels side by side.
template <int n>
__device__ inline void load_field(const CorrectField& field, std::int64_t at, float (&to)[n]) {
    if (field.image == nullptr) {
#pragma unroll
        for (int i = 0; i < n; ++i) {
            to[i] = field.number;
        }
        return;
    }
    const auto loaded = *reinterpret_cast<const ElementVector<float, n>*>(field.image + at);
#pragma unroll
    for (int i = 0; i < n; ++i) {
        to[i] = loaded.at[i];
    }
}

/// n pixels side by side in some frames: their fields are loaded once. `pixels`: of a frame in the
/// buffers; `offset`: the first in the fields.
template <class In, int n>
__global__ void __launch_bounds__(threads)
    correct_kernel(Correct c, CorrectField dark, CorrectField flat, const In* in, float* out,
                   std::int64_t frames, std::int64_t pixels, std::int64_t offset,
                   unsigned long long* raised_values) {
    const std::int64_t pixel = (std::int64_t{blockIdx.x} * threads + threadIdx.x) * n;
    unsigned raised = 0;
    if (pixel < pixels) {
        float dark_of[n];
        float range[n];
        load_field(dark, offset + pixel, dark_of);
        load_field(flat, offset + pixel, range);
#pragma unroll
        for (int i = 0; i < n; ++i) {
            range[i] = __fsub_rn(range[i], dark_of[i]);
        }
        const std::int64_t first = std::int64_t{blockIdx.y} * most_frames;
        const std::int64_t last = min(frames, first + most_frames);
#pragma unroll 4
        for (std::int64_t frame = first; frame < last; ++frame) {
            const std::int64_t at = frame * pixels + pixel;
            const auto x = *reinterpret_cast<const ElementVector<In, n>*>(in + at);
            ElementVector<float, n> result;
#pragma unroll
            for (int i = 0; i < n; ++i) {
                const bool good = range[i] > 0 && range[i] <= std::numeric_limits<float>::max();
                float t =
                    good ? __fdiv_rn(__fsub_rn(static_cast<float>(x.at[i]), dark_of[i]), range[i])
                         : c.dead;
                if (c.clips) {
                    t = t < c.clip_low ? c.clip_low : t;
                    t = t > c.clip_high ? c.clip_high : t;
                }
                if (c.takes_log) {
                    raised += t < c.floor ? 1 : 0;
                    t = negative_log_on_device(t < c.floor ? c.floor : t);
                }
                result.at[i] = t;
            }
            *reinterpret_cast<ElementVector<float, n>*>(out + at) = result;
        }
    }
    raised = __reduce_add_sync(0xFFFFFFFFU, raised);
    if (threadIdx.x % 32 == 0 && raised != 0) {
        atomicAdd(raised_values, raised);
    }
}

template <class In, int n>
void launch_pixels(CudaQueue& queue, const Correct& c, const RowBlock& block,
                   const CorrectField& dark, const CorrectField& flat, const In* in, float* out,
                   std::uint64_t* raised) {
    const std::int64_t pixels = block.out_rows * c.columns;
    const std::int64_t blocks = (pixels + threads * n - 1) / (threads * n);
    constexpr std::int64_t most_groups = 65535;
    // More frames than a grid takes go into several.
    for (std::int64_t frame = 0; frame < block.frames; frame += most_groups * most_frames) {
        const std::int64_t frames = std::min(block.frames - frame, most_groups * most_frames);
        const auto groups = static_cast<unsigned>((frames + most_frames - 1) / most_frames);
        launch(queue, {dim3(static_cast<unsigned>(blocks), groups), dim3(threads)},
               correct_kernel<In, n>, c, dark, flat, in + frame * pixels, out + frame * pixels,
               frames, pixels, block.out_first * c.columns,
               reinterpret_cast<unsigned long long*>(raised));
    }
}

bool is_aligned(const void* place, std::size_t bytes) {
    return reinterpret_cast<std::uintptr_t>(place) % bytes == 0;
}

} // namespace

void correct(CudaQueue& queue, const Correct& correct, const RowBlock& block,
             const CorrectField& dark, const CorrectField& flat, const std::byte* in, float* out,
             std::uint64_t* raised) {
    const std::int64_t pixels = block.out_rows * correct.columns;
    if (pixels == 0) {
        return;
    }
    visit_element_type(correct.in_type, [&](auto zero) {
        using In = decltype(zero);
        constexpr int n = pixels_at_once;
        constexpr std::size_t line = n * sizeof(float);
        const std::int64_t offset = block.out_first * correct.columns;
        const auto* from = reinterpret_cast<const In*>(in);
        const bool aligned = pixels % n == 0 && is_aligned(in, n * sizeof(In)) &&
                             is_aligned(out, line) &&
                             (dark.image == nullptr || is_aligned(dark.image + offset, line)) &&
                             (flat.image == nullptr || is_aligned(flat.image + offset, line));
        if (aligned) {
            launch_pixels<In, n>(queue, correct, block, dark, flat, from, out, raised);
        } else {
            launch_pixels<In, 1>(queue, correct, block, dark, flat, from, out, raised);
        }
    });
}

} // namespace runner
