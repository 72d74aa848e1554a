// SPDX-License-Identifier: BSD-3-Clause
// Medians by networks of minima and maxima. A thread walks down a few columns and keeps the sorted
// lists of the rows that its next window needs.
#include "base/error.hpp"
#include "kernels/elements/converted.hpp"
#include "kernels/elements/elementwise.cuh"
#include "kernels/median/median_any.hpp"
#include "kernels/median/median_device.cuh"
#include "kernels/median/median_view.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace runner {
namespace {

using namespace median_cuda;

constexpr int threads = 128;

/// What a kernel needs beside the view.
template <class Raw> struct Walk {
    const Raw* in;
    Raw* out;
    std::uint32_t flip;
    Raw fill;
    bool aligned; ///< rows of both begin at multiples of what a thread loads at once
    std::uint32_t strips;
    std::int64_t segments; ///< of a run of rows
    std::int64_t segment_rows;
};

/// map_index() of a column outside the image; apart, as it is long and seldom used.
__device__ __noinline__ int column_beyond(int column, int columns, Boundary boundary) {
    return static_cast<int>(map_index(column, columns, boundary));
}

/// The columns of a thread and its window's margins.
template <class Keys, int radius, int words> class Columns {
  public:
    using Raw = typename Keys::Raw;
    using Word = typename Keys::Word;
    static constexpr int lanes = Keys::lanes;
    static constexpr int elements = words * lanes;
    static constexpr int margin = (radius + lanes - 1) / lanes; ///< words on either side

    __device__ Columns(const MedianView& view, const Walk<Raw>& walk, std::int64_t first)
        : first_(static_cast<int>(first)), columns_(static_cast<int>(view.columns)),
          boundary_(view.boundary), vectors_(walk.aligned && first + elements <= view.columns) {
#pragma unroll
        for (int i = 0; i < radius; ++i) {
            left_[i] = held_column(first_ - 1 - i);
            right_[i] = held_column(first_ + elements + i);
        }
    }

    /// The keys of a row's columns with margins; `row` null: the fill value's.
    __device__ void load(const Raw* row, const Walk<Raw>& walk,
                         Word (&to)[2 * margin + words]) const {
        Raw raw[elements + 2 * radius];
        if (row == nullptr) {
#pragma unroll
            for (int i = 0; i < elements + 2 * radius; ++i) {
                raw[i] = walk.fill;
            }
        } else if (vectors_) {
            const auto loaded =
                *reinterpret_cast<const ElementVector<Raw, elements>*>(row + first_);
#pragma unroll
            for (int i = 0; i < elements; ++i) {
                raw[radius + i] = loaded.at[i];
            }
#pragma unroll
            for (int i = 0; i < radius; ++i) {
                raw[radius - 1 - i] = left_[i] < 0 ? walk.fill : row[left_[i]];
                raw[radius + elements + i] = right_[i] < 0 ? walk.fill : row[right_[i]];
            }
        } else {
#pragma unroll
            for (int i = 0; i < elements + 2 * radius; ++i) {
                const int column = held_column(first_ - radius + i);
                raw[i] = column < 0 ? walk.fill : row[column];
            }
        }
        const auto key = [&](int at) -> Word {
            return at < -radius || at >= elements + radius
                       ? Word{0}
                       : static_cast<Word>(Keys::key(raw[radius + at], walk.flip));
        };
#pragma unroll
        for (int w = 0; w < 2 * margin + words; ++w) {
            const int at = (w - margin) * lanes;
            if constexpr (lanes == 2) {
                to[w] = key(at) | key(at + 1) << 16;
            } else {
                to[w] = key(at);
            }
        }
    }

    /// Word `w` of the row, d elements to the right.
    static __device__ Word shifted(const Word (&row)[2 * margin + words], int w, int d) {
        if constexpr (lanes == 1) {
            return row[margin + w + d];
        } else {
            const int at = margin + w + (d >= 0 ? d / 2 : (d - 1) / 2);
            return d % 2 == 0 ? row[at] : __byte_perm(row[at], row[at + 1], 0x5432);
        }
    }

    /// Medians as elements of the output's row; the input's own where they differ too little.
    __device__ void store(const MedianView& view, const Walk<Raw>& walk, const Raw* own, Raw* row,
                          const Word (&medians)[words]) const {
        ElementVector<Raw, elements> result;
#pragma unroll
        for (int i = 0; i < elements; ++i) {
            Word key = medians[i / lanes];
            if constexpr (lanes == 2) {
                key = key >> (16 * (i % 2)) & 0xFFFF;
            }
            result.at[i] = Keys::element(key, walk.flip);
        }
        if (view.has_difference) {
#pragma unroll
            for (int i = 0; i < elements; ++i) {
                const Raw x = own[min(first_ + i, columns_ - 1)]; // past the end: not stored
                result.at[i] =
                    Keys::distance(x, result.at[i], walk.flip) > view.difference ? result.at[i] : x;
            }
        }
        if (vectors_) {
            *reinterpret_cast<ElementVector<Raw, elements>*>(row + first_) = result;
            return;
        }
#pragma unroll
        for (int i = 0; i < elements; ++i) {
            if (first_ + i < columns_) {
                row[first_ + i] = result.at[i];
            }
        }
    }

  private:
    /// −1 where the fill value stands. Columns that no window of the image needs may be asked for.
    __device__ int held_column(int column) const {
        if (column >= 0 && column < columns_) {
            return column;
        }
        return column >= columns_ + radius ? 0 : column_beyond(column, columns_, boundary_);
    }

    int first_;
    int columns_;
    Boundary boundary_;
    bool vectors_;
    int left_[radius + 1];
    int right_[radius + 1];
};

template <class Values, class Word, int count, std::size_t... i>
__device__ inline void sorted_outputs(const Values& values, Word (&to)[count],
                                      std::index_sequence<i...> /*outputs*/) {
    ((to[i] = values.template output<static_cast<int>(i)>()), ...);
}

/// Forgets the first two.
template <class Word, int lines, int words, int count>
__device__ inline void shift_lists(Word (&lists)[lines][words][count]) {
#pragma unroll
    for (int i = 0; i + 2 < lines; ++i) {
#pragma unroll
        for (int k = 0; k < words * count; ++k) {
            lists[i][k / count][k % count] = lists[i + 2][k / count][k % count];
        }
    }
}

template <class Keys, int z_size, int y_size, int x_size, int words>
__global__ void __launch_bounds__(threads)
    network_kernel(MedianView view, Walk<typename Keys::Raw> walk) {
    using Raw = typename Keys::Raw;
    using Word = typename Keys::Word;
    using Part = Columns<Keys, x_size / 2, words>;
    constexpr int count = z_size * x_size;
    const std::int64_t segment = std::int64_t{blockIdx.x / walk.strips} * blockDim.y + threadIdx.y;
    const std::int64_t column =
        (std::int64_t{blockIdx.x % walk.strips} * blockDim.x + threadIdx.x) * Part::elements;
    if (segment >= view.runs() * walk.segments || column >= view.columns) {
        return;
    }
    const std::int64_t lines = view.lines();
    const std::int64_t run = segment / walk.segments;
    const std::int64_t skipped = segment % walk.segments * walk.segment_rows;
    const std::int64_t runs_of_frame = view.out_rows / lines;
    const std::int64_t frame = run / runs_of_frame;
    const std::int64_t first = view.out_first + run % runs_of_frame * lines + skipped;
    const auto rows = static_cast<int>(min(walk.segment_rows, lines - skipped));
    const std::int64_t layer = view.layer_of(first);
    const std::int64_t y = first - layer * view.rows;
    const Raw* in = walk.in + frame * view.in_rows * view.columns;
    Raw* out = walk.out + (frame * view.out_rows + first - view.out_first) * view.columns;
    const Raw* own = in + (first - view.in_first) * view.columns;
    const Part part(view, walk, column);

    Word lists[y_size + 1][words][count];
    const auto load_list = [&](Word(&list)[words][count], int dy) {
        Word loaded[z_size][2 * Part::margin + words];
#pragma unroll
        for (int z = 0; z < z_size; ++z) {
            const std::int64_t held = view.held_row(layer, y + dy, z - z_size / 2);
            part.load(held < 0 ? nullptr : in + held * view.columns, walk, loaded[z]);
        }
#pragma unroll
        for (int w = 0; w < words; ++w) {
            NetworkValues<Keys, SortingNetwork<count>> values;
#pragma unroll
            for (int i = 0; i < count; ++i) {
                values.at[i] = Part::shifted(loaded[i / x_size], w, i % x_size - x_size / 2);
            }
            values.run();
            sorted_outputs(values, list[w], std::make_index_sequence<count>());
        }
    };
    // The first turns only load the lists of the rows above.
    for (int row = 1 - y_size; row < rows; row += 2) {
        load_list(lists[y_size - 1], row + y_size / 2);
        if (row + 1 < rows) {
            load_list(lists[y_size], row + 1 + y_size / 2);
        }
        if (row < 0) {
            shift_lists(lists);
            continue;
        }
        Word medians[2][words];
#pragma unroll
        for (int w = 0; w < words; ++w) {
            NetworkValues<Keys, PairNetwork<count, y_size>> values;
#pragma unroll
            for (int i = 0; i < count * (y_size + 1); ++i) {
                values.at[i] = lists[i / count][w][i % count];
            }
            values.run();
            medians[0][w] = values.template output<0>();
            medians[1][w] = values.template output<1>();
        }
        const std::int64_t at = row * view.columns;
        part.store(view, walk, own + at, out + at, medians[0]);
        if (row + 1 < rows) {
            part.store(view, walk, own + at + view.columns, out + at + view.columns, medians[1]);
        }
        shift_lists(lists);
    }
}

template <class Keys, int z_size, int y_size, int x_size>
void launch_network(CudaQueue& queue, const MedianView& view, Walk<typename Keys::Raw> walk) {
    using Raw = typename Keys::Raw;
    // Few lists leave room for more columns in the registers.
    constexpr int words = z_size * x_size * y_size <= 9 ? 4 : z_size * x_size <= 5 ? 2 : 1;
    constexpr std::int64_t elements = words * Keys::lanes;
    constexpr auto bytes = static_cast<std::uintptr_t>(elements) * sizeof(Raw);
    walk.aligned = view.columns % elements == 0 &&
                   reinterpret_cast<std::uintptr_t>(walk.in) % bytes == 0 &&
                   reinterpret_cast<std::uintptr_t>(walk.out) % bytes == 0;
    const std::int64_t width = (view.columns + elements - 1) / elements;
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
    const std::int64_t all = view.runs() * view.lines() * walk.strips;
    walk.segment_rows = std::clamp(all / (wanted_blocks * down) / 2 * 2, shortest, longest);
    walk.segments = (view.lines() + walk.segment_rows - 1) / walk.segment_rows;
    const std::int64_t blocks = (view.runs() * walk.segments + down - 1) / down * walk.strips;
    if (blocks > std::numeric_limits<std::int32_t>::max()) {
        throw Error(ExitCode::defect,
                    {"a block of rows is too large for one launch", "median", "", ""});
    }
    launch(queue, {dim3(static_cast<unsigned>(blocks)), dim3(across, down)},
           network_kernel<Keys, z_size, y_size, x_size, words>, view, walk);
}

/// The windows whose networks are compiled in for the GPU. Returns whether it is one of them.
template <class Keys>
bool launch_window(CudaQueue& queue, const MedianView& view, const Walk<typename Keys::Raw>& walk) {
    bool found = false;
    const auto try_window = [&]<int z, int y, int x>() {
        if (view.radius_z == z / 2 && view.radius_y == y / 2 && view.radius_x == x / 2) {
            found = true;
            launch_network<Keys, z, y, x>(queue, view, walk);
        }
    };
    try_window.template operator()<1, 3, 3>();
    return found;
}

template <class Keys, class T>
bool launch_elements(CudaQueue& queue, const MedianView& view, const std::byte* in, std::byte* out,
                     std::uint32_t flip) {
    using Raw = typename Keys::Raw;
    Walk<Raw> walk{};
    walk.in = reinterpret_cast<const Raw*>(in);
    walk.out = reinterpret_cast<Raw*>(out);
    walk.flip = flip;
    walk.fill = std::bit_cast<Raw>(converted<T>(view.fill));
    return launch_window<Keys>(queue, view, walk);
}

bool launch_type(CudaQueue& queue, ElementType type, const MedianView& view, const std::byte* in,
                 std::byte* out) {
    using Bytes = PairKeys<std::uint8_t>;
    using Halves = PairKeys<std::uint16_t>;
    switch (type) {
    case ElementType::int8: return launch_elements<Bytes, std::int8_t>(queue, view, in, out, 0x80);
    case ElementType::uint8: return launch_elements<Bytes, std::uint8_t>(queue, view, in, out, 0);
    case ElementType::int16:
        return launch_elements<Halves, std::int16_t>(queue, view, in, out, 0x8000);
    case ElementType::uint16:
        return launch_elements<Halves, std::uint16_t>(queue, view, in, out, 0);
    case ElementType::int32: return launch_elements<IntKeys, std::int32_t>(queue, view, in, out, 0);
    case ElementType::uint32:
        return launch_elements<IntKeys, std::uint32_t>(queue, view, in, out, 0x80000000U);
    case ElementType::float32: return launch_elements<FloatKeys, float>(queue, view, in, out, 0);
    default: return false;
    }
}

} // namespace

void median(CudaQueue& queue, const Median& median, const RowBlock& block, const std::byte* in,
            std::byte* out) {
    if (block.frames == 0 || block.out_rows == 0) {
        return;
    }
    const MedianView view = median_view(median, block);
    constexpr std::int64_t most_columns = std::numeric_limits<std::int32_t>::max() / 2;
    if (view.columns > most_columns || !launch_type(queue, median.type, view, in, out)) {
        launch_median_search(queue, median.type, view, in, out);
    }
    queue.count(median_operations(median, block));
}

} // namespace runner
