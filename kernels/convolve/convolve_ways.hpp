// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/element_type.hpp"
#include "kernels/convolve/convolve_images.hpp"
#include "kernels/queue/cuda_queue.hpp"

#include <cstdint>
#include <vector>

namespace runner {

/// Starts a push kernel: both passes, computed in T; the taps are reversed: in the order in which
/// they are applied. The kernel fills in how it cuts `images` into tiles.
template <class T>
using PushLaunch = void (*)(CudaQueue& queue, ConvolveImages<T> images, std::int64_t frames,
                            const std::vector<T>& row_taps, const std::vector<T>& column_taps);

/// The push kernel for `radius` on both axes with input and output of type T, null where there is
/// none.
template <class T> PushLaunch<T> push_launch(std::int64_t radius);

/// The push kernel for radii that are known at run time, with input and output of type T; null
/// where one of them is above 64, or for float64 the columns' above 32.
template <class T>
PushLaunch<T> any_push_launch(std::int64_t row_radius, std::int64_t column_radius);

/// The radii that have a push kernel for integers.
inline constexpr int integer_push_radii[] = {1, 2, 3, 4, 6, 8, 10, 11, 12, 16, 20, 24, 32, 48, 64};

/// The least of them that is not below `radius`, 0 where there is none.
constexpr std::int64_t integer_push_radius(std::int64_t radius) {
    for (const int compiled : integer_push_radii) {
        if (radius <= compiled) {
            return compiled;
        }
    }
    return 0;
}

/// The push kernel of that radius, with input of type Element (uint8 or uint16) and output of type
/// Out: Element or float; null where there is none. It pads taps with −0. That changes no result as
/// long as the fill value and all sums along rows are finite, but for the sign of a zero. The fill
/// value must be an Element.
template <class Element, class Out> PushLaunch<float> integer_push_launch(std::int64_t radius);

/// Both passes for any radii and types; T is the compute type, the taps are reversed: in the order
/// in which they are applied. The kernel fills in how it cuts `images` into tiles.
template <class T>
void convolve_ring(CudaQueue& queue, const ConvolveImages<T>& images, std::int64_t frames,
                   ElementType in_type, ElementType out_type, const std::vector<T>& row_taps,
                   const std::vector<T>& column_taps);

/// The same for any radii, with input and output of type T, one pass after the other: `along` has
/// room for the row pass of every row of the input. Counts its operations on the queue.
template <class T>
void convolve_wide(CudaQueue& queue, const ConvolveImages<T>& images, std::int64_t frames,
                   const std::vector<T>& row_taps, const std::vector<T>& column_taps, T* along);

/// The column pass of convolve_wide() alone, over rows that a row pass has made.
template <class T>
void convolve_wide_columns(CudaQueue& queue, const ConvolveImages<T>& images, std::int64_t frames,
                           const std::vector<T>& taps);

/// The kernel that makes float64 sums on tensor cores, to the bytes of the push kernels, for input
/// and output whose rows start at multiples of 16 bytes. Null where it is not faster than those, or
/// where the queue's device is not of compute capability 9.0.
PushLaunch<double> matrix_push_launch(CudaQueue& queue, std::int64_t row_radius,
                                      std::int64_t column_radius);

} // namespace runner
