// SPDX-License-Identifier: BSD-3-Clause
// Medians of 7 × 7 to 15 × 15 elements of one layer by networks. A block of threads sorts the rows
// of its windows and merges them two by two in shared memory, so that windows share them; a thread
// then has the windows of two rows.
#include "kernels/elements/elements.hpp"
#include "kernels/elements/tally.cuh"
#include "kernels/median/median_call.hpp"
#include "kernels/median/median_columns.cuh"
#include "kernels/median/median_device.cuh"
#include "kernels/queue/block_memory.cuh"
#include "kernels/queue/launch.cuh"

#include <algorithm>
#include <cstring>

namespace runner {
namespace {

using namespace median_cuda;

template <int extent> struct SortingNetwork {
    static constexpr MedianNetwork net = sorting_network(extent);
};
template <int extent> struct WindowNetwork {
    static constexpr MedianNetwork net = window_network(extent);
};

constexpr int warp_size = 32;
constexpr int warps = 8; ///< of a block, each with two rows of the output

/// What a block has in shared memory, in words; a word of a thread holds Keys::lanes columns, 32
/// apart.
template <int extent> struct WindowTile {
    static constexpr int out_rows = 2 * warps;
    static constexpr int rows = out_rows + extent - 1;
    static constexpr int columns = warp_size + extent - 1;
    static constexpr int pairs = (rows - 2) / 2; ///< rows 1 and 2, 3 and 4, …
    static constexpr int tile_words = rows * columns;
    static constexpr int row_words = extent * warp_size;
    static constexpr int pair_words = 2 * row_words;
    static constexpr int words = tile_words + rows * row_words + pairs * pair_words;
};

/// What a kernel needs beside the call.
struct Windows {
    const std::byte* in;
    std::byte* out;
    ElementType type;
    KeyForm form;
    std::uint32_t fill; ///< the bits of the fill value
    std::uint32_t strips;
    std::int64_t segments; ///< of a frame's rows
};

/// Where a block's outputs begin.
struct WindowPlace {
    std::int64_t frame;
    std::int64_t row; ///< of the output's rows
    std::int64_t column;

