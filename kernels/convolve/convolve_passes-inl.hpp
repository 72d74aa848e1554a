// SPDX-License-Identifier: BSD-3-Clause
// The vector loops of convolution. Included once for every vector set, as Highway wants it; hence
// no #pragma once.
#if defined(RUNNER_KERNELS_CONVOLVE_PASSES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef RUNNER_KERNELS_CONVOLVE_PASSES_INL_HPP
#undef RUNNER_KERNELS_CONVOLVE_PASSES_INL_HPP
#else
#define RUNNER_KERNELS_CONVOLVE_PASSES_INL_HPP
#endif

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "base/sizes.hpp"
#include "kernels/convolve/convolve_tile.hpp"
#include "kernels/convolve/convolve_types-inl.hpp"
#include "kernels/elements/elements.hpp"
#include "kernels/queue/fused-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace runner {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// A sum to start from: fma(t, x, −0) is t · x to the bit, the sign of zero included.
template <class D> HWY_INLINE hn::Vec<D> no_sum(D d) {
    return hn::Set(d, static_cast<hn::TFromD<D>>(-0.0));
}

/// Vectors [0, n) of `to` = Σ weights[j] · in[i + j · stride], in the order of j.
template <int n, class D, class T = hn::TFromD<D>>
HWY_INLINE void along_vectors(D d, const T* HWY_RESTRICT in, const T* HWY_RESTRICT weights,
                              std::int64_t count, std::int64_t stride, T* HWY_RESTRICT to) {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    hn::Vec<D> sum[n];
#pragma GCC unroll 16
    for (int v = 0; v < n; ++v) {
        sum[v] = no_sum(d);
    }
    for (std::int64_t j = 0; j < count; ++j, in += stride) {
        const auto weight = hn::Set(d, weights[j]);
#pragma GCC unroll 16
        for (int v = 0; v < n; ++v) {
            sum[v] = fused(d, weight, hn::LoadU(d, in + v * lanes), sum[v]);
        }
    }
#pragma GCC unroll 16
    for (int v = 0; v < n; ++v) {
        hn::Store(sum[v], d, to + v * lanes);
    }
}

/// The pass along a line: to[i] = Σ weights[j] · in[i + j · stride] for i in [0, length), and on to
/// the end of the last vector; `in` has 2R · stride elements more. `to` is aligned.
template <class T>
HWY_NOINLINE void pass_along(const T* in, const T* weights, std::int64_t count, std::int64_t stride,
                             std::int64_t length, T* to) {
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    std::int64_t i = 0;
    for (; i + 8 * lanes <= length; i += 8 * lanes) {
        along_vectors<8>(d, in + i, weights, count, stride, to + i);
    }
    for (; i + 2 * lanes <= length; i += 2 * lanes) {
        along_vectors<2>(d, in + i, weights, count, stride, to + i);
    }
    for (; i < length; i += lanes) {
        along_vectors<1>(d, in + i, weights, count, stride, to + i);
    }
}

/// The `n` vectors from `from` on.
template <int n, class D, class T = hn::TFromD<D>>
HWY_INLINE void load_vectors(D d, const T* HWY_RESTRICT from, hn::Vec<D> (&x)[n]) {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
#pragma GCC unroll 16
    for (int v = 0; v < n; ++v) {
        x[v] = hn::Load(d, from + v * lanes);
    }
}

/// Stores `m` rows of `n` vectors, rows `pitch` elements apart.
template <int m, int n, class D, class T = hn::TFromD<D>>
HWY_INLINE void store_rows(D d, const hn::Vec<D> (&sum)[m][n], T* HWY_RESTRICT to,
                           std::int64_t pitch) {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
#pragma GCC unroll 16
    for (int i = 0; i < m * n; ++i) {
        hn::Store(sum[i / n][i % n], d, to + i / n * pitch + i % n * lanes);
    }
}

