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

#include "kernels/convolve_tile.hpp"

HWY_BEFORE_NAMESPACE();
namespace runner {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// a · b + c with one rounding in every lane. Highway's MulAdd rounds twice on vector sets without
/// the instruction; there the lanes go one by one through std::fma.
template <class D, class V = hn::Vec<D>> HWY_INLINE V fused(D d, V a, V b, V c) {
#if HWY_NATIVE_FMA
    (void)d;
    return hn::MulAdd(a, b, c);
#else
    using T = hn::TFromD<D>;
    HWY_ALIGN T x[hn::MaxLanes(d)];
    HWY_ALIGN T y[hn::MaxLanes(d)];
    HWY_ALIGN T z[hn::MaxLanes(d)];
    hn::Store(a, d, x);
    hn::Store(b, d, y);
    hn::Store(c, d, z);
    for (std::size_t i = 0; i < hn::Lanes(d); ++i) {
        z[i] = std::fma(x[i], y[i], z[i]);
    }
    return hn::Load(d, z);
#endif
}

/// A sum to start from: fma(t, x, −0) is t · x to the bit, the sign of zero included.
template <class D> HWY_INLINE hn::Vec<D> no_sum(D d) {
    return hn::Set(d, static_cast<hn::TFromD<D>>(-0.0));
}

/// `Lanes(d)` elements of the input as the compute type.
template <class D, class In> HWY_INLINE hn::Vec<D> load_as(D d, const In* from) {
    if constexpr (std::is_integral_v<In>) {
        const hn::Rebind<In, D> narrow;
        const hn::Rebind<std::int32_t, D> wide;
        return hn::ConvertTo(d, hn::PromoteTo(wide, hn::LoadU(narrow, from)));
    } else {
        return hn::LoadU(d, from);
    }
}

/// Converts and stores `Lanes(d)` results: integers round half to even and saturate, NaN is 0.
template <class D, class Out> HWY_INLINE void store_as(D d, hn::Vec<D> value, Out* to) {
    using T = hn::TFromD<D>;
    if constexpr (std::is_same_v<T, Out>) {
        hn::StoreU(value, d, to);
    } else if constexpr (std::is_same_v<Out, float>) {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
        // Highway's DemoteTo without vectors makes the largest float of what should be infinite.
        HWY_ALIGN T lanes[hn::MaxLanes(d)];
        hn::Store(value, d, lanes);
        for (std::size_t i = 0; i < hn::Lanes(d); ++i) {
            to[i] = static_cast<float>(lanes[i]);
        }
#else
        const hn::Rebind<float, D> narrow;
        hn::StoreU(hn::DemoteTo(narrow, value), narrow, to);
#endif
    } else if constexpr (std::is_same_v<Out, double>) {
        const hn::ScalableTag<double> wide;
        const hn::Rebind<float, decltype(wide)> part;
        HWY_ALIGN T lanes[hn::MaxLanes(d)];
        hn::Store(value, d, lanes);
        for (std::size_t i = 0; i < hn::Lanes(d); i += hn::Lanes(wide)) {
            hn::StoreU(hn::PromoteTo(wide, hn::Load(part, lanes + i)), wide, to + i);
        }
    } else {
        const auto number = hn::IfThenElseZero(hn::Eq(value, value), value);
        const auto most = hn::Set(d, static_cast<T>(std::numeric_limits<Out>::max()));
        const auto inside = hn::Min(hn::Max(number, hn::Zero(d)), most);
        const hn::Rebind<std::int32_t, D> whole;
        const hn::Rebind<Out, D> narrow;
        if constexpr (std::is_same_v<T, float>) {
            hn::StoreU(hn::DemoteTo(narrow, hn::NearestInt(inside)), narrow, to);
        } else {
            hn::StoreU(hn::DemoteTo(narrow, hn::DemoteTo(whole, hn::Round(inside))), narrow, to);
        }
    }
}

/// store_as past the caches where it needs no conversion; `to` is aligned to the vector.
template <class D, class Out> HWY_INLINE void stream_as(D d, hn::Vec<D> value, Out* to) {
    if constexpr (std::is_same_v<hn::TFromD<D>, Out>) {
        hn::Stream(value, d, to);
    } else {
        store_as(d, value, to);
    }
}

/// store_as for the first `count` < Lanes(d) lanes.
template <class D, class Out>
HWY_INLINE void store_some_as(D d, hn::Vec<D> value, Out* to, std::int64_t count) {
    Out lanes[hn::MaxLanes(d)];
    store_as(d, value, lanes);
    std::memcpy(to, lanes, static_cast<std::size_t>(count) * sizeof(Out));
}

/// to[i] = from[i] as the compute type, for i in [0, count).
template <class In, class T> HWY_INLINE void convert(const In* from, T* to, std::int64_t count) {
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        hn::StoreU(load_as(d, from + i), d, to + i);
    }
    for (; i < count; ++i) {
        to[i] = static_cast<T>(from[i]);
    }
}

