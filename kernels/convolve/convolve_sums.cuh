// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/convolve/convolve_device.cuh"
#include "kernels/convolve/push/convolve_push_shape.cuh"
#include "kernels/queue/block_memory.cuh"

#include <cstdint>
#include <type_traits>

namespace runner::convolve_cuda {

/// Eight neighbouring sums over `taps`: sum p starts at element p. `x(at, i)` is element at + i, i
/// below 8 and `at` a multiple of 8, called once for each from 0 to count + 6 in order. No tap is
/// padded: 0 · inf is not 0.
template <int count, class T, class Source>
__device__ inline void eight_short_sums(const T* taps, Source&& x, T (&sum)[8]) {
#pragma unroll
    for (int i = 0; i < count + 7; ++i) {
        const T value = x(i / 8 * 8, i % 8);
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
        const T value = x(count - rest + i / 8 * 8, i % 8);
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
        const T value = x(0, i);
#pragma unroll
        for (int p = 0; p <= i; ++p) {
            sum[p] =
                p == i ? multiply(window[0], value) : multiply_add(window[i - p], value, sum[p]);
        }
    }
    int at = 8;
#pragma unroll 2
    for (; at + 8 <= count; at += 8) {
        T next[8];
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            next[i] = taps[at + i];
        }
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            window[i] = next[i];
            const T value = x(at, i);
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

/// A piece's elements from the one at `shift` on, and the first ones of the next piece. Less than a
/// word.
template <class Shape>
__device__ inline Piece<Shape> shifted_piece(const Piece<Shape>& piece, const Piece<Shape>& next,
                                             int shift) {
    constexpr int words = Shape::read_vector / Piece<Shape>::of_word;
    const unsigned bits = 8 * sizeof(typename Shape::Stored) * static_cast<unsigned>(shift);
    Piece<Shape> result;
#pragma unroll
    for (int w = 0; w < words; ++w) {
        result.words[w] = __funnelshift_r(piece.words[w],
                                          w + 1 < words ? piece.words[w + 1] : next.words[0], bits);
    }
    return result;
}

/// The neighbouring sums of a thread of that kernel. `x`: the first element of the first sum's
/// halo, which is rounded up to whole pieces; in shifted rows it lies `shift` further on.
template <class Shape, bool is_shifted, class T, int R>
__device__ inline void row_sums(const PushCall<T, R>& call, const typename Shape::Stored* x,
                                int shift, T (&sum)[Shape::outputs]) {
    constexpr int skipped = Shape::halo - R;
    constexpr int count = Shape::outputs + 2 * R;
#pragma unroll
    for (int v = 0; v < skipped + count; v += Shape::read_vector) {
        if (v + Shape::read_vector <= skipped) {
            continue;
        }
        const auto* pieces = reinterpret_cast<const Piece<Shape>*>(x + v);
        Piece<Shape> values = pieces[0];
        if constexpr (is_shifted) {
            values = shifted_piece<Shape>(values, pieces[1], shift);
        }
#pragma unroll
        for (int e = 0; e < Shape::read_vector; ++e) {
            const int i = v + e - skipped;
            const T value = values[e];
#pragma unroll
            for (int p = 0; p < Shape::outputs; ++p) {
                const int j = i - p;
                if (i >= 0 && i < count && j >= 0 && j < Shape::taps) {
                    sum[p] = j == 0 ? multiply(call.row[0], value)
                                    : multiply_add(call.row[j], value, sum[p]);
                }
            }
        }
    }
}

template <class T> __device__ inline void load_eight(const T* from, T* to) {
    constexpr int vector = 16 / sizeof(T);
#pragma unroll
    for (int i = 0; i < 8; i += vector) {
        const auto values = *reinterpret_cast<const Vector<T>*>(from + i);
#pragma unroll
        for (int e = 0; e < vector; ++e) {
            to[i + e] = values.at[e];
        }
    }
}

/// Sums over nine places, of which as many as `skipped` at either end have no tap.
template <int skipped, class T, int outputs>
__device__ inline void nine_taps(const T* taps, const T* x, T (&sum)[outputs]) {
#pragma unroll
    for (int v = 0; v < outputs + 8; v += 8) {
        T values[8];
        load_eight(x + v, values);
#pragma unroll
        for (int e = 0; e < 8; ++e) {
#pragma unroll
            for (int p = 0; p < outputs; ++p) {
                const int j = v + e - p;
                if (j >= skipped && j <= 8 - skipped) {
                    sum[p] = multiply_add(taps[j], values[e], sum[p]);
                }
            }
        }
    }
}

/// Adds to eight neighbouring sums, from `sum` on, what eight elements give them: element i meets
/// tap i - p of sum p, where `wanted(i - p)`; `tap_at` is asked for it.
template <class T, class Wanted, class TapAt>
__device__ inline void add_eight(const T* x, T* sum, Wanted&& wanted, TapAt&& tap_at) {
    T values[8];
    load_eight(x, values);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
#pragma unroll
        for (int p = 0; p < 8; ++p) {
            if (wanted(i - p)) {
                sum[p] = multiply_add(tap_at(i - p), values[i], sum[p]);
            }
        }
    }
}

/// Sums over `count` places, 17 or another 8 n + 1 above it, of which as many as `skipped`, 3 at
/// most, at either end have no tap. Taps are read in eights at places known at run time, once for
/// all sums; each eight sums then meet eight elements at a time.
template <class T, int outputs>
__device__ inline void many_taps(const T* taps, int count, int skipped, const T* x,
                                 T (&sum)[outputs]) {
    T window[16]; // at step `at`: taps `at` − 8 … `at` + 7
    load_eight(taps, window);
#pragma unroll
    for (int g = 0; g < outputs; g += 8) {
        add_eight(
            x + g, sum + g, [&](int j) { return j >= 0 && (j > 2 || j >= skipped); },
            [&](int j) { return window[j]; });
    }
    // Whether place `at` + `j` has a tap, where it is not among the last: the last sums reach the
    // first places only with the second eight elements.
    const auto has_tap = [&](int at, int j) { return j > 2 - 8 || at > 8 || j + 8 >= skipped; };
    const auto tap_at = [&](int j) { return window[8 + j]; };
    const int last = count - 9; // the first place of the last nine
#pragma unroll 1
    for (int at = 8; at < last; at += 8) {
        load_eight(taps + at, window + 8);
#pragma unroll
        for (int g = 0; g < outputs; g += 8) {
            add_eight(
                x + at + g, sum + g, [&](int j) { return has_tap(at, j); }, tap_at);
        }
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            window[i] = window[8 + i];
        }
    }
    load_eight(taps + last, window + 8);
    const T end = taps[last + 8];
    const auto is_tap = [&](int j) {
        return j <= 8 && (j < 6 || 8 - j >= skipped) && has_tap(last, j);
    };
#pragma unroll
    for (int g = 0; g < outputs; g += 8) {
        add_eight(x + last + g, sum + g, is_tap, tap_at);
        add_eight(
            x + last + 8 + g, sum + g, [&](int j) { return is_tap(j + 8); },
            [&](int j) { return j == 0 ? end : tap_at(j + 8); });
    }
}

/// As row_sums() for a radius that is compiled.
template <class Shape, bool is_shifted, class T, int R>
__device__ inline void row_sums(const AnyPushCall<T, R>& call, const T* x, int /*shift*/,
                                T (&sum)[Shape::outputs]) {
    static_assert(!is_shifted);
    const int fours = call.row_fours();
    const int skipped = call.row_skipped();
#pragma unroll
    for (int p = 0; p < Shape::outputs; ++p) {
        sum[p] = no_sum<T>;
    }
    x += Shape::halo - 4 * fours;
    if (fours > 1) {
        many_taps(call.row, 8 * fours + 1, skipped, x, sum);
        return;
    }
    switch (skipped) {
    case 0: return nine_taps<0>(call.row, x, sum);
    case 1: return nine_taps<1>(call.row, x, sum);
    case 2: return nine_taps<2>(call.row, x, sum);
    case 3: return nine_taps<3>(call.row, x, sum);
    default: return nine_taps<4>(call.row, x, sum);
    }
}

} // namespace runner::convolve_cuda