/// `m` rows of `n` vectors of the pass across, at element `at` of the rows: row r = Σ weights[j] ·
/// rows[r + j], in the order of j. Each vector that is read serves all m rows. count ≥ m − 1.
template <int m, int n, class D, class T = hn::TFromD<D>>
HWY_INLINE void across_vectors(D d, const T* const* HWY_RESTRICT rows,
                               const T* HWY_RESTRICT weights, std::int64_t count, std::int64_t at,
                               T* HWY_RESTRICT to, std::int64_t pitch) {
    hn::Vec<D> sum[m][n];
    hn::Vec<D> x[n];
    // Row k of the input meets output row r with weight k − r: all of them in the middle, the upper
    // ones alone at the start, the lower ones alone at the end. Weight j is kept in slot j mod m,
    // so that each is broadcast once.
    hn::Vec<D> weight[m];
#pragma GCC unroll 16
    for (int i = 0; i < m * n; ++i) {
        sum[i / n][i % n] = no_sum(d);
    }
    const auto add_row = [&](int r, hn::Vec<D> with) HWY_ATTR {
#pragma GCC unroll 16
        for (int v = 0; v < n; ++v) {
            sum[r][v] = fused(d, with, x[v], sum[r][v]);
        }
    };
#pragma GCC unroll 16
    for (int k = 0; k < m - 1; ++k) {
        load_vectors(d, rows[k] + at, x);
        weight[k] = hn::Set(d, weights[k]);
#pragma GCC unroll 16
        for (int r = 0; r <= k; ++r) {
            add_row(r, weight[k - r]);
        }
    }
    std::int64_t k = m - 1;
    for (; k + m <= count; k += m) {
#pragma GCC unroll 16
        for (int s = 0; s < m; ++s) {
            load_vectors(d, rows[k + s] + at, x);
            weight[(m - 1 + s) % m] = hn::Set(d, weights[k + s]);
#pragma GCC unroll 16
            for (int r = 0; r < m; ++r) {
                add_row(r, weight[(2 * m - 1 + s - r) % m]);
            }
        }
    }
    for (; k < count; ++k) {
        load_vectors(d, rows[k] + at, x);
#pragma GCC unroll 16
        for (int r = 0; r < m; ++r) {
            add_row(r, hn::Set(d, weights[k - r]));
        }
    }
#pragma GCC unroll 16
    for (int past = 0; past < m - 1; ++past) {
        load_vectors(d, rows[count + past] + at, x);
#pragma GCC unroll 16
        for (int r = past + 1; r < m; ++r) {
            add_row(r, hn::Set(d, weights[count + past - r]));
        }
    }
    store_rows(d, sum, to, pitch);
}

/// across_vectors for the elements [begin, end) of m rows, and on to the end of the last vector.
template <int m, class T>
HWY_NOINLINE void across_rows(const T* const* rows, const T* weights, std::int64_t count,
                              std::int64_t begin, std::int64_t end, T* to, std::int64_t pitch) {
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    std::int64_t at = begin;
    for (; at + 2 * lanes <= end; at += 2 * lanes) {
        across_vectors<m, 2>(d, rows, weights, count, at, to + (at - begin), pitch);
    }
    for (; at < end; at += lanes) {
        across_vectors<m, 1>(d, rows, weights, count, at, to + (at - begin), pitch);
    }
}

/// Where the pass across puts its results: the first of its rows and the elements between them.
template <class Out> struct OutRows {
    Out* first;
    std::int64_t pitch;
    OutStores stores;

    /// Puts `count` results, whole vectors of which can be read, from element `at` on.
    template <class T>
    HWY_INLINE void put(const T* results, std::int64_t at, std::int64_t count) const {
        put_row(results, first + at, count, stores);
    }
};

/// The same for elements of a type that is known at run time alone.
template <> struct OutRows<AnyElement> {
    std::byte* first;
    std::int64_t pitch;
    ElementType type;

    template <class T>
    HWY_INLINE void put(const T* results, std::int64_t at, std::int64_t count) const {
        store_elements(type, results, count, first + at * size_of(type));
    }
};

/// The pass across rows: out row r = Σ weights[j] · rows[r + j], for r in [0, out_rows) and
/// `columns` elements, converted; `rows` are aligned and end with a whole vector.
template <class T, class Out>
HWY_INLINE void pass_across(const T* const* rows, const T* weights, std::int64_t count,
                            std::int64_t columns, OutRows<Out> out, std::int64_t out_rows) {
    // Strips that stay in the L1 cache from one group of rows to the next.
    constexpr std::int64_t strip_bytes = 24 * KiB;
    constexpr std::int64_t widest = 256;
    constexpr std::int64_t narrowest = std::int64_t{2} * HWY_MAX_BYTES / std::int64_t{sizeof(T)};
    const std::int64_t fitting = strip_bytes / ((out_rows + count) * std::int64_t{sizeof(T)});
    const std::int64_t strip = HWY_MIN(HWY_MAX(fitting / narrowest, 1) * narrowest, widest);
    constexpr std::int64_t group = 4;
    alignas(HWY_MAX_BYTES) T results[group * widest];
    for (std::int64_t begin = 0; begin < columns; begin += strip) {
        const std::int64_t end = HWY_MIN(begin + strip, columns);
        for (std::int64_t r = 0, made = 0; r < out_rows; r += made) {
            made = count >= group - 1 && r + group <= out_rows ? group : 1;
            if (made == group) {
                across_rows<group>(rows + r, weights, count, begin, end, results, widest);
            } else {
                across_rows<1>(rows + r, weights, count, begin, end, results, widest);
            }
            for (std::int64_t i = 0; i < made; ++i) {
                out.put(results + i * widest, (r + i) * out.pitch + begin, end - begin);
            }
        }
    }
}

} // namespace HWY_NAMESPACE
} // namespace runner
HWY_AFTER_NAMESPACE();

#endif