/// Vectors [0, n) of `to` = Σ weights[j] · in[i + j], in the order of j.
template <int n, class D, class T = hn::TFromD<D>>
HWY_INLINE void along_vectors(D d, const T* HWY_RESTRICT in, const T* HWY_RESTRICT weights,
                              std::int64_t count, T* HWY_RESTRICT to) {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    hn::Vec<D> sum[n];
#pragma GCC unroll 16
    for (int v = 0; v < n; ++v) {
        sum[v] = no_sum(d);
    }
    for (std::int64_t j = 0; j < count; ++j) {
        const auto weight = hn::Set(d, weights[j]);
#pragma GCC unroll 16
        for (int v = 0; v < n; ++v) {
            sum[v] = fused(d, weight, hn::LoadU(d, in + j + v * lanes), sum[v]);
        }
    }
#pragma GCC unroll 16
    for (int v = 0; v < n; ++v) {
        hn::Store(sum[v], d, to + v * lanes);
    }
}

/// The pass along a line: to[i] = Σ weights[j] · in[i + j] for i in [0, length), and on to the end
/// of the last vector; `in` has 2R elements more. `to` is aligned.
template <class T>
HWY_INLINE void pass_along(const T* in, const T* weights, std::int64_t count, std::int64_t length,
                           T* to) {
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    std::int64_t i = 0;
    for (; i + 8 * lanes <= length; i += 8 * lanes) {
        along_vectors<8>(d, in + i, weights, count, to + i);
    }
    for (; i + 2 * lanes <= length; i += 2 * lanes) {
        along_vectors<2>(d, in + i, weights, count, to + i);
    }
    for (; i < length; i += lanes) {
        along_vectors<1>(d, in + i, weights, count, to + i);
    }
}

/// Where the pass across puts its results: the first of its rows and the elements between them.
template <class Out> struct OutRows {
    Out* first;
    std::int64_t pitch;
    OutStores stores;

    OutRows from_row(std::int64_t row) const { return {first + row * pitch, pitch, stores}; }

    /// Whether whole vectors from `to` on go past the caches.
    bool streams(const Out* to) const {
        return stores == OutStores::past_caches &&
               reinterpret_cast<std::uintptr_t>(to) % HWY_MAX_BYTES == 0;
    }
};