    __device__ WindowPlace(const MedianCall& call, const Windows& windows, int rows, int columns) {
        const std::int64_t at = blockIdx.x / windows.strips;
        frame = at / windows.segments;
        row = call.out_first + at % windows.segments * rows;
        column = std::int64_t{blockIdx.x % windows.strips} * columns;
    }
};

/// Calls visit() with the keys of the elements' type, whose words are those of Keys.
template <class Keys, class Visit>
__device__ void visit_keys(ElementType type, const Visit& visit) {
    if constexpr (Keys::lanes == 2) {
        return type == ElementType::int8 || type == ElementType::uint8
                   ? visit.template operator()<ByteKeys>()
                   : visit.template operator()<HalfKeys>();
    } else {
        return type == ElementType::float32 ? visit.template operator()<FloatKeys>()
                                            : visit.template operator()<IntKeys>();
    }
}

/// Loads the tile's words.
template <class Keys, int extent>
__device__ void load_tile(const MedianCall& call, const Windows& windows, const WindowPlace& place,
                          typename Keys::Word* tile) {
    using Raw = typename Keys::Raw;
    using Tile = WindowTile<extent>;
    const Raw* const in =
        reinterpret_cast<const Raw*>(windows.in) + place.frame * call.in_rows * call.columns;
    const std::int64_t end = call.out_first + call.out_rows + call.radius_y;
    for (int i = static_cast<int>(threadIdx.x); i < Tile::tile_words; i += warps * warp_size) {
        const std::int64_t y = place.row + i / Tile::columns - call.radius_y;
        const auto x = static_cast<int>(place.column) + i % Tile::columns - call.radius_x;
        // What only outputs beyond the block of rows would need is left out: it need not be held.
        const std::int64_t held = y < end ? call.held_row(0, y, 0) : -1;
        const auto element = [&](int column) {
            const int from = held < 0 ? -1 : held_column(call, column);
            return from < 0 ? static_cast<Raw>(windows.fill) : in[held * call.columns + from];
        };
        if constexpr (Keys::lanes == 2) {
            tile[i] = Keys::pair(element(x), element(x + warp_size), windows.form);
        } else {
            tile[i] = static_cast<typename Keys::Word>(Keys::keys(element(x), windows.form));
        }
    }
}

/// Sorts the tile's rows, a list for each window, and merges them two by two.
template <class Keys, int extent>
__device__ void sort_rows(const typename Keys::Word* tile, typename Keys::Word* lists,
                          typename Keys::Word* pairs) {
    using Word = typename Keys::Word;
    using Tile = WindowTile<extent>;
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    for (int row = warp; row < Tile::rows; row += warps) {
        NetworkValues<Keys, SortingNetwork<extent>> values;
#pragma unroll
        for (int i = 0; i < extent; ++i) {
            values.at[i] = tile[row * Tile::columns + lane + i];
        }
        values.run([&](int i, Word value) {
            lists[row * Tile::row_words + i * warp_size + lane] = value;
        });
    }
    __syncthreads();
    for (int pair = warp; pair < Tile::pairs; pair += warps) {
        NetworkValues<Keys, MergeNetwork<extent>> values;
#pragma unroll
        for (int i = 0; i < 2 * extent; ++i) { // both rows, one after the other
            values.at[i] = lists[(2 * pair + 1) * Tile::row_words + i * warp_size + lane];
        }
        values.run([&](int i, Word value) {
            pairs[pair * Tile::pair_words + i * warp_size + lane] = value;
        });
    }
    __syncthreads();
}

/// Stores a row's medians, of the columns that a thread's word has.
template <class Keys>
__device__ void store_row(const MedianCall& call, const Windows& windows, const WindowPlace& place,
                          std::int64_t row, int lane, typename Keys::Word median) {
    using Raw = typename Keys::Raw;
    if (row >= call.out_first + call.out_rows) {
        return;
    }
    Raw results[Keys::lanes];
    if constexpr (Keys::lanes == 2) {
        results[0] = Keys::template element<0>(median, windows.form);
        results[1] = Keys::template element<1>(median, windows.form);
    } else {
        const typename Keys::Word medians[1] = {median};
        results[0] = Keys::template memory<1, 0>(medians, windows.form);
    }
    const Raw* const own = reinterpret_cast<const Raw*>(windows.in) +
                           (place.frame * call.in_rows + row - call.in_first) * call.columns;
    Raw* const out = reinterpret_cast<Raw*>(windows.out) +
                     (place.frame * call.out_rows + row - call.out_first) * call.columns;
    const bool is_counted = call.replaced.takes(place.frame * call.out_rows + row - call.out_first);
#pragma unroll
    for (int i = 0; i < Keys::lanes; ++i) {
        const std::int64_t column = place.column + lane + i * warp_size;
        if (column < call.columns) {
            const bool stays = call.has_difference &&
                               !call.is_far(Keys::excess(own[column], results[i], windows.form));
            out[column] = stays ? own[column] : results[i];
            add_to_block(is_counted && !stays ? 1 : 0);
        }
    }
}

template <class Keys, int extent>
__global__ void __launch_bounds__(warps* warp_size)
    windows_kernel(MedianCall call, Windows windows) {
    using Word = typename Keys::Word;
    using Tile = WindowTile<extent>;
    auto* const tile = reinterpret_cast<Word*>(dynamic_shared());
    Word* const lists = tile + Tile::tile_words;
    Word* const pairs = lists + Tile::rows * Tile::row_words;
    begin_count(call.replaced);
    const WindowPlace place(call, windows, Tile::out_rows, warp_size * Keys::lanes);
    visit_keys<Keys>(windows.type,
                     [&]<class Own>() { load_tile<Own, extent>(call, windows, place, tile); });
    __syncthreads();
    sort_rows<Keys, extent>(tile, lists, pairs);
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    NetworkValues<Keys, WindowNetwork<extent>> values;
    const Word* const first = lists + 2 * warp * Tile::row_words + lane;
    const Word* const common = pairs + warp * Tile::pair_words + lane;
#pragma unroll
    for (int i = 0; i < extent; ++i) {
        values.at[i] = first[i * warp_size];
        values.at[extent * extent + i] = first[extent * Tile::row_words + i * warp_size];
    }
#pragma unroll
    for (int i = 0; i < extent * (extent - 1); ++i) {
        values.at[extent + i] = common[i * warp_size];
    }
    Word medians[2];
    values.run([&](int i, Word median) { medians[i] = median; });
    visit_keys<Keys>(windows.type, [&]<class Own>() {
        for (int i = 0; i < 2; ++i) {
            store_row<Own>(call, windows, place, place.row + 2 * warp + i, lane, medians[i]);
        }
    });
    end_count(call.replaced);
}

template <class Keys, int extent>
void launch_extent(CudaQueue& queue, const MedianCall& call, Windows windows) {
    using Tile = WindowTile<extent>;
    const auto ceiling = [](std::int64_t count, std::int64_t of) { return (count + of - 1) / of; };
    windows.strips = static_cast<std::uint32_t>(ceiling(call.columns, warp_size * Keys::lanes));
    windows.segments = ceiling(call.out_rows, Tile::out_rows);
    const unsigned blocks = launched_blocks(call.frames * windows.segments * windows.strips);
    const KernelWork work{static_cast<double>(call.elements() * size_of(windows.type))};
    launch(queue,
           {dim3(blocks), dim3(warps * warp_size), Tile::words * sizeof(typename Keys::Word), work},
           windows_kernel<Keys, extent>, call, windows);
}

template <class Keys>
void launch_keys(CudaQueue& queue, const MedianCall& call, const Windows& windows) {
    switch (call.radius_x) {
    case 3: return launch_extent<Keys, 7>(queue, call, windows);
    case 4: return launch_extent<Keys, 9>(queue, call, windows);
    case 5: return launch_extent<Keys, 11>(queue, call, windows);
    case 6: return launch_extent<Keys, 13>(queue, call, windows);
    default: return launch_extent<Keys, 15>(queue, call, windows);
    }
}

} // namespace

bool launch_median_windows(CudaQueue& queue, ElementType type, const MedianCall& call,
                           const std::byte* in, std::byte* out) {
    if (call.radius_z > 0 || call.radius_y != call.radius_x || call.radius_x < 3 ||
        size_of(type) > 4) {
        return false;
    }
    Windows windows{in, out, type, {turned_bits(type), false, -0.0F}, 0, 0, 0};
    visit_element_type(type, [&](auto zero) {
        const auto fill = converted<decltype(zero)>(call.fill);
        std::memcpy(&windows.fill, &fill, std::min(sizeof fill, sizeof windows.fill));
    });
    if (size_of(type) <= 2) {
        launch_keys<HalfKeys>(queue, call, windows);
    } else {
        launch_keys<IntKeys>(queue, call, windows);
    }
    return true;
}

} // namespace runner
