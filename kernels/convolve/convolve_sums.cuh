// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/convolve/convolve_device.cuh"

#include <cstdint>
#include <type_traits>

namespace runner::convolve_cuda {

/// Eight neighbouring sums over `taps`: sum p starts at element p. `x(i)` is element i, called once
/// for each i from 0 to count + 6 in order. No tap is padded: 0 · inf is not 0.
template <int count, class T, class Source>
__device__ inline void eight_short_sums(const T* taps, Source&& x, T (&sum)[8]) {
#pragma unroll
    for (int i = 0; i < count + 7; ++i) {
        const T value = x(i);
#pragma unroll
        for (int p = 0; p < 8; ++p) {
            const int j = i - p;
            if (j >= 0 && j < count) {
                sum[p] = j == 0 ? multiply(taps[0], value) : multiply_add(taps[j], value, sum[p]);
            }
        }
    }
}

/// The end of eight long sums: elements count − rest … count + 6.
template <int rest, class T, class Source>
__device__ inline void finish_sums(const T* taps, int count, Source&& x, T (&sum)[8]) {
#pragma unroll
    for (int i = 0; i < rest + 7; ++i) {
        const T value = x(count - rest + i);
#pragma unroll
        for (int p = 0; p < 8; ++p) {
            if (i - p < rest) {
                sum[p] = multiply_add(taps[count - rest + i - p], value, sum[p]);
            }
        }
    }
}

/// As eight_short_sums for any odd count.
template <class T, class Source>
__device__ inline void eight_sums(const T* taps, int count, Source&& x, T (&sum)[8]) {
    switch (count) {
    case 1: return eight_short_sums<1>(taps, x, sum);
    case 3: return eight_short_sums<3>(taps, x, sum);
    case 5: return eight_short_sums<5>(taps, x, sum);
    case 7: return eight_short_sums<7>(taps, x, sum);
    default: break;
    }
    T window[8]; // taps i − 7 … i at step i, tap j in place j mod 8
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        window[i] = taps[i];
        const T value = x(i);
#pragma unroll
        for (int p = 0; p <= i; ++p) {
            sum[p] =
                p == i ? multiply(window[0], value) : multiply_add(window[i - p], value, sum[p]);
        }
    }
    int at = 8;
    for (; at + 8 <= count; at += 8) {
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            window[i] = taps[at + i];
            const T value = x(at + i);
#pragma unroll
            for (int p = 0; p < 8; ++p) {
                sum[p] = multiply_add(window[(i - p + 8) % 8], value, sum[p]);
            }
        }
    }
    switch (count - at) {
    case 1: return finish_sums<1>(taps, count, x, sum);
    case 3: return finish_sums<3>(taps, count, x, sum);
    case 5: return finish_sums<5>(taps, count, x, sum);
    default: return finish_sums<7>(taps, count, x, sum);
    }
}

/// Elements of a row that a thread of a push kernel of this shape reads from shared memory at once.
template <class Shape> struct alignas(Shape::read_vector * sizeof(typename Shape::Stored)) Piece {
    using Stored = typename Shape::Stored;
    // Integers are taken from words: loads of single ones would not be combined.
    using Word = std::conditional_t<std::is_integral_v<Stored>, std::uint32_t, Stored>;
    static constexpr int of_word = sizeof(Word) / sizeof(Stored);
    Word words[Shape::read_vector / of_word];

    __device__ typename Shape::Value operator[](int e) const {
        if constexpr (std::is_integral_v<Stored>) {
            return element_of<Stored>(words[e / of_word], e % of_word);
        } else {
            return words[e];
        }
    }
};

/// The neighbouring sums of a thread of that kernel. `x`: the first element of the first sum's
/// halo, which is rounded up to whole pieces.
template <class Shape, class T>
__device__ inline void row_sums(const T (&taps)[Shape::taps], const typename Shape::Stored* x,
                                T (&sum)[Shape::outputs]) {
    constexpr int skipped = Shape::halo - Shape::radius;
    constexpr int count = Shape::outputs + 2 * Shape::radius;
#pragma unroll
    for (int v = 0; v < skipped + count; v += Shape::read_vector) {
        if (v + Shape::read_vector <= skipped) {
            continue;
        }
        const auto values = *reinterpret_cast<const Piece<Shape>*>(x + v);
#pragma unroll
        for (int e = 0; e < Shape::read_vector; ++e) {
            const int i = v + e - skipped;
            const T value = values[e];
#pragma unroll
            for (int p = 0; p < Shape::outputs; ++p) {
                const int j = i - p;
                if (i >= 0 && i < count && j >= 0 && j < Shape::taps) {
                    sum[p] =
                        j == 0 ? multiply(taps[0], value) : multiply_add(taps[j], value, sum[p]);
                }
            }
        }
    }
}

} // namespace runner::convolve_cuda