/// `m` rows of `n` vectors of the pass across, at element `at` of the rows: row r = Σ weights[j] ·
/// rows[r + j], in the order of j. Each vector that is read serves all m rows. count ≥ m − 1.
template <int m, int n, class D, class Out, class T = hn::TFromD<D>>
HWY_INLINE void across_vectors(D d, const T* const* HWY_RESTRICT rows,
                               const T* HWY_RESTRICT weights, std::int64_t count, std::int64_t at,
                               OutRows<Out> out, std::int64_t last) {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
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
    const auto read_row = [&](std::int64_t k) HWY_ATTR {
#pragma GCC unroll 16
        for (int v = 0; v < n; ++v) {
            x[v] = hn::Load(d, rows[k] + at + v * lanes);
        }
    };
    const auto add_row = [&](int r, hn::Vec<D> with) HWY_ATTR {
#pragma GCC unroll 16
        for (int v = 0; v < n; ++v) {
            sum[r][v] = fused(d, with, x[v], sum[r][v]);
        }
    };
#pragma GCC unroll 16
    for (int k = 0; k < m - 1; ++k) {
        read_row(k);
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
            read_row(k + s);
            weight[(m - 1 + s) % m] = hn::Set(d, weights[k + s]);
#pragma GCC unroll 16
            for (int r = 0; r < m; ++r) {
                add_row(r, weight[(2 * m - 1 + s - r) % m]);
            }
        }
    }
    for (; k < count; ++k) {
        read_row(k);
#pragma GCC unroll 16
        for (int r = 0; r < m; ++r) {
            add_row(r, hn::Set(d, weights[k - r]));
        }
    }
#pragma GCC unroll 16
    for (int past = 0; past < m - 1; ++past) {
        read_row(count + past);
#pragma GCC unroll 16
        for (int r = past + 1; r < m; ++r) {
            add_row(r, hn::Set(d, weights[count + past - r]));
        }
    }
#pragma GCC unroll 16
    for (int r = 0; r < m; ++r) {
        Out* to = out.first + r * out.pitch + at;
        if (last < n * lanes) {
            store_some_as(d, sum[r][0], to, last);
        } else if (out.streams(to)) {
#pragma GCC unroll 16
            for (int v = 0; v < n; ++v) {
                stream_as(d, sum[r][v], to + v * lanes);
            }
        } else {
#pragma GCC unroll 16
            for (int v = 0; v < n; ++v) {
                store_as(d, sum[r][v], to + v * lanes);
            }
        }
    }
}

/// across_vectors for the elements [begin, end) of m rows.
template <int m, class D, class Out, class T = hn::TFromD<D>>
HWY_INLINE void across_rows(D d, const T* const* rows, const T* weights, std::int64_t count,
                            std::int64_t begin, std::int64_t end, OutRows<Out> out) {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    std::int64_t at = begin;
    for (; at + 2 * lanes <= end; at += 2 * lanes) {
        across_vectors<m, 2>(d, rows, weights, count, at, out, 2 * lanes);
    }
    for (; at < end; at += lanes) {
        across_vectors<m, 1>(d, rows, weights, count, at, out, HWY_MIN(lanes, end - at));
    }
}

/// The pass across rows: out row r = Σ weights[j] · rows[r + j], for r in [0, out_rows) and
/// `columns` elements, converted; `rows` are aligned and end with a whole vector.
template <class T, class Out>
HWY_INLINE void pass_across(const T* const* rows, const T* weights, std::int64_t count,
                            std::int64_t columns, OutRows<Out> out, std::int64_t out_rows) {
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    // Strips that stay in the L1 cache from one group of rows to the next.
    constexpr std::int64_t strip_bytes = 24 * 1024;
    const std::int64_t fitting =
        strip_bytes / ((out_rows + count) * static_cast<std::int64_t>(sizeof(T)));
    const std::int64_t strip = HWY_MAX(fitting / (2 * lanes), 1) * 2 * lanes;
    for (std::int64_t begin = 0; begin < columns; begin += strip) {
        const std::int64_t end = HWY_MIN(begin + strip, columns);
        std::int64_t r = 0;
        if (count >= 3) {
            for (; r + 4 <= out_rows; r += 4) {
                across_rows<4>(d, rows + r, weights, count, begin, end, out.from_row(r));
            }
        }
        for (; r < out_rows; ++r) {
            across_rows<1>(d, rows + r, weights, count, begin, end, out.from_row(r));
        }
    }
}

} // namespace HWY_NAMESPACE
} // namespace runner
HWY_AFTER_NAMESPACE();

#endif
