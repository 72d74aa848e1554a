// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/convolve/convolve.hpp"

#include "kernels/convolve/convolve_channels.hpp"
#include "kernels/convolve/convolve_cuda_scratch.hpp"
#include "kernels/convolve/convolve_depth.hpp"
#include "kernels/convolve/convolve_ways.hpp"
#include "kernels/elements/elements.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace runner {
namespace {

/// The taps in the order in which they are applied.
template <class T> std::vector<T> reversed_taps(const std::vector<double>& taps) {
    std::vector<T> reversed(taps.size());
    std::transform(taps.rbegin(), taps.rend(), reversed.begin(),
                   [](double tap) { return static_cast<T>(tap); });
    return reversed;
}

bool rows_aligned(const std::byte* data, std::int64_t columns, std::int64_t element_size) {
    return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && columns * element_size % 16 == 0;
}

/// Whether a kernel that pads taps with zeros makes the bytes that the taps alone would.
template <class Element>
bool can_pad(const std::vector<float>& row_taps, float fill, const Convolution& convolution) {
    constexpr double top = std::numeric_limits<Element>::max();
    double most = 0; // of the sums along a row
    for (const float tap : row_taps) {
        most += std::abs(static_cast<double>(tap)) * top;
    }
    // A sum of floats may be larger than the exact one, by far less than a factor of 2.
    const bool is_finite = most < std::numeric_limits<float>::max() / 2;
    const bool fits = fill >= 0 && fill <= top && std::floor(fill) == fill;
    return is_finite && (fits || convolution.boundary != Boundary::constant);
}

/// The least magnitude of taps that are not 0, at most 1.
double least_tap(const std::vector<float>& taps) {
    double least = 1;
    for (const float tap : taps) {
        if (tap != 0) {
            least = std::min(least, std::abs(static_cast<double>(tap)));
        }
    }
    return least;
}

/// Whether padding changes no bit of outputs of floats, whose zeros have signs.
///
/// Taps are padded with −0, and elements are not negative: a product of both is −0, which changes
/// no sum along a row. If these sums are not negative either, the same holds along columns. If some
/// are, products with them are +0, which turns a sum of −0 into +0. But no sum is −0 if no sum
/// along a row is, some tap along columns is positive, and no product is so small that it is
/// rounded.
bool can_pad_floats(const std::vector<float>& row_taps, const std::vector<float>& column_taps,
                    float fill, const Convolution& convolution, std::int64_t compiled) {
    if (std::signbit(fill) && convolution.boundary == Boundary::constant) {
        return false;
    }
    const auto is_negative = [](float tap) { return std::signbit(tap); };
    if (convolution.column_radius() == compiled ||
        std::none_of(row_taps.begin(), row_taps.end(), is_negative)) {
        return true;
    }
    // A tap is a multiple of a power of two above 2⁻²⁴ times its magnitude, so sums along rows are
    // multiples of one above 2⁻²⁴ times the least tap. Floats are multiples of 2⁻¹⁴⁹.
    return !std::all_of(row_taps.begin(), row_taps.end(), is_negative) &&
           std::any_of(column_taps.begin(), column_taps.end(), [](float tap) { return tap > 0; }) &&
           least_tap(row_taps) * least_tap(column_taps) >= std::ldexp(1.0, -149 + 2 * 24);
}

template <class Element>
PushLaunch<float> integer_push_of(const Convolution& convolution, float fill,
                                  const std::vector<float>& row_taps,
                                  const std::vector<float>& column_taps) {
    const std::int64_t radius = std::max(convolution.row_radius(), convolution.column_radius());
    if (!can_pad<Element>(row_taps, fill, convolution)) {
        return nullptr;
    }
    if (convolution.out_type == convolution.in_type) {
        return integer_push_launch<Element, Element>(radius);
    }
    if (convolution.out_type == ElementType::float32 &&
        can_pad_floats(row_taps, column_taps, fill, convolution, integer_push_radius(radius))) {
        return integer_push_launch<Element, float>(radius);
    }
    return nullptr;
}

PushLaunch<float> integer_push(const Convolution& convolution, float fill,
                               const std::vector<float>& row_taps,
                               const std::vector<float>& column_taps) {
    switch (convolution.in_type) {
    case ElementType::uint8:
        return integer_push_of<std::uint8_t>(convolution, fill, row_taps, column_taps);
    case ElementType::uint16:
        return integer_push_of<std::uint16_t>(convolution, fill, row_taps, column_taps);
    default: return nullptr;
    }
}

/// The push kernel for the convolution, null where the ring kernel takes it.
template <class T>
PushLaunch<T> push_for(CudaQueue& queue, const Convolution& convolution,
                       const ConvolveImages<T>& images, const std::vector<T>& row_taps,
                       const std::vector<T>& column_taps) {
    if (convolution.in_type == element_type_of<T>() &&
        convolution.out_type == element_type_of<T>()) {
        const std::int64_t radius = convolution.row_radius();
        if constexpr (std::is_same_v<T, double>) {
            const PushLaunch<T> of_matrix =
                images.aligned && images.out_aligned
                    ? matrix_push_launch(queue, radius, convolution.column_radius())
                    : nullptr;
            if (of_matrix != nullptr) {
                return of_matrix;
            }
        }
        const PushLaunch<T> of_radius =
            radius == convolution.column_radius() ? push_launch<T>(radius) : nullptr;
        return of_radius != nullptr ? of_radius
                                    : any_push_launch<T>(radius, convolution.column_radius());
    }
    if constexpr (std::is_same_v<T, float>) {
        return integer_push(convolution, images.fill, row_taps, column_taps);
    }
    return nullptr;
}

template <class T>
void convolve_in(CudaQueue& queue, const Convolution& convolution, const RowBlock& block,
                 const std::byte* in, std::byte* out, std::byte* along) {
    ConvolveImages<T> images{};
    images.in = in;
    images.out = out;
    images.columns = convolution.columns;
    images.frame_rows = convolution.frame_rows;
    images.in_first = block.in_first;
    images.in_rows = block.in_rows;
    images.out_first = block.out_first;
    images.out_rows = block.out_rows;
    images.boundary = convolution.boundary;
    images.fill = static_cast<T>(convolution.fill);
    images.aligned = rows_aligned(in, convolution.columns, size_of(convolution.in_type));
    images.out_aligned = rows_aligned(out, convolution.columns, size_of(convolution.out_type));

    const std::vector<T> row_taps = reversed_taps<T>(convolution.row_taps);
    const std::vector<T> column_taps = reversed_taps<T>(convolution.column_taps);
    if (convolution.is_wide()) {
        convolve_wide(queue, images, block.frames, row_taps, column_taps,
                      reinterpret_cast<T*>(along));
        return;
    }
    if (const PushLaunch<T> push = push_for<T>(queue, convolution, images, row_taps, column_taps)) {
        push(queue, images, block.frames, row_taps, column_taps);
        return;
    }
    convolve_ring(queue, images, block.frames, convolution.in_type, convolution.out_type, row_taps,
                  column_taps);
}

void convolve_grey(CudaQueue& queue, const Convolution& convolution, const RowBlock& block,
                   const std::byte* in, std::byte* out, std::byte* along) {
    if (convolution.compute_type() == ElementType::float64) {
        convolve_in<double>(queue, convolution, block, in, out, along);
    } else {
        convolve_in<float>(queue, convolution, block, in, out, along);
    }
}

template <class T>
void load(CudaQueue& queue, ElementType type, const std::byte* from, std::int64_t count,
          std::byte* to) {
    load_elements(queue, type, from, count, reinterpret_cast<T*>(to));
}

template <class T>
void store(CudaQueue& queue, ElementType type, const std::byte* from, std::int64_t count,
           std::byte* to) {
    store_elements(queue, type, reinterpret_cast<const T*>(from), count, to);
}

/// Images of one channel. Types that no kernel reads or writes are converted before and after: a
/// copy within the device's memory costs little beside the upload and the download.
void convolve_any(CudaQueue& queue, const Convolution& convolution, const RowBlock& block,
                  const std::byte* in, std::byte* out, std::byte* scratch) {
    const ConvolveScratch parts = convolve_cuda_scratch(convolution, block);
    const ElementType compute_type = convolution.compute_type();
    const bool wide = compute_type == ElementType::float64;
    Convolution direct = convolution;
    const std::byte* from = in;
    std::byte* to = out;
    if (parts.loaded > 0) {
        const std::int64_t count = block.frames * block.in_rows * convolution.columns;
        (wide ? load<double> : load<float>)(queue, convolution.in_type, in, count, scratch);
        direct.in_type = compute_type;
        from = scratch;
    }
    if (parts.summed > 0) {
        direct.out_type = compute_type;
        to = scratch + parts.loaded;
    }
    convolve_grey(queue, direct, block, from, to, scratch + parts.loaded + parts.summed);
    if (parts.summed > 0) {
        const std::int64_t count = block.frames * block.out_rows * convolution.columns;
        (wide ? store<double> : store<float>)(queue, convolution.out_type, to, count, out);
    }
}

/// Each channel of each frame becomes a frame of its own. The two copies within the device's memory
/// cost less than the upload and the download, and every kernel serves colour so.
void convolve_colour(CudaQueue& queue, const Convolution& convolution, const RowBlock& block,
                     const std::byte* in, std::byte* out, std::byte* scratch) {
    Convolution channel = convolution;
    channel.columns /= convolution.channels;
    channel.channels = 1;
    RowBlock planes = block;
    planes.frames *= convolution.channels;
    const ConvolveScratch parts = convolve_cuda_scratch(convolution, block);
    std::byte* const made = scratch + parts.split;
    split_channels(queue,
                   {block.frames, block.in_rows * channel.columns, convolution.channels,
                    size_of(convolution.in_type)},
                   in, scratch);
    convolve_any(queue, channel, planes, scratch, made, made + parts.made);
    join_channels(queue,
                  {block.frames, block.out_rows * channel.columns, convolution.channels,
                   size_of(convolution.out_type)},
                  made, out);
}

/// Blocks of images.
void convolve_images(CudaQueue& queue, const Convolution& convolution, const RowBlock& block,
                     const std::byte* in, std::byte* out, std::byte* scratch) {
    if (convolution.channels == 1) {
        convolve_any(queue, convolution, block, in, out, scratch);
    } else {
        convolve_colour(queue, convolution, block, in, out, scratch);
    }
}

/// A depth pass of any radius: layers are the rows of a column pass, and the samples of a layer its
/// columns. `scratch` has room for the output in the compute type, where the output's is another.
template <class T>
void wide_depth(CudaQueue& queue, const Convolution& convolution, const RowBlock& layers,
                const std::byte* sums, std::byte* out, std::byte* scratch) {
    const bool converts = has_depth_sums(convolution);
    ConvolveImages<T> images{};
    images.in = sums;
    images.out = converts ? scratch : out;
    images.columns = convolution.frame_rows * convolution.columns;
    images.frame_rows = convolution.layers;
    images.in_first = layers.in_first;
    images.in_rows = layers.in_rows;
    images.out_first = layers.out_first;
    images.out_rows = layers.out_rows;
    images.boundary = convolution.boundary;
    images.fill = static_cast<T>(convolution.fill);
    convolve_wide_columns(queue, images, layers.frames, reversed_taps<T>(convolution.depth_taps));
    if (converts) {
        store<T>(queue, convolution.out_type, scratch,
                 layers.frames * layers.out_rows * images.columns, out);
    }
}

} // namespace

void convolve(CudaQueue& queue, const Convolution& convolution, const RowBlock& block,
              const std::byte* in, std::byte* out, std::byte* scratch) {
    if (block.frames == 0 || block.out_rows == 0) {
        return;
    }
    if (!convolution.has_depth()) {
        convolve_images(queue, convolution, block, in, out, scratch);
        return;
    }
    const RowBlock layers = layer_block(convolution, block);
    std::byte* const rest = scratch + convolve_volume_bytes(convolution, layers);
    convolve_images(queue, image_passes(convolution), image_block(convolution, layers), in, scratch,
                    rest);
    if (!convolution.is_wide()) { // whose kernels count
        queue.count(depth_operations(convolution, layers).images);
    }
    if (convolution.depth_radius() <= Convolution::fused_radius) {
        convolve_depth(queue, convolution, layers, scratch, out);
    } else if (convolution.compute_type() == ElementType::float64) {
        wide_depth<double>(queue, convolution, layers, scratch, out, rest);
    } else {
        wide_depth<float>(queue, convolution, layers, scratch, out, rest);
    }
}

} // namespace runner
