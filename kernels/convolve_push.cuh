// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/convolve_device.cuh"
#include "kernels/convolve_push.hpp"
#include "kernels/copy_async.cuh"
#include "kernels/launch.cuh"
#include "kernels/tiling.cuh"

#include <cstdint>

namespace runner {

/// Both passes of a convolution with radius R on both axes in one sweep. A block of threads owns a
/// strip of columns and marches down its rows in batches. Three stages run side by side, one
/// barrier a batch: rows come into shared memory (a ring, asynchronously); the row pass, register
/// blocked, turns a batch into row sums in shared memory; the column pass keeps, per thread and
/// column, the running sums of all 2R + 1 outputs that the current row adds to. A row shifts them
/// by one place, which costs nothing because a multiply-add may write to another register than it
/// reads. Where 2R + 1 sums are too many for one thread, `roles` threads share a column: each
/// applies its part of the taps and hands the partial sums to the next, which lags by a batch.
template <class T, int R> struct PushShape {
    static constexpr int taps = 2 * R + 1;
    static constexpr PushTuning tuning = push_tuning<T, R>();
    static constexpr int width = tuning.width;
    static constexpr int roles = tuning.roles;
    static constexpr int stages = tuning.stages;
    static constexpr int threads = width * roles;
    static constexpr int rows = 8 * roles; // of a batch
    static constexpr int outputs = 8;      // of a thread in the row pass
    static constexpr int role_taps = (taps + roles - 1) / roles;
    static constexpr int vector = 16 / static_cast<int>(sizeof(T));
    static constexpr int halo = (R + vector - 1) / vector * vector;
    static constexpr int in_width = width + 2 * halo;
    // 16 bytes past a multiple of 128: the eight rows that eight neighbouring lanes read lie in
    // different banks.
    static constexpr int line = 128 / static_cast<int>(sizeof(T));
    static constexpr int in_pitch = (in_width + line - 1) / line * line + vector;
    static constexpr int sum_pitch = (width + line - 1) / line * line + vector;
    static constexpr int sum_buffers = roles + 1;
    static constexpr int in_elements = stages * rows * in_pitch;
    static constexpr int sum_elements = sum_buffers * rows * sum_pitch;
    static constexpr int partial_elements = (roles - 1) * 2 * rows * width;
    static constexpr int shared_bytes =
        (in_elements + sum_elements + partial_elements) * static_cast<int>(sizeof(T)) +
        in_width * static_cast<int>(sizeof(std::int64_t));
    static_assert(width % 32 == 0 && outputs % vector == 0);
};

template <class T, int R> struct PushArguments {
    ConvolveView<T> view;
    T row[2 * R + 1]; ///< reversed: in the order in which they are applied
    T column[2 * R + 1];
};

template <class T, int R> class Push {
  public:
    using Shape = PushShape<T, R>;

    __device__ Push(const PushArguments<T, R>& arguments, const ConvolveTile& tile, T* shared)
        : arguments_(arguments), view_(arguments.view), tile_(tile), in_(shared),
          sums_(in_ + Shape::in_elements), partials_(sums_ + Shape::sum_elements),
          columns_(reinterpret_cast<std::int64_t*>(partials_ + Shape::partial_elements)),
          first_row_(tile.first_row - R), last_row_(tile.first_row + tile.rows - 1 + R),
          batches_((tile.rows + 2 * R + Shape::rows - 1) / Shape::rows) {}

    __device__ void run() {
        interior_ = tile_.first_column >= Shape::halo &&
                    tile_.first_column + Shape::width + Shape::halo <= view_.columns;
        if (!interior_) {
            for (int i = static_cast<int>(threadIdx.x); i < Shape::in_width; i += Shape::threads) {
                columns_[i] = held_column(tile_.first_column - Shape::halo + i, view_.columns, R,
                                          view_.boundary);
            }
            __syncthreads();
        }
        for (int k = 0; k < Shape::stages - 1; ++k) {
            load(k, k);
        }
        if constexpr (Shape::roles == 1) {
            march<0>();
        } else {
            march_as<0>();
        }
    }

  private:
    template <int role> __device__ void march_as() {
        if constexpr (role + 1 < Shape::roles) {
            if (threadIdx.x >= (role + 1) * Shape::width) {
                march_as<role + 1>();
                return;
            }
        }
        march<role>();
    }

    template <int role> __device__ void march() {
        constexpr int own = Shape::taps - role * Shape::role_taps < Shape::role_taps
                                ? Shape::taps - role * Shape::role_taps
                                : Shape::role_taps;
        T sums[own];
#pragma unroll
        for (int s = 0; s < own; ++s) {
            sums[s] = T(0);
        }
        T carried = T(0);
        const int column = static_cast<int>(threadIdx.x) - role * Shape::width;
        const bool in_image = tile_.first_column + column < view_.columns;
        std::int64_t row = tile_.first_row - 2 * R; // the output that completes next
        T* out = static_cast<T*>(view_.out) +
                 (tile_.frame * view_.out_rows + row - view_.out_first) * view_.columns +
                 tile_.first_column + column;
        int stage = 0;
        int buffer = 0;
        for (std::int64_t k = 0; k < batches_ + Shape::roles; ++k) {
            wait_for_copies<Shape::stages - 2>();
            __syncthreads();
            load(k + Shape::stages - 1, stage == 0 ? Shape::stages - 1 : stage - 1);
            if (k < batches_) {
                row_pass(k, in_ + stage * Shape::rows * Shape::in_pitch,
                         sums_ + buffer * Shape::rows * Shape::sum_pitch);
            }
            if (k > role && k <= batches_ + role) {
                const int from = buffer - 1 - role + (buffer <= role ? Shape::sum_buffers : 0);
                column_pass<role, own>(sums, carried,
                                       sums_ + from * Shape::rows * Shape::sum_pitch + column,
                                       static_cast<int>((k - 1 - role) & 1), row, in_image, out);
                row += Shape::rows;
            }
            stage = stage + 1 == Shape::stages ? 0 : stage + 1;
            buffer = buffer + 1 == Shape::sum_buffers ? 0 : buffer + 1;
        }
    }

    /// Starts the copy of batch k's rows into a stage; one warp a row.
    __device__ void load(std::int64_t k, int stage) {
        constexpr int warps = Shape::threads / 32;
        const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
        for (int r0 = 0; r0 < Shape::rows; r0 += warps) {
            const int r = r0 + static_cast<int>(threadIdx.x) / 32;
            const std::int64_t row = first_row_ + k * Shape::rows + r;
            // Rows past the last needed one may be held nowhere.
            if ((Shape::rows % warps == 0 || r < Shape::rows) && row <= last_row_) {
                const std::int64_t held = held_row(view_, row);
                if (held >= 0) {
                    load_row(in_ + (stage * Shape::rows + r) * Shape::in_pitch,
                             static_cast<const T*>(view_.in) +
                                 (tile_.frame * view_.in_rows + held) * view_.columns,
                             lane);
                }
            }
        }
        commit_copies();
    }

    __device__ void load_row(T* to, const T* row, int lane) {
        if (!interior_) {
            for (int i = lane; i < Shape::in_width; i += 32) {
                const std::int64_t c = columns_[i];
                if (c >= 0) {
                    copy_async<sizeof(T)>(to + i, row + c);
                } else {
                    to[i] = view_.fill;
                }
            }
            return;
        }
        const T* from = row + (tile_.first_column - Shape::halo);
        if (view_.aligned) {
            constexpr int chunks = Shape::in_width / Shape::vector;
#pragma unroll
            for (int i = 0; i < chunks; i += 32) {
                if (i + 32 <= chunks || i + lane < chunks) {
                    copy_async<16>(to + (i + lane) * Shape::vector,
                                   from + (i + lane) * Shape::vector);
                }
            }
        } else {
#pragma unroll
            for (int i = 0; i < Shape::in_width; i += 32) {
                if (i + 32 <= Shape::in_width || i + lane < Shape::in_width) {
                    copy_async<sizeof(T)>(to + i + lane, from + i + lane);
                }
            }
        }
    }

    /// Eight neighbouring row sums of one row a thread; neighbouring lanes take different rows.
    __device__ void row_pass(std::int64_t k, const T* in, T* sums) {
        const int index = static_cast<int>(threadIdx.x);
        const int r = index % 8 + index / Shape::width * 8;
        const int c = index % Shape::width / 8 * Shape::outputs;
        const T* x = in + r * Shape::in_pitch + c;
        constexpr int skipped = Shape::halo - R;
        constexpr int count = Shape::outputs + 2 * R;
        T sum[Shape::outputs];
#pragma unroll
        for (int v = 0; v < skipped + count; v += Shape::vector) {
            const Vector<T> values = *reinterpret_cast<const Vector<T>*>(x + v);
#pragma unroll
            for (int e = 0; e < Shape::vector; ++e) {
                const int i = v + e - skipped;
#pragma unroll
                for (int p = 0; p < Shape::outputs; ++p) {
                    const int j = i - p;
                    if (i >= 0 && i < count && j >= 0 && j < Shape::taps) {
                        sum[p] = j == 0 ? multiply(arguments_.row[0], values.at[e])
                                        : multiply_add(arguments_.row[j], values.at[e], sum[p]);
                    }
                }
            }
        }
        if (is_fill_row(view_, first_row_ + k * Shape::rows + r)) {
#pragma unroll
            for (int p = 0; p < Shape::outputs; ++p) {
                sum[p] = view_.fill;
            }
        }
        T* to = sums + r * Shape::sum_pitch + c;
#pragma unroll
        for (int p = 0; p < Shape::outputs; p += Shape::vector) {
            Vector<T> values;
#pragma unroll
            for (int e = 0; e < Shape::vector; ++e) {
                values.at[e] = sum[p + e];
            }
            *reinterpret_cast<Vector<T>*>(to + p) = values;
        }
    }

    /// Adds a batch of row sums to the running sums of one column; stores the outputs completed.
    /// `row` is the output that the batch's first row completes.
    template <int role, int own>
    __device__ void column_pass(T (&sums)[own], T& carried, const T* from, int half,
                                std::int64_t row, bool in_image, T*& out) {
        constexpr int first = role * Shape::role_taps;
        constexpr bool last = role + 1 == Shape::roles;
        constexpr int unroll = Shape::rows * own <= 512 ? Shape::rows : own <= 128 ? 4 : 2;
        const std::int64_t before = tile_.first_row - row;
        const std::int64_t after = before + tile_.rows;
        const int begin = in_image ? static_cast<int>(before < 0 ? 0 : before) : Shape::rows;
        const int end = static_cast<int>(after < Shape::rows ? after : Shape::rows);
        const int column = static_cast<int>(threadIdx.x) - role * Shape::width;
        T* passed_on = partials_ + (role * 2 + half) * Shape::rows * Shape::width + column;
        const T* taken_over =
            partials_ + ((role - 1) * 2 + half) * Shape::rows * Shape::width + column;
#pragma unroll unroll
        for (int b = 0; b < Shape::rows; ++b) {
            const T x = from[b * Shape::sum_pitch];
#pragma unroll
            for (int s = 0; s + 1 < own; ++s) {
                sums[s] = multiply_add(arguments_.column[first + own - 1 - s], x, sums[s + 1]);
            }
            sums[own - 1] = role == 0 ? multiply(arguments_.column[0], x)
                                      : multiply_add(arguments_.column[first], x, carried);
            if constexpr (role > 0) {
                carried = taken_over[b * Shape::width];
            }
            if constexpr (last) {
                if (b >= begin && b < end) {
                    *out = sums[0];
                }
                out += view_.columns;
            } else {
                passed_on[b * Shape::width] = sums[0];
            }
        }
    }

    const PushArguments<T, R>& arguments_;
    const ConvolveView<T>& view_;
    const ConvolveTile& tile_;
    T* in_;
    T* sums_;
    T* partials_;
    std::int64_t* columns_;
    std::int64_t first_row_;
    std::int64_t last_row_;
    std::int64_t batches_;
    bool interior_ = false;
};

template <class T, int R>
__global__ void __launch_bounds__(PushShape<T, R>::threads, PushShape<T, R>::tuning.blocks)
    convolve_push_kernel(const __grid_constant__ PushArguments<T, R> arguments) {
    extern __shared__ __align__(128) unsigned char shared[];
    const ConvolveTile tile(arguments.view, arguments.view.first_tile + blockIdx.x,
                            PushShape<T, R>::width);
    Push<T, R>(arguments, tile, reinterpret_cast<T*>(shared)).run();
}

template <class T, int R>
void convolve_push(CudaQueue& queue, ConvolveView<T> view, std::int64_t frames, const T* row_taps,
                   const T* column_taps) {
    using Shape = PushShape<T, R>;
    PushArguments<T, R> arguments{};
    std::copy_n(row_taps, Shape::taps, arguments.row);
    std::copy_n(column_taps, Shape::taps, arguments.column);
    arguments.view = view;
    launch_tiles(queue, convolve_push_kernel<T, R>, Shape::threads, Shape::shared_bytes,
                 Shape::width, R, frames, arguments);
}

} // namespace runner
