// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// Medians by networks of minima and maxima. A thread walks down a few columns and keeps the sorted
// lists of the rows that its next windows need, all in registers.

#include "kernels/elements/elements.hpp"
#include "kernels/elements/tally.cuh"
#include "kernels/median/median_call.hpp"
#include "kernels/median/median_columns.cuh"
#include "kernels/median/median_device.cuh"

#include <algorithm>
#include <limits>

namespace runner::median_cuda {

constexpr int threads = 128;
constexpr int blocks_at_once = 4; ///< of a multiprocessor: up to 128 registers a thread

template <class Word, int words, int count> struct Lists { Word at[words][count]; };

/// What a thread keeps of the rows above the next window: of 3 rows those that the windows of the
/// next two rows begin with, of 5 rows as well the middle two of them merged.
template <class Keys, int y_size, int count, int words> class Rows {
  public:
    using Word = typename Keys::Word;
    using List = Lists<Word, words, count>;

    /// The medians of two rows, if they are wanted, where `before` and `last` are the last rows of
    /// their windows.
    __device__ void take(const List& before, const List& last, bool wanted,
                         Word (&medians)[2][words]) {
        Lists<Word, words, half> merged;
#pragma unroll
        for (int w = 0; w < words; ++w) {
            merge(before, w, merged.at[w]);
        }
        if (wanted) {
#pragma unroll
            for (int w = 0; w < words; ++w) {
                NetworkValues<Keys, HalfNetwork<count, y_size>> values;
#pragma unroll
                for (int i = 0; i < count; ++i) {
                    values.at[i] = first_.at[w][i];
                    values.at[count + 2 * half + i] = last.at[w][i];
                }
#pragma unroll
                for (int i = 0; i < half; ++i) {
                    values.at[count + i] = common_.at[w][i];
                    values.at[count + half + i] = merged.at[w][i];
                }
                values.run([&](int i, Word value) { medians[i][w] = value; });
            }
        }
        if constexpr (y_size == 5) {
            common_ = merged;
            first_ = later_[0];
            later_[0] = before;
            later_[1] = last;
        } else {
            first_ = before;
            common_ = last;
        }
    }

  private:
    static constexpr int half = count * (y_size - 1) / 2;

    /// The rows before the last of the first window, after `common_`.
    __device__ void merge(const List& before, int w, Word (&to)[half]) const {
        if constexpr (y_size == 5) {
            NetworkValues<Keys, MergeNetwork<count>> values;
#pragma unroll
            for (int i = 0; i < count; ++i) {
                values.at[i] = later_[1].at[w][i];
                values.at[count + i] = before.at[w][i];
            }
            values.run([&](int i, Word value) { to[i] = value; });
        } else {
#pragma unroll
            for (int i = 0; i < count; ++i) {
                to[i] = before.at[w][i];
            }
        }
    }

    List first_;                      ///< the first row of the next row's window
    Lists<Word, words, half> common_; ///< of the rows after it, half of what two windows share
    List later_[2];                   ///< of 5 rows: the last of `common_`, and the one after it
};

/// The rows of a thread's segment that a tally takes, in one register.
class SegmentRows {
  public:
    /// `first`: the segment's first row, which has `rows` ≤ 64.
    __device__ SegmentRows(const Tally& tally, std::int64_t first, int rows) {
        const auto place = [&](std::int64_t at) {
            return static_cast<unsigned>(max(std::int64_t{0}, min(at - first, std::int64_t{rows})));
        };
        rows_ = tally.sum == nullptr ? 0 : place(tally.first) | place(tally.last) << 16U;
    }
    __device__ bool has(int row) const {
        return row >= static_cast<int>(rows_ & 0xFFFFU) && row < static_cast<int>(rows_ >> 16U);
    }

