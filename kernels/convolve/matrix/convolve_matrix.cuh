// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/convolve/convolve_device.cuh"
#include "kernels/convolve/matrix/convolve_bulk_rows.cuh"
#include "kernels/convolve/matrix/convolve_matrix_products.cuh"
#include "kernels/convolve/matrix/convolve_matrix_shape.cuh"

#include <cstdint>

namespace runner::convolve_cuda {

/// Both passes of a float64 convolution as products of matrices, on tensor cores (compute
/// capability 9.0). A product with k elements a row is there a chain of k fused multiply-adds in
/// ascending order, so the bytes are those of the other kernels. The taps are the second matrix:
/// each of its eight columns has them one place further down, between zeros.
///
/// A zero tap changes a sum in two cases: it meets an infinity or NaN, or the sum so far is −0 and
/// becomes +0. run() notices where either may have happened, and stops. The outputs from there on
/// are not to be used: an exact kernel makes them again.
///
/// No barrier holds the warps together, so that some make products while others load and store.
template <int R> class Matrix {
  public:
    using Arguments = MatrixCall<R>;
    using Shape = MatrixShape<R>;
    using Rows = BulkRows<Shape>;
    static constexpr int shared_bytes =
        (Shape::in_elements + Shape::sum_elements + 2 * Shape::places) * 8 + Rows::shared_bytes;

    __device__ Matrix(const Arguments& call, const ConvolveTile& tile, unsigned char* shared)
        : call_(call), images_(call.images), tile_(tile), in_(reinterpret_cast<double*>(shared)),
          sums_(in_ + Shape::in_elements), row_taps_(sums_ + Shape::sum_elements),
          column_taps_(row_taps_ + Shape::places),
          rows_(images_, in_, reinterpret_cast<unsigned char*>(column_taps_ + Shape::places)) {}

    /// The first rows of the tile whose outputs are right; the same in all threads.
    __device__ int run() {
        const int needed = static_cast<int>(tile_.rows) + 2 * R;
        const int batches = (needed + Shape::rows - 1) / Shape::rows + 1;
        prepare(batches);
        double running[Shape::chunks][4]; // place d: sums that have met d chunks
#pragma unroll
        for (int d = 0; d < Shape::chunks; ++d) {
            set(running[d], no_sum<double>);
        }
        int dirty = -batches_of_sum - 2; // the last batch of row sums that zero taps may spoil
        int wanted = batches;
#pragma unroll 1
        for (int k = 0; rows_.is_taken(k, wanted); ++k) {
            const double* in = rows_.take(k);
            if (k < wanted && is_spoilt_by(in, k, running, dirty)) {
                rows_.give_up(k);
            }
            rows_.leave();
            wanted = rows_.wanted();
        }
        __syncthreads();
        wanted = rows_.wanted();
        rows_.end();
        __syncthreads();
        const int right = (wanted - 1) * Shape::rows - 2 * R;
        return wanted == batches ? static_cast<int>(tile_.rows) : right > 0 ? right : 0;
    }

  private:
    // A lane holds, of a product: row lane / 4 and the one 8 below, columns 2 (lane % 4) and the
    // next. Which rows and columns of the image these are is free to choose.

    /// Batches before the present one whose row sums an output of the present one has met.
    static constexpr int batches_of_sum = (2 * R + 8 + Shape::rows - 1) / Shape::rows;

    static __device__ int lane() { return static_cast<int>(threadIdx.x) % 32; }
    static __device__ int first_column() {
        return static_cast<int>(threadIdx.x) / 32 * Shape::warp_columns;
    }
    /// Row pass: the row of a batch that row lane / 4 of a product is. Neighbours are two apart, so
    /// that what four lanes store lies in different banks.
    static __device__ int own_row() {
        const int m = lane() / 4;
        return (m & 4) | (m & 1) << 1 | (m & 2) >> 1;
    }
    /// Column pass: the column of the warp's that row lane / 4 of a product is; 8 below is the
    /// next.
    static __device__ int own_column() { return lane() / 4 * 2; }
    /// The row of eight outputs that column n of a product is in the column pass.
    static __device__ int output_row(int n) { return n % 2 * 4 + n / 2; }

    static __device__ void set(double (&to)[4], double value) {
#pragma unroll
        for (double& element : to) {
            element = value;
        }
    }

    __device__ void prepare(int batches) {
        // Rows and columns that are not loaded meet zero taps alone, but they must be numbers.
        for (int i = static_cast<int>(threadIdx.x); i < Shape::in_elements + Shape::sum_elements;
             i += Shape::threads) {
            in_[i] = 0;
        }
        for (int i = static_cast<int>(threadIdx.x); i < Shape::places; i += Shape::threads) {
            const bool tap = i >= 7 && i < 7 + Shape::taps;
            row_taps_[i] = tap ? call_.padded_row[i - 7] : no_sum<double>;
            column_taps_[i] = tap ? call_.padded_column[i - 7] : no_sum<double>;
        }
        __syncthreads();
        rows_.prepare(tile_, batches);
    }

    /// Makes the row sums of batch k, of which the warp has the rows at `in`, and the outputs of
    /// the batch before. Whether zero taps may have spoilt one of them.
    __device__ bool is_spoilt_by(const double* in, int k, double (&running)[Shape::chunks][4],
                                 int& dirty) {
        double made[2][4]; // row sums: eight columns each
        double done[2][4]; // outputs: eight rows each
        both_passes(made, running, done, in);
        bool spoilt = false;
        if (may_be_spoilt(done) && k - 1 - dirty <= batches_of_sum) {
            spoilt = columns_spoilt(done, k);
        }
        store_outputs(done, k);
        const bool row_doubt = may_be_spoilt(made);
        dirty = store_row_sums(made, k) ? k : dirty;
        if (row_doubt) {
            spoilt |= rows_spoilt(made, k, in);
        }
        return spoilt;
    }

    /// The row pass of a batch, and the column pass of the one before. The two steps of eight rows
    /// of the column pass, and the two eights of columns of the row pass, are four chains or sets
    /// of chains that do not wait for each other.
    __device__ void both_passes(double (&made)[2][4], double (&running)[Shape::chunks][4],
                                double (&done)[2][4], const double* in) const {
        constexpr int chunks = Shape::chunks;
        in += own_row() * Shape::in_pitch + first_column() + lane() % 4;
        const double* row_taps = row_taps_ + 7 + lane() % 4 - lane() / 4;
        const double* column_taps = column_taps_ + 7 + lane() % 4 - output_row(lane() / 4);
        const double* sums = sums_ + lane() % 4 * Shape::sum_pitch + first_column() + own_column();
        double sums_of[2][4];
#pragma unroll
        for (int s = 0; s < 2; ++s) {
            load_pairs(sums_of[s], sums + 8 * s * Shape::sum_pitch, 4 * Shape::sum_pitch);
        }
        double row_chunk[2][2];    // of taps: the last two
        double column_chunk[3][2]; // the last three
        set(made[0], no_sum<double>);
        set(made[1], no_sum<double>);
#pragma unroll
        for (int q = 0; q < chunks + 2; ++q) {
            if (q < chunks) {
                load_taps(column_chunk[q % 3], column_taps + 8 * (chunks - 1 - q));
                add_chunk(running, done[0], sums_of[0], column_chunk[q % 3], chunks - 1 - q);
            }
            if (q < chunks + 1) {
                double elements[4];
                load_elements(elements, in + 8 * q, 8 * Shape::in_pitch);
                if (q > 0) {
                    multiply_add(made[1], elements, row_chunk[(q - 1) % 2], made[1]);
                }
                if (q < chunks) {
                    load_taps(row_chunk[q % 2], row_taps + 8 * q);
                    multiply_add(made[0], elements, row_chunk[q % 2], made[0]);
                }
            }
            if (q >= 2) {
                add_chunk(running, done[1], sums_of[1], column_chunk[(q - 2) % 3], chunks + 1 - q);
            }
        }
    }

    /// Eight rows of row sums meet chunk d of the taps: sums move on by one place.
    static __device__ void add_chunk(double (&running)[Shape::chunks][4], double (&done)[4],
                                     const double (&sums)[4], const double (&taps)[2], int d) {
        double start[4];
        set(start, no_sum<double>);
        if (d == 0) {
            multiply_add(running[1], sums, taps, start);
        } else if (d == Shape::chunks - 1) {
            multiply_add(done, sums, taps, running[d]);
        } else {
            multiply_add(running[d + 1], sums, taps, running[d]);
        }
    }

    /// Stores what the column pass made of batch k − 1. It goes through the warp's part of the row
    /// sums, so that eight lanes store a row's 128 bytes.
    __device__ void store_outputs(const double (&done)[2][4], int k) {
        double* own = sums_ + lane() % 4 * Shape::sum_pitch + first_column() + own_column();
        __syncwarp();
#pragma unroll
        for (int s = 0; s < 2; ++s) {
            store_pair(own + 8 * s * Shape::sum_pitch, done[s][0], done[s][2]);
            store_pair(own + (8 * s + 4) * Shape::sum_pitch, done[s][1], done[s][3]);
        }
        __syncwarp();
        const int column = first_column() + lane() % 8 * 2;
        if (tile_.first_column + column < images_.columns) {
            const int row = (k - 1) * Shape::rows - 2 * R + lane() / 8;
            double* out =
                static_cast<double*>(images_.out) +
                (tile_.frame * images_.out_rows + tile_.first_row - images_.out_first + row) *
                    images_.columns +
                tile_.first_column + column;
            const double* from = sums_ + lane() / 8 * Shape::sum_pitch + column;
#pragma unroll
            for (int r = 0; r < Shape::rows; r += 4) {
                if (static_cast<unsigned>(row + r) < static_cast<unsigned>(tile_.rows)) {
                    *reinterpret_cast<Vector<double>*>(out + r * images_.columns) =
                        *reinterpret_cast<const Vector<double>*>(from + r * Shape::sum_pitch);
                }
            }
        }
        __syncwarp();
    }

    /// Whether one of them is negative, −0 or no finite number: only then may zero taps spoil sums
    /// that meet it. `k`: the batch.
    __device__ bool store_row_sums(double (&made)[2][4], int k) {
        const std::int64_t row = rows_.first_needed() + std::int64_t{k} * Shape::rows;
        if (images_.boundary == Boundary::constant &&
            (row < 0 || row + Shape::rows > images_.frame_rows)) {
#pragma unroll
            for (int h = 0; h < 2; ++h) {
                if (is_fill_row(images_, row + own_row() + 8 * h)) {
                    made[0][2 * h] = made[0][2 * h + 1] = images_.fill;
                    made[1][2 * h] = made[1][2 * h + 1] = images_.fill;
                }
            }
        }
        double* to = sums_ + own_row() * Shape::sum_pitch + first_column() + lane() % 4 * 2;
        unsigned most = 0;
#pragma unroll
        for (int t = 0; t < 2; ++t) {
#pragma unroll
            for (int h = 0; h < 2; ++h) {
                most = max(most, max(high_word(made[t][2 * h]), high_word(made[t][2 * h + 1])));
                store_pair(to + 8 * t + 8 * h * Shape::sum_pitch, made[t][2 * h],
                           made[t][2 * h + 1]);
            }
        }
        __syncwarp();
        return __any_sync(all_lanes, static_cast<int>(most >= infinity_word)) != 0;
    }

    /// Whether zero taps may have spoilt a row sum of batch k. It looks at all that they met.
    __device__ bool rows_spoilt(const double (&made)[2][4], int k, const double* in) const {
        in += own_row() * Shape::in_pitch + first_column();
        unsigned most = 0;
#pragma unroll 1
        for (int i = lane() % 4; i < Shape::warp_columns + 2 * R; i += 4) {
            most = max(most, max(high_word(in[i]), high_word(in[i + 8 * Shape::in_pitch])));
        }
        if (__any_sync(all_lanes, static_cast<int>(most >= infinity_word)) == 0) {
            return false;
        }
        const std::int64_t row = rows_.first_needed() + std::int64_t{k} * Shape::rows + own_row();
        const unsigned among = (is_fill_row(images_, row) ? 0 : 0x33U) |
                               (is_fill_row(images_, row + 8) ? 0 : 0xccU); // sums e of row e / 2
        const int last = R + call_.row_radius();                            // place of the last tap
        in += lane() % 4 * 2 + last;
        return Doubts(made).any(among, call_.padded_row[last], [&](int i) {
            return in[i % 4 / 2 * 8 * Shape::in_pitch + i / 4 * 8 + i % 2];
        });
    }

    /// Whether zero taps may have spoilt an output that is stored.
    __device__ bool columns_spoilt(const double (&done)[2][4], int k) const {
        const int column = first_column() + own_column();
        const int row = (k - 1) * Shape::rows - 2 * R + lane() % 4;
        unsigned among = 0;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const bool stored =
                static_cast<unsigned>(row + 4 * i) < static_cast<unsigned>(tile_.rows);
            among |= stored ? 5U << (i / 2 * 4 + i % 2) : 0U; // of both columns
        }
        if (tile_.first_column + column >= images_.columns) {
            return false;
        }
        const Doubts doubts(done);
        // The last row that a tap met is at hand only for the full radius.
        if (call_.column_radius() < R) {
            return ((doubts.zeros | doubts.no_numbers) & among) != 0;
        }
        const double* sums = sums_ + lane() % 4 * Shape::sum_pitch + column;
        return doubts.any(among, call_.padded_column[2 * R], [&](int i) {
            return sums[(i / 4 * 8 + i % 2 * 4) * Shape::sum_pitch + i % 4 / 2];
        });
    }

    const Arguments& call_;
    const ConvolveImages<double>& images_;
    const ConvolveTile& tile_;
    double* in_;
    double* sums_; ///< row sums of a batch; a warp has its columns alone
    double* row_taps_;
    double* column_taps_;
    Rows rows_;
};

} // namespace runner::convolve_cuda
