// SPDX-License-Identifier: BSD-3-Clause
// Transforms of 2 to 16 complex numbers in registers. Included once for every vector set, as
// Highway wants it, and once by the CUDA form; hence no #pragma once.
#if defined(RUNNER_KERNELS_FOURIER_BUTTERFLIES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef RUNNER_KERNELS_FOURIER_BUTTERFLIES_INL_HPP
#undef RUNNER_KERNELS_FOURIER_BUTTERFLIES_INL_HPP
#else
#define RUNNER_KERNELS_FOURIER_BUTTERFLIES_INL_HPP
#endif

#include "kernels/fourier/unit_root.hpp"

#include <array>
#include <cstddef>

#undef RUNNER_FOURIER_INLINE
#undef RUNNER_FOURIER_LANES
#undef RUNNER_FOURIER_UNROLL
#ifdef __CUDACC__
#define RUNNER_FOURIER_INLINE __device__ __forceinline__
#define RUNNER_FOURIER_LANES fourier_cuda
#define RUNNER_FOURIER_UNROLL _Pragma("unroll")
#else
#include <hwy/highway.h>
#define RUNNER_FOURIER_INLINE HWY_INLINE
#define RUNNER_FOURIER_LANES HWY_NAMESPACE
#define RUNNER_FOURIER_UNROLL _Pragma("GCC unroll 16")
HWY_BEFORE_NAMESPACE();
#endif
namespace runner {
namespace RUNNER_FOURIER_LANES {

// Word is a float, or floats side by side. It has + and −, and the functions times(word, float) and
// fused(word, float, word), which multiplies and adds with one rounding. The order of the
// operations here, and of those that use them, is what makes the bytes the same everywhere.

/// Complex numbers.
template <class Word> struct ComplexWord { Word re, im; };

template <class Word>
RUNNER_FOURIER_INLINE ComplexWord<Word> plus(const ComplexWord<Word>& a,
                                             const ComplexWord<Word>& b) {
    return {a.re + b.re, a.im + b.im};
}
template <class Word>
RUNNER_FOURIER_INLINE ComplexWord<Word> minus(const ComplexWord<Word>& a,
                                              const ComplexWord<Word>& b) {
    return {a.re - b.re, a.im - b.im};
}
/// a · f.
template <class Word>
RUNNER_FOURIER_INLINE ComplexWord<Word> turned(const ComplexWord<Word>& a, float re, float im) {
    return {fused(a.re, re, times(a.im, -im)), fused(a.re, im, times(a.im, re))};
}

/// The cosines and sines of multiples of 2π / radix, for the odd radices.
template <int radix> struct OddRoots;
template <> struct OddRoots<3> {
    static RUNNER_FOURIER_INLINE float cosine(int) { return -0.5F; }
    static RUNNER_FOURIER_INLINE float sine(int i) {
        return i == 1 ? 0.866025403784438647F : -0.866025403784438647F;
    }
};
template <> struct OddRoots<5> {
    static RUNNER_FOURIER_INLINE float cosine(int i) {
        return i == 1 || i == 4 ? 0.309016994374947424F : -0.809016994374947424F;
    }
    static RUNNER_FOURIER_INLINE float sine(int i) {
        return i == 1   ? 0.951056516295153572F
               : i == 2 ? 0.587785252292473129F
               : i == 3 ? -0.587785252292473129F
                        : -0.951056516295153572F;
    }
};
template <> struct OddRoots<7> {
    static RUNNER_FOURIER_INLINE float cosine(int i) {
        return i == 1 || i == 6   ? 0.623489801858733531F
               : i == 2 || i == 5 ? -0.222520933956314405F
                                  : -0.900968867902419126F;
    }
    static RUNNER_FOURIER_INLINE float sine(int i) {
        return i == 1   ? 0.781831482468029809F
               : i == 2 ? 0.974927912181823607F
               : i == 3 ? 0.433883739117558120F
               : i == 4 ? -0.433883739117558120F
               : i == 5 ? -0.974927912181823607F
                        : -0.781831482468029809F;
    }
};

/// The transform of an odd number of values, in place: of each pair of values at equal distances
/// from the first, the sum has the cosines and the difference the sines.
template <int radix> struct Butterfly {
    template <class Word>
    static RUNNER_FOURIER_INLINE void transform(ComplexWord<Word> (&x)[radix]) {
        using Roots = OddRoots<radix>;
        constexpr int half = radix / 2;
        ComplexWord<Word> sum[half];
        ComplexWord<Word> difference[half];
        const ComplexWord<Word> first = x[0];
        RUNNER_FOURIER_UNROLL
        for (int m = 0; m < half; ++m) {
            sum[m] = plus(x[m + 1], x[radix - 1 - m]);
            difference[m] = minus(x[m + 1], x[radix - 1 - m]);
            x[0] = plus(x[0], sum[m]);
        }
        RUNNER_FOURIER_UNROLL
        for (int q = 1; q <= half; ++q) {
            ComplexWord<Word> even = first;
            ComplexWord<Word> odd = {times(difference[0].re, Roots::sine(q)),
                                     times(difference[0].im, Roots::sine(q))};
            RUNNER_FOURIER_UNROLL
            for (int m = 0; m < half; ++m) {
                const int at = q * (m + 1) % radix;
                even = {fused(sum[m].re, Roots::cosine(at), even.re),
                        fused(sum[m].im, Roots::cosine(at), even.im)};
                if (m > 0) {
                    odd = {fused(difference[m].re, Roots::sine(at), odd.re),
                           fused(difference[m].im, Roots::sine(at), odd.im)};
                }
            }
            x[q] = {even.re + odd.im, even.im - odd.re};
            x[radix - q] = {even.re - odd.im, even.im + odd.re};
        }
    }
};

template <> struct Butterfly<2> {
    template <class Word> static RUNNER_FOURIER_INLINE void transform(ComplexWord<Word> (&x)[2]) {
        const ComplexWord<Word> first = x[0];
        x[0] = plus(first, x[1]);
        x[1] = minus(first, x[1]);
    }
};

template <> struct Butterfly<4> {
    template <class Word> static RUNNER_FOURIER_INLINE void transform(ComplexWord<Word> (&x)[4]) {
        const ComplexWord<Word> a = plus(x[0], x[2]);
        const ComplexWord<Word> b = minus(x[0], x[2]);
        const ComplexWord<Word> c = plus(x[1], x[3]);
        const ComplexWord<Word> d = minus(x[1], x[3]);
        x[0] = plus(a, c);
        x[1] = {b.re + d.im, b.im - d.re};
        x[2] = minus(a, c);
        x[3] = {b.re - d.im, b.im + d.re};
    }
};

template <> struct Butterfly<8> {
    template <class Word> static RUNNER_FOURIER_INLINE void transform(ComplexWord<Word> (&x)[8]) {
        constexpr float root_half = 0.707106781186547524F;
        ComplexWord<Word> even[4] = {x[0], x[2], x[4], x[6]};
        ComplexWord<Word> odd[4] = {x[1], x[3], x[5], x[7]};
        Butterfly<4>::transform(even);
        Butterfly<4>::transform(odd);
        odd[1] = {times(odd[1].re + odd[1].im, root_half), times(odd[1].im - odd[1].re, root_half)};
        odd[2] = {odd[2].im, times(odd[2].re, -1)};
        odd[3] = {times(odd[3].im - odd[3].re, root_half),
                  times(odd[3].re + odd[3].im, -root_half)};
        RUNNER_FOURIER_UNROLL
        for (int i = 0; i < 4; ++i) {
            x[i] = plus(even[i], odd[i]);
            x[i + 4] = minus(even[i], odd[i]);
        }
    }
};

/// e^(−2πi j k / n) at j · k, for the products of j below `down` and k below `along`.
template <int n, int down, int along> constexpr std::array<ComplexFloat, n> product_roots() {
    std::array<ComplexFloat, n> roots{};
    for (int j = 0; j < down; ++j) {
        for (int k = 0; k < along; ++k) {
            const int product = j * k;
            roots[static_cast<std::size_t>(product)] = unit_root(product, n).to_float();
        }
    }
    return roots;
}

/// The transform of first · second values: of `second` columns of `first` values, and then of the
/// rows that they make.
template <int first, int second> struct ComposedButterfly {
    template <class Word>
    static RUNNER_FOURIER_INLINE void transform(ComplexWord<Word> (&x)[first * second]) {
        constexpr auto roots = product_roots<first * second, second, first>();
        ComplexWord<Word> made[first][second];
        RUNNER_FOURIER_UNROLL
        for (int j = 0; j < second; ++j) {
            ComplexWord<Word> column[first];
            RUNNER_FOURIER_UNROLL
            for (int i = 0; i < first; ++i) {
                column[i] = x[i * second + j];
            }
            Butterfly<first>::transform(column);
            RUNNER_FOURIER_UNROLL
            for (int k = 0; k < first; ++k) {
                const int product = j * k;
                const ComplexFloat root = roots[static_cast<std::size_t>(product)];
                made[k][j] = product == 0 ? column[k] : turned(column[k], root.re, root.im);
            }
        }
        RUNNER_FOURIER_UNROLL
        for (int k = 0; k < first; ++k) {
            Butterfly<second>::transform(made[k]);
            RUNNER_FOURIER_UNROLL
            for (int i = 0; i < second; ++i) {
                x[k + first * i] = made[k][i];
            }
        }
    }
};
template <> struct Butterfly<9> : ComposedButterfly<3, 3> {};
template <> struct Butterfly<10> : ComposedButterfly<5, 2> {};
template <> struct Butterfly<16> : ComposedButterfly<4, 4> {};

} // namespace RUNNER_FOURIER_LANES
} // namespace runner
#ifndef __CUDACC__
HWY_AFTER_NAMESPACE();
#endif

#endif
