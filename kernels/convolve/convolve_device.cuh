// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/convolve/boundary.hpp"
#include "kernels/convolve/convolve_images.hpp"

#include <cstdint>
#include <type_traits>

namespace runner::convolve_cuda {

// The only arithmetic of a convolution: rounded as written, whatever the compiler's flags.
__device__ inline float multiply(float a, float b) { return __fmul_rn(a, b); }
__device__ inline double multiply(double a, double b) { return __dmul_rn(a, b); }
__device__ inline float multiply_add(float a, float b, float c) { return __fmaf_rn(a, b, c); }
__device__ inline double multiply_add(double a, double b, double c) { return __fma_rn(a, b, c); }

/// A sum without terms: a product added to it is that product, −0 too.
template <class T> constexpr T no_sum = -T(0);

// Integers below 2^23 become floats by way of a float's bits: 2^23 + n has n as its lowest bits. A
// multiprocessor executes the instructions for conversion at an eighth of the rate of others, and
// an element is converted for every thread that reads it.
constexpr float two_to_23 = 8388608.0F;

/// Element `index` of the 1- or 2-byte integers in `word`.
template <class Element> __device__ inline float element_of(std::uint32_t word, int index) {
    constexpr std::uint32_t high_byte = 0x4b000000; // of 2^23
    const auto at = static_cast<unsigned>(index);
    // Which bytes the result has, the highest first: 7 is the high byte of 2^23, 4 a zero.
    const unsigned bytes =
        sizeof(Element) == 1 ? 0x7440U | at : 0x7400U | (2 * at + 1) << 4 | 2 * at;
    return __fsub_rn(__uint_as_float(__byte_perm(word, high_byte, bytes)), two_to_23);
}

/// `value` as an element of type Out: integers round half to even and saturate, NaN becomes 0.
template <class Out> __device__ inline Out to_output(float value) {
    if constexpr (std::is_integral_v<Out>) {
        // One such instruction an output costs less than the three that would stand for it.
        std::uint32_t element = 0;
        if constexpr (sizeof(Out) == 1) {
            asm("cvt.rni.sat.u8.f32 %0, %1;" : "=r"(element) : "f"(value));
        } else {
            std::uint16_t narrow = 0;
            asm("cvt.rni.sat.u16.f32 %0, %1;" : "=h"(narrow) : "f"(value));
            element = narrow;
        }
        return static_cast<Out>(element);
    } else {
        return static_cast<Out>(value);
    }
}
template <class Out> __device__ inline Out to_output(double value) {
    if constexpr (std::is_integral_v<Out>) {
        constexpr double top = sizeof(Out) == 1 ? 255.0 : 65535.0;
        return static_cast<Out>(__double2uint_rn(fmin(fmax(value, 0.0), top)));
    } else {
        return static_cast<Out>(value);
    }
}

/// The row of the input buffer that holds extended row `row`; −1 where the fill value stands.
template <class T>
__device__ inline std::int64_t held_row(const ConvolveImages<T>& images, std::int64_t row) {
    std::int64_t held = row - images.in_first;
    if (held < 0 || held >= images.in_rows) {
        const std::int64_t mapped = map_index(row, images.frame_rows, images.boundary);
        held = mapped < 0 ? -1 : mapped - images.in_first;
    }
    return held;
}

/// Rows of a tile, counted from the first one it needs: those before `end`.
struct NeededRows {
    int begin;
    int end;
};

/// Those among the `needed` rows that start at row `first` of something with `rows` rows, those
/// that it has.
__device__ inline NeededRows rows_within(std::int64_t first, std::int64_t rows, int needed) {
    const std::int64_t held = rows - first;
    return {static_cast<int>(first >= 0        ? 0
                             : first < -needed ? needed
                                               : -first),
            static_cast<int>(held < 0        ? 0
                             : held < needed ? held
                                             : needed)};
}

/// Whether the row sums of extended row `row` are the fill value: the column pass extends the
/// result of the row pass.
template <class T>
__device__ inline bool is_fill_row(const ConvolveImages<T>& images, std::int64_t row) {
    return images.boundary == Boundary::constant && (row < 0 || row >= images.frame_rows);
}

/// One tile: the outputs it makes.
struct ConvolveTile {
    ConvolveTile() = default;

    std::int64_t frame;
    std::int64_t first_column;
    std::int64_t first_row; ///< extended, as out_first
    std::int64_t rows;

    template <class T>
    __device__ ConvolveTile(const ConvolveImages<T>& images, std::int64_t index, int width) {
        const std::int64_t strip = index % images.strips;
        const std::int64_t rest = index / images.strips;
        const std::int64_t segment = rest % images.segments;
        const std::int64_t past = segment - images.long_segments;
        const std::int64_t skipped =
            past < 0 ? segment * images.long_rows
                     : images.long_segments * images.long_rows + past * images.short_rows;
        const std::int64_t most = past < 0 ? images.long_rows : images.short_rows;
        frame = rest / images.segments;
        first_column = strip * width;
        first_row = images.out_first + skipped;
        rows = images.out_rows - skipped < most ? images.out_rows - skipped : most;
    }
};

/// Calls `work` with each tile of this block's share, one after the other. The rows of all strips
/// stand one below the other, those of a strip behind what a tile costs beyond its rows; a block
/// takes as many of them as the others.
template <class T, class Work>
__device__ inline void for_tiles_of_share(const ConvolveImages<T>& images, int width, Work&& work) {
    const std::int64_t length = images.tile_cost + images.out_rows;
    const std::int64_t begin = blockIdx.x * images.share;
    const std::int64_t end = begin + images.share;
#pragma unroll 1
    for (std::int64_t strip = begin / length; strip < images.all_strips && strip * length < end;
         ++strip) {
        const std::int64_t from = begin - strip * length - images.tile_cost;
        const std::int64_t to = end - strip * length - images.tile_cost;
        const std::int64_t first = from < 0 ? 0 : from;
        const std::int64_t last = to < images.out_rows ? to : images.out_rows;
        if (first < last) {
            const std::int64_t place = strip % images.strips;
            // The outermost strips take longest. They come first: a multiprocessor prefers the
            // blocks that it was given first.
            const std::int64_t column = place < 2 ? place * (images.strips - 1) : place - 1;
            ConvolveTile tile;
            tile.frame = strip / images.strips;
            tile.first_column = column * width;
            tile.first_row = images.out_first + first;
            tile.rows = last - first;
            work(tile);
        }
    }
}

/// The column that column `c` of the boundary-extended image stands for, −1 for the fill value.
/// Columns that no output needs may be asked for: beyond the last needed one the last is given.
__device__ inline std::int64_t held_column(std::int64_t c, std::int64_t columns, int radius,
                                           Boundary boundary) {
    return c >= columns + radius ? columns - 1 : map_index(c, columns, boundary);
}

} // namespace runner::convolve_cuda
