// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/element_type.hpp"
#include "kernels/convolve/convolve.hpp"
#include "kernels/convolve/convolve_device.cuh"
#include "kernels/convolve/convolve_sums.cuh"
#include "kernels/queue/block_memory.cuh"

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace runner::convolve_cuda {

template <class T> struct RingCall {
    static constexpr int most_taps = 2 * Convolution::fused_radius + 1;

    ConvolveImages<T> images;
    ElementType in_type;
    ElementType out_type;
    int width; ///< columns of a strip, a power of two
    int row_radius;
    int column_radius;
    T row[most_taps]; ///< reversed: in the order in which they are applied
    T column[most_taps];
};

/// A sum of taps in the order in which they are applied.
template <class T>
RingCall<T> ring_call(const ConvolveImages<T>& images, ElementType in_type, ElementType out_type,
                      const std::vector<T>& row_taps, const std::vector<T>& column_taps,
                      int width) {
    RingCall<T> call{};
    call.images = images;
    call.in_type = in_type;
    call.out_type = out_type;
    call.width = width;
    call.row_radius = static_cast<int>(row_taps.size() / 2);
    call.column_radius = static_cast<int>(column_taps.size() / 2);
    std::copy(row_taps.begin(), row_taps.end(), call.row);
    std::copy(column_taps.begin(), column_taps.end(), call.column);
    return call;
}

/// How the ring kernel is laid out: columns of a strip, 0 where RingCall has them, and rows of
/// a batch, 16 or 32. Its shared memory has taps, a batch of input rows, and a ring of row sums.
template <class T, int width_, int rows_> struct RingShape {
    using Value = T;
    static constexpr int width = width_;
    static constexpr int rows = rows_;
    static constexpr int outputs = 8;

    static constexpr int threads(int width) { return width * rows / outputs; }

    /// One element past a multiple of 128 bytes: successive rows lie in different banks.
    static constexpr int pitch(int elements) {
        constexpr int line = 128 / static_cast<int>(sizeof(T));
        return (elements + line - 1) / line * line + 1;
    }
    /// Batches between a row and the outputs it completes.
    static constexpr int lag(int column_radius) { return (2 * column_radius + rows - 1) / rows; }
    /// Elements for the taps of one axis, a multiple of 16 bytes.
    static constexpr int room(int radius) { return (2 * radius + 4) / 4 * 4; }
    static constexpr int shared_bytes(int width, int row_radius, int column_radius) {
        return (room(row_radius) + room(column_radius) +
                rows * (pitch(width + 2 * row_radius) + (lag(column_radius) + 1) * pitch(width))) *
               static_cast<int>(sizeof(T));
    }
};

/// Both passes in one sweep for any radii and types known at run time. A block of threads owns a
/// strip of columns and marches down its rows, a batch at a time: rows come into shared memory as
/// the compute type, the row pass writes sums to a ring of rows in shared memory, and the column
/// pass makes eight outputs of one column a thread from the ring.
template <class Shape> class Ring {
  public:
    using T = typename Shape::Value;

    __device__ Ring(const RingCall<T>& call, const ConvolveTile& tile, T* shared)
        : call_(call), images_(call.images), tile_(tile),
          in_pitch_(Shape::pitch(width() + 2 * call.row_radius)),
          lag_(Shape::lag(call.column_radius)), row_taps_(shared),
          column_taps_(row_taps_ + Shape::room(call.row_radius)),
          in_(column_taps_ + Shape::room(call.column_radius)), ring_(in_ + Shape::rows * in_pitch_),
          first_row_(tile.first_row - call.column_radius),
          last_row_(tile.first_row + tile.rows - 1 + call.column_radius),
          direct_(rows_within(first_row_ - images_.in_first, images_.in_rows,
                              static_cast<int>(last_row_ - first_row_) + 1)) {}

    __device__ void run() {
        const std::int64_t batches = (tile_.rows + Shape::rows - 1) / Shape::rows + lag_;
        int slot = 0; // of the batch in the ring
        copy_taps(call_.row, 2 * call_.row_radius + 1, row_taps_);
        copy_taps(call_.column, 2 * call_.column_radius + 1, column_taps_);
        load(0);
        for (std::int64_t k = 0; k < batches; ++k) {
            wait_for_copies<0>();
            __syncthreads();
            row_pass(k, ring_ + slot * Shape::rows * ring_pitch());
            __syncthreads();
            slot = slot == lag_ ? 0 : slot + 1;
            if (k + 1 < batches) {
                load(k + 1); // arrives while the column pass works
            }
            if (k >= lag_) {
                column_pass((k - lag_) * Shape::rows, slot);
            }
        }
    }

  private:
    __device__ int width() const { return Shape::width > 0 ? Shape::width : call_.width; }
    __device__ int threads() const { return Shape::threads(width()); }
    __device__ int ring_pitch() const { return Shape::pitch(width()); }

    /// So that taps are read 16 bytes at a time.
    static const __device__ T* aligned(const T* taps) {
        return static_cast<const T*>(__builtin_assume_aligned(taps, 16));
    }

    __device__ void copy_taps(const T* from, int count, T* to) {
        for (int i = static_cast<int>(threadIdx.x); i < count; i += threads()) {
            to[i] = from[i];
        }
    }

    __device__ void load(std::int64_t k) {
        switch (call_.in_type) {
        case ElementType::uint8: return load_as<std::uint8_t>(k);
        case ElementType::uint16: return load_as<std::uint16_t>(k);
        default: return load_as<T>(k);
        }
    }

    template <class In> __device__ void load_as(std::int64_t k) {
        const int in_width = width() + 2 * call_.row_radius;
        const std::int64_t first_column = tile_.first_column - call_.row_radius;
        const std::int64_t first_row = first_row_ + k * Shape::rows;
        const bool direct =
            k * Shape::rows >= direct_.begin && (k + 1) * Shape::rows <= direct_.end;
        const In* frame =
            static_cast<const In*>(images_.in) + tile_.frame * images_.in_rows * images_.columns;
        for (int i = static_cast<int>(threadIdx.x); i < in_width; i += threads()) {
            const std::int64_t c =
                held_column(first_column + i, images_.columns, call_.row_radius, images_.boundary);
            if (direct && c >= 0) {
                load_direct(frame + (first_row - images_.in_first) * images_.columns + c, in_ + i);
            } else {
                load_mapped(frame + c, first_row, c >= 0, in_ + i);
            }
        }
        commit_copies();
    }

    /// One column of a batch whose rows lie one below the other.
    template <class In> __device__ void load_direct(const In* from, T* to) {
        if constexpr (std::is_same_v<In, T>) {
#pragma unroll
            for (int r = 0; r < Shape::rows; ++r) {
                copy_async<sizeof(T)>(to + r * in_pitch_, from + r * images_.columns);
            }
        } else {
            In values[Shape::rows];
#pragma unroll
            for (int r = 0; r < Shape::rows; ++r) {
                values[r] = from[r * images_.columns];
            }
#pragma unroll
            for (int r = 0; r < Shape::rows; ++r) {
                to[r * in_pitch_] = static_cast<T>(values[r]);
            }
        }
    }

    template <class In>
    __device__ void load_mapped(const In* column, std::int64_t first_row, bool in_image, T* to) {
#pragma unroll 1
        for (int r = 0; r < Shape::rows; ++r, to += in_pitch_) {
            const std::int64_t row = first_row + r;
            // Rows past the last needed one may be held nowhere.
            const std::int64_t held = row <= last_row_ && in_image ? held_row(images_, row) : -1;
            *to = held < 0 ? images_.fill : static_cast<T>(column[held * images_.columns]);
        }
    }

    __device__ void row_pass(std::int64_t k, T* sums) {
        const int r = static_cast<int>(threadIdx.x) % Shape::rows;
        int group = static_cast<int>(threadIdx.x) / Shape::rows;
        if (Shape::rows < 32 && width() >= 32) {
            // The two halves of a warp take groups two apart, whose banks differ.
            group = (group & ~3) | (group & 1) << 1 | (group & 2) >> 1;
        }
        const T* in = in_ + r * in_pitch_ + group * Shape::outputs;
        T sum[Shape::outputs];
        eight_sums(
            aligned(row_taps_), 2 * call_.row_radius + 1, [&](int at, int i) { return in[at + i]; },
            sum);
        const bool fill = is_fill_row(images_, first_row_ + k * Shape::rows + r);
        T* to = sums + r * ring_pitch() + group * Shape::outputs;
#pragma unroll
        for (int p = 0; p < Shape::outputs; ++p) {
            to[p] = fill ? images_.fill : sum[p];
        }
    }

    /// The outputs of a batch of rows of the tile from row `done` on, whose first row sum is in
    /// `slot`. The ring wraps at a multiple of eight rows.
    __device__ void column_pass(std::int64_t done, int slot) {
        const int column = static_cast<int>(threadIdx.x) % width();
        const int first = static_cast<int>(threadIdx.x) / width() * Shape::outputs;
        const int before_wrap = (lag_ + 1 - slot) * Shape::rows - first;
        const T* from = ring_ + (slot * Shape::rows + first) * ring_pitch() + column;
        const T* wrapped = from - (lag_ + 1) * Shape::rows * ring_pitch();
        T sum[Shape::outputs];
        eight_sums(
            aligned(column_taps_), 2 * call_.column_radius + 1,
            [&](int at, int i) {
                return (at < before_wrap ? from : wrapped)[(at + i) * ring_pitch()];
            },
            sum);
        if (tile_.first_column + column >= images_.columns) {
            return;
        }
        const std::int64_t left = tile_.rows - done - first;
        const std::int64_t offset =
            (tile_.frame * images_.out_rows + tile_.first_row - images_.out_first + done + first) *
                images_.columns +
            tile_.first_column + column;
        const int count = static_cast<int>(left < Shape::outputs ? left : Shape::outputs);
        switch (call_.out_type) {
        case ElementType::uint8: return store<std::uint8_t>(sum, offset, count);
        case ElementType::uint16: return store<std::uint16_t>(sum, offset, count);
        case ElementType::float32: return store<float>(sum, offset, count);
        default: return store<double>(sum, offset, count);
        }
    }

    template <class Out>
    __device__ void store(const T (&sum)[Shape::outputs], std::int64_t offset, int count) {
        Out* out = static_cast<Out*>(images_.out) + offset;
#pragma unroll
        for (int p = 0; p < Shape::outputs; ++p) {
            if (p < count) {
                out[p * images_.columns] = to_output<Out>(sum[p]);
            }
        }
    }

    const RingCall<T>& call_;
    const ConvolveImages<T>& images_;
    const ConvolveTile& tile_;
    int in_pitch_;
    int lag_;
    T* row_taps_; ///< those of the arguments, which cannot be read 16 bytes at a time
    T* column_taps_;
    T* in_;
    T* ring_;
    std::int64_t first_row_;
    std::int64_t last_row_;
    NeededRows direct_; ///< rows that are held under their own numbers
};

} // namespace runner::convolve_cuda