  private:
    unsigned rows_;
};

template <class Keys, class Part, int z_size, int y_size, int x_size, int words>
__global__ void __launch_bounds__(threads, blocks_at_once)
    network_kernel(MedianCall call, Walk<typename Keys::Raw> walk) {
    using Raw = typename Keys::Raw;
    using Word = typename Keys::Word;
    constexpr int count = z_size * x_size;
    constexpr int loads = words + x_size - 1;
    begin_count(call.replaced);
    const std::int64_t segment = std::int64_t{blockIdx.x / walk.strips} * blockDim.y + threadIdx.y;
    const std::int64_t column =
        (std::int64_t{blockIdx.x % walk.strips} * blockDim.x + threadIdx.x) * Part::elements;
    if (segment >= call.runs() * walk.segments || column >= call.columns) {
        return;
    }
    const std::int64_t lines = call.lines();
    const std::int64_t run = segment / walk.segments;
    const std::int64_t skipped = segment % walk.segments * walk.segment_rows;
    const std::int64_t runs_of_frame = call.out_rows / lines;
    const std::int64_t frame = run / runs_of_frame;
    const std::int64_t first = call.out_first + run % runs_of_frame * lines + skipped;
    const auto rows = static_cast<int>(min(walk.segment_rows, lines - skipped));
    const std::int64_t layer = call.layer_of(first);
    const std::int64_t y = first - layer * call.rows;
    const Raw* in = walk.in + frame * call.in_rows * call.columns;
    const std::int64_t made = frame * call.out_rows + first - call.out_first;
    const SegmentRows counted(call.replaced, made, rows);
    Raw* out = walk.out + made * call.columns;
    const Raw* own = in + (first - call.in_first) * call.columns;
    const Part part(call, walk, static_cast<int>(column));
    const Layers<Raw, z_size> layers(call, in, layer);

    using List = Lists<Word, words, count>;
    using Fetched = typename Part::Fetched;
    const auto fetch_row = [&](Fetched(&to)[z_size], int dy) {
        const std::int64_t at = layers.row(call, y + dy);
#pragma unroll
        for (int z = 0; z < z_size; ++z) {
            part.fetch(layers.at(z, at), walk, to[z]);
        }
    };
    const auto sort_row = [&](List& list, Fetched(&from)[z_size]) {
        NetworkValues<Keys, RowNetwork<z_size, x_size, words>> values;
#pragma unroll
        for (int z = 0; z < z_size; ++z) {
            Word keys[loads];
            Part::make_keys(from[z], walk.form, keys);
#pragma unroll
            for (int i = 0; i < loads; ++i) {
                values.at[i * z_size + z] = keys[i];
            }
        }
        values.run([&](int i, Word value) { list.at[i / count][i % count] = value; });
    };
    Rows<Keys, y_size, count, words> above;
    // The first turns only load the rows above. Of an odd number of rows the last turn loads a row
    // too many, which the image may not have: the one before it stands for it.
    for (int row = 1 - y_size; row < rows; row += 2) {
        Fetched fetched[2][z_size]; // both first: their loads then wait together
        fetch_row(fetched[0], row + y_size / 2);
        fetch_row(fetched[1], min(row + 1, rows - 1) + y_size / 2);
        List before;
        List last;
        sort_row(before, fetched[0]);
        sort_row(last, fetched[1]);
        Word medians[2][words];
        above.take(before, last, row >= 0, medians);
        if (row < 0) {
            continue;
        }
        const std::int64_t at = row * call.columns;
        const auto store = [&](int i, std::int64_t from) {
            const int replaced = part.store(call, walk, own + from, out + from, medians[i]);
            if (replaced != 0 && counted.has(row + i)) {
                add_to_block(replaced);
            }
        };
        store(0, at);
        if (row + 1 < rows) {
            store(1, at + call.columns);
        }
    }
    end_count(call.replaced);
}

template <class Keys, class Part, int z_size, int y_size, int x_size, int words>
void launch_walk(CudaQueue& queue, const MedianCall& call, Walk<typename Keys::Raw> walk) {
    const std::int64_t width = (call.columns + Part::elements - 1) / Part::elements;
    unsigned across = threads;
    while (across / 2 >= width && across > 1) {
        across /= 2;
    }
    const unsigned down = threads / across;
    walk.strips = static_cast<std::uint32_t>((width + across - 1) / across);
    // The first rows of a segment are sorted again: long segments, yet enough of them.
    constexpr std::int64_t longest = 64;
    constexpr std::int64_t shortest = 8;
    constexpr std::int64_t wanted_blocks = 4096;
    const std::int64_t all = call.runs() * call.lines() * walk.strips;
    walk.segment_rows = std::clamp(all / (wanted_blocks * down) / 2 * 2, shortest, longest);
    walk.segments = (call.lines() + walk.segment_rows - 1) / walk.segment_rows;
    const unsigned blocks =
        launched_blocks((call.runs() * walk.segments + down - 1) / down * walk.strips);
    const KernelWork work{static_cast<double>(call.elements()) * sizeof(typename Keys::Raw)};
    launch(queue, {dim3(blocks), dim3(across, down), 0, work},
           network_kernel<Keys, Part, z_size, y_size, x_size, words>, call, walk);
}

template <class Keys, int z_size, int y_size, int x_size>
void launch_network(CudaQueue& queue, const MedianCall& call,
                    const Walk<typename Keys::Raw>& walk) {
    using Raw = typename Keys::Raw;
    // Few lists leave room for more columns in the registers.
    constexpr int words = (z_size * x_size * y_size <= 9 ? 4 : 2) / (sizeof(Raw) == 8 ? 2 : 1);
    using Part = AlignedColumns<Keys, x_size / 2, words>;
    constexpr auto bytes = static_cast<std::uintptr_t>(Part::elements) * sizeof(Raw);
    if (call.columns % Part::elements == 0 &&
        reinterpret_cast<std::uintptr_t>(walk.in) % bytes == 0 &&
        reinterpret_cast<std::uintptr_t>(walk.out) % bytes == 0) {
        launch_walk<Keys, Part, z_size, y_size, x_size, words>(queue, call, walk);
    } else {
        launch_walk<Keys, SingleColumns<Keys, x_size / 2, 1>, z_size, y_size, x_size, 1>(
            queue, call, walk);
    }
}

/// The windows whose networks are compiled in for the GPU. Returns whether it is one of them.
template <class Keys>
bool launch_window(CudaQueue& queue, const MedianCall& call, const Walk<typename Keys::Raw>& walk) {
    bool found = false;
    const auto try_window = [&]<int z, int y, int x>() {
        if (call.radius_z == z / 2 && call.radius_y == y / 2 && call.radius_x == x / 2) {
            found = true;
            launch_network<Keys, z, y, x>(queue, call, walk);
        }
    };
    try_window.template operator()<1, 3, 3>();
    try_window.template operator()<1, 5, 5>();
    try_window.template operator()<3, 3, 3>();
    return found;
}

/// Elements T by Keys.
template <class Keys, class T>
bool launch_elements(CudaQueue& queue, const MedianCall& call, const std::byte* in,
                     std::byte* out) {
    using Raw = typename Keys::Raw;
    Walk<Raw> walk{};
    walk.in = reinterpret_cast<const Raw*>(in);
    walk.out = reinterpret_cast<Raw*>(out);
    walk.form = {turned_bits(element_type_of<T>()), std::is_floating_point_v<T>, -0.0F};
    walk.fill = std::bit_cast<Raw>(converted<T>(call.fill));
    return launch_window<Keys>(queue, call, walk);
}

} // namespace runner::median_cuda
