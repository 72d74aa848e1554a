// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.hpp"
#include "kernels/correct/correct.hpp"
#include "kernels/correct/negative_log.cuh"
#include "kernels/elements/converted.cuh"
#include "kernels/elements/elementwise.cuh"

#include <algorithm>
#include <limits>
#include <type_traits>

namespace runner {
namespace {

constexpr int threads = 256;
constexpr int pixels_at_once = 4; ///< 16 bytes of the output and of the fields
constexpr std::int64_t most_frames = 64;
constexpr int frames_at_once = 4; ///< that a thread has in flight

template <int n>
__device__ inline ElementVector<float, n> pixels_of(const float* image, std::int64_t at) {
    return *reinterpret_cast<const ElementVector<float, n>*>(image + at);
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
    const auto loaded = pixels_of<n>(field.image, at);
#pragma unroll
    for (int i = 0; i < n; ++i) {
        to[i] = loaded.at[i];
    }
}

/// The same of a frame; an image has `image` pixels.
template <int n>
__device__ inline void load_field_of(const CorrectField& field, std::int64_t frame,
                                     std::int64_t image, std::int64_t at, float (&to)[n]) {
    if (field.places == nullptr) {
        load_field(field, at, to);
        return;
    }
    const FieldPlace place = field.places[frame];
    const auto before = pixels_of<n>(field.image, place.before * image + at);
    const auto after = pixels_of<n>(field.image, place.after * image + at);
#pragma unroll
    for (int i = 0; i < n; ++i) {
        to[i] = place.after == place.before
                    ? before.at[i]
                    : FieldPlace::between(before.at[i], after.at[i], place.weight);
    }
}

/// What frames' pixels at one place have in common: n side by side.
template <int n> struct Pixels {
    float dark[n];
    float range[n];
    float reciprocal[n]; ///< of the range; 0 where divisions by it are left to the division

    __device__ Pixels(const CorrectField& dark_field, const CorrectField& flat_field,
                      std::int64_t at) {
        load_field(dark_field, at, dark);
        load_field(flat_field, at, range);
        divide();
    }
    /// The pixels have the fields of one frame.
    __device__ Pixels(const CorrectField& dark_field, const CorrectField& flat_field,
                      std::int64_t frame, std::int64_t image, std::int64_t at) {
        load_field_of(dark_field, frame, image, at, dark);
        load_field_of(flat_field, frame, image, at, range);
        divide();
    }

    /// Makes ranges of the flat field's values.
    __device__ void divide() {
#pragma unroll
        for (int i = 0; i < n; ++i) {
            range[i] = __fsub_rn(range[i], dark[i]);
            const bool is_usual = range[i] > 0x1p-60F && range[i] < 0x1p60F;
            reciprocal[i] = is_usual ? __frcp_rn(range[i]) : 0;
        }
    }

    __device__ bool is_good(int i) const {
        return range[i] > 0 && range[i] <= std::numeric_limits<float>::max();
    }

    /// above / range, rounded as a division is, where the range is good. The quotient is at first
    /// within 1.5 units in the last place, then within 1, and then, by Markstein's theorem, right;
    /// the bounds keep the remainders exact.
    __device__ float quotient(float above, int i) const {
        const float size = fabsf(above);
        if (size > 0x1p-60F && size < 0x1p60F && reciprocal[i] != 0) {
            const float q = __fmul_rn(above, reciprocal[i]);
            const float nearer = __fmaf_rn(__fmaf_rn(-range[i], q, above), reciprocal[i], q);
            return __fmaf_rn(__fmaf_rn(-range[i], nearer, above), reciprocal[i], nearer);
        }
        return above == 0 ? above : __fdiv_rn(above, range[i]);
    }
};

/// float32 of an element.
template <class In> __device__ inline float to_float(In x) {
    if constexpr (std::is_integral_v<In> && sizeof(In) <= 2) {
        // The bits of 1.5 · 2²³ + x, less that: the GPU converts integers slowly.
        return __fsub_rn(__int_as_float(0x4B400000 + static_cast<int>(x)), 0x1.8p23F);
    } else {
        return static_cast<float>(x);
    }
}

/// The sum of the warp's lanes, in the first of them. GPUs before compute capability 8.0 have no
/// instruction for it.
__device__ inline unsigned sum_of_warp(unsigned value) {
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(0xFFFFFFFFU, value);
#else
    for (int apart = 16; apart > 0; apart /= 2) {
        value += __shfl_xor_sync(0xFFFFFFFFU, value, apart);
    }
    return value;
#endif
}

/// Corrects a frame's pixels; counts values that are raised to the floor.
template <class In, int n>
__device__ inline ElementVector<float, n> corrected(const Correct& c, const Pixels<n>& pixels,
                                                    const ElementVector<In, n>& x,
                                                    unsigned& raised) {
    ElementVector<float, n> result;
#pragma unroll
    for (int i = 0; i < n; ++i) {
        float t = c.dead;
        if (pixels.is_good(i)) {
            t = pixels.quotient(__fsub_rn(to_float(x.at[i]), pixels.dark[i]), i);
        }
        if (c.clips) {
            t = t < c.clip_low ? c.clip_low : t;
            t = t > c.clip_high ? c.clip_high : t;
        }
        result.at[i] = t;
    }
    if (c.takes_log) {
        // Apart from the branches above, so that the pixels' long computations overlap.
#pragma unroll
        for (int i = 0; i < n; ++i) {
            raised += result.at[i] < c.floor ? 1 : 0;
            result.at[i] = negative_log_on_device(result.at[i] < c.floor ? c.floor : result.at[i]);
        }
    }
    return result;
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
        const Pixels<n> fields(dark, flat, offset + pixel);
        const auto load = [&](std::int64_t frame) {
            return *reinterpret_cast<const ElementVector<In, n>*>(in + frame * pixels + pixel);
        };
        const auto store = [&](std::int64_t frame, const ElementVector<In, n>& x) {
            *reinterpret_cast<ElementVector<float, n>*>(out + frame * pixels + pixel) =
                corrected(c, fields, x, raised);
        };
        std::int64_t frame = std::int64_t{blockIdx.y} * most_frames;
        const std::int64_t last = min(frames, frame + most_frames);
        // All loads first: none waits for the branches of what is computed.
        for (; frame + frames_at_once <= last; frame += frames_at_once) {
            ElementVector<In, n> x[frames_at_once];
#pragma unroll
            for (int i = 0; i < frames_at_once; ++i) {
                x[i] = load(frame + i);
            }
#pragma unroll
            for (int i = 0; i < frames_at_once; ++i) {
                store(frame + i, x[i]);
            }
        }
        for (; frame < last; ++frame) {
            store(frame, load(frame));
        }
    }
    raised = sum_of_warp(raised);
    if (threadIdx.x % 32 == 0 && raised != 0) {
        atomicAdd(raised_values, raised);
    }
}

/// The same where fields lie between images: those of a frame are loaded with it, mostly from the
/// cache. `image`: pixels of an image; `first_frame`: the first of the block's.
template <class In, int n>
__global__ void __launch_bounds__(threads)
    correct_between_kernel(Correct c, CorrectField dark, CorrectField flat, const In* in,
                           float* out, std::int64_t first_frame, std::int64_t frames,
                           std::int64_t pixels, std::int64_t offset, std::int64_t image,
                           unsigned long long* raised_values) {
    const std::int64_t pixel = (std::int64_t{blockIdx.x} * threads + threadIdx.x) * n;
    unsigned raised = 0;
    if (pixel < pixels) {
        const std::int64_t begin = std::int64_t{blockIdx.y} * most_frames;
        const std::int64_t last = min(frames, begin + most_frames);
        for (std::int64_t frame = begin; frame < last; ++frame) {
            const Pixels<n> fields(dark, flat, first_frame + frame, image, offset + pixel);
            const std::int64_t at = frame * pixels + pixel;
            const auto x = *reinterpret_cast<const ElementVector<In, n>*>(in + at);
            *reinterpret_cast<ElementVector<float, n>*>(out + at) = corrected(c, fields, x, raised);
        }
    }
    raised = sum_of_warp(raised);
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
        const KernelWork work{static_cast<double>(frames * pixels) * (sizeof(In) + sizeof(float))};
        const LaunchShape shape{dim3(static_cast<unsigned>(blocks), groups), dim3(threads), 0,
                                work};
        auto* const counts = reinterpret_cast<unsigned long long*>(raised);
        const std::int64_t offset = block.out_first * c.columns;
        if (dark.places == nullptr && flat.places == nullptr) {
            launch(queue, shape, correct_kernel<In, n>, c, dark, flat, in + frame * pixels,
                   out + frame * pixels, frames, pixels, offset, counts);
        } else {
            launch(queue, shape, correct_between_kernel<In, n>, c, dark, flat, in + frame * pixels,
                   out + frame * pixels, frame, frames, pixels, offset, c.rows * c.columns, counts);
        }
    }
}

bool is_aligned(const void* place, std::size_t bytes) {
    return reinterpret_cast<std::uintptr_t>(place) % bytes == 0;
}

/// Whether all images of the field, of so many pixels each, have aligned pixels at the offset.
bool is_aligned(const CorrectField& field, std::int64_t offset, std::int64_t image,
                std::size_t bytes) {
    return field.image == nullptr ||
           (is_aligned(field.image + offset, bytes) &&
            (field.places == nullptr || is_aligned(field.image + offset + image, bytes)));
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
        const std::int64_t image = correct.rows * correct.columns;
        const bool aligned = pixels % n == 0 && is_aligned(in, n * sizeof(In)) &&
                             is_aligned(out, line) && is_aligned(dark, offset, image, line) &&
                             is_aligned(flat, offset, image, line);
        if (aligned) {
            launch_pixels<In, n>(queue, correct, block, dark, flat, from, out, raised);
        } else {
            launch_pixels<In, 1>(queue, correct, block, dark, flat, from, out, raised);
        }
    });
}

} // namespace runner
