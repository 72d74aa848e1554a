// SPDX-License-Identifier: BSD-3-Clause
// Medians of any window. A block of threads keeps the keys of its elements and their windows in
// shared memory; a thread narrows an interval of keys that holds its median: it counts the window's
// keys in the interval's lower half, and finds the keys that are nearest to the middle.
#include "base/error.hpp"
#include "kernels/elements/elements.hpp"
#include "kernels/elements/ordered_key.hpp"
#include "kernels/median/median_view.hpp"
#include "kernels/queue/launch.cuh"

#include <algorithm>
#include <limits>
#include <type_traits>

namespace runner {
namespace {

constexpr int tile_columns = 32;
constexpr int tile_rows = 8;
constexpr int threads = tile_columns * tile_rows;

/// Where things are; `fill` is the fill value's key.
template <class Bits> struct Search {
    ElementType type;
    const std::byte* in;
    std::byte* out;
    Bits fill;
    std::uint32_t strips;
    std::int64_t tiles; ///< of a run of rows
};

template <class Bits> constexpr Bits sign_bit = static_cast<Bits>(~(~Bits{0} >> 1U));

/// The key of an element as a number without sign, for all types that have at most its bytes.
template <class Bits, class T> __host__ __device__ Bits bits_of(T element) {
    const auto key = static_cast<std::make_signed_t<Bits>>(ordered_key(element));
    return static_cast<Bits>(key) ^ sign_bit<Bits>;
}
template <class T, class Bits> __device__ T element_of(Bits bits) {
    return element_of_key<T>(static_cast<SignedOf<sizeof(T)>>(bits ^ sign_bit<Bits>));
}

/// The distance of two elements: exact for integers, as far as float64 is.
template <class T> __device__ double distance(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
        return fabs(static_cast<double>(a) - static_cast<double>(b));
    } else {
        using Wide = std::make_unsigned_t<T>;
        return static_cast<double>(
            static_cast<Wide>(a > b ? static_cast<Wide>(a) - static_cast<Wide>(b)
                                    : static_cast<Wide>(b) - static_cast<Wide>(a)));
    }
}

/// Calls visit(T{}) with the type, one of those whose keys are Bits.
template <class Bits, class Visit>
__device__ void visit_type(ElementType type, const Visit& visit) {
    if constexpr (sizeof(Bits) == 8) {
        switch (type) {
        case ElementType::int64: return visit(std::int64_t{});
        case ElementType::uint64: return visit(std::uint64_t{});
        default: return visit(double{});
        }
    } else {
        switch (type) {
        case ElementType::int8: return visit(std::int8_t{});
        case ElementType::uint8: return visit(std::uint8_t{});
        case ElementType::int16: return visit(std::int16_t{});
        case ElementType::uint16: return visit(std::uint16_t{});
        case ElementType::int32: return visit(std::int32_t{});
        case ElementType::uint32: return visit(std::uint32_t{});
        default: return visit(float{});
        }
    }
}

/// A block's part of the image: the outputs' first row and column, and what their windows reach.
struct Tile {
    std::int64_t frame;
    std::int64_t layer;
    std::int64_t y; ///< within the layer
    std::int64_t x;
    std::int64_t row;  ///< of the output
    std::int64_t rows; ///< of the run of rows that are left
    int extent_z;
    int extent_y;
    int extent_x;

    template <class Bits> __device__ Tile(const MedianView& view, const Search<Bits>& search) {
        const std::int64_t lines = view.lines();
        const std::int64_t at = blockIdx.x / search.strips;
        const std::int64_t run = at / search.tiles;
        const std::int64_t skipped = at % search.tiles * tile_rows;
        const std::int64_t runs_of_frame = view.out_rows / lines;
        frame = run / runs_of_frame;
        row = view.out_first + run % runs_of_frame * lines + skipped;
        rows = lines - skipped;
        layer = view.layer_of(row);
        y = row - layer * view.rows;
        x = std::int64_t{blockIdx.x % search.strips} * tile_columns;
        extent_z = 2 * view.radius_z + 1;
        extent_y = 2 * view.radius_y + tile_rows;
        extent_x = 2 * view.radius_x + tile_columns;
    }
};

template <class Bits>
__device__ void load_keys(const MedianView& view, const Search<Bits>& search, const Tile& tile,
                          Bits* keys) {
    const int count = tile.extent_z * tile.extent_y * tile.extent_x;
    visit_type<Bits>(search.type, [&](auto zero) {
        using T = decltype(zero);
        const T* in =
            reinterpret_cast<const T*>(search.in) + tile.frame * view.in_rows * view.columns;
        for (int i = static_cast<int>(threadIdx.x); i < count; i += threads) {
            const int line = i / tile.extent_x;
            const int dy = line % tile.extent_y - view.radius_y;
            const std::int64_t x = tile.x + i % tile.extent_x - view.radius_x;
            Bits key = search.fill;
            // What only outputs beyond the image would need is left out: it need not be held.
            if (dy < tile.rows + view.radius_y && x < view.columns + view.radius_x) {
                const std::int64_t held =
                    view.held_row(tile.layer, tile.y + dy, line / tile.extent_y - view.radius_z);
                const std::int64_t column = map_index(x, view.columns, view.boundary);
                if (held >= 0 && column >= 0) {
                    key = bits_of<Bits>(in[held * view.columns + column]);
                }
            }
            keys[i] = key;
        }
    });
}

/// The median of the window whose first key is `keys`.
template <int extent_x, class Bits>
__device__ Bits median_of(const MedianView& view, const Tile& tile, const Bits* keys) {
    const int extent_y = 2 * view.radius_y + 1;
    const auto each = [&](const auto& take) {
        for (int z = 0; z < tile.extent_z; ++z) {
            const Bits* line = keys + z * tile.extent_y * tile.extent_x;
            for (int y = 0; y < extent_y; ++y, line += tile.extent_x) {
#pragma unroll
                for (int i = 0; i < extent_x; ++i) {
                    take(line[i]);
                }
            }
        }
    };
    const int half = tile.extent_z * extent_y * extent_x / 2;
    Bits low = ~Bits{0}; // the window's least and greatest key, between which the median is
    Bits high = 0;
    each([&](Bits key) {
        low = min(low, key);
        high = max(high, key);
    });
    while (low < high) {
        const Bits middle = low + (high - low) / 2 + 1;
        int below = 0;
        // Distances from the middle: those of keys below it wrap around, the nearest to the most.
        Bits above_by = ~Bits{0};
        Bits below_by = 0;
        each([&](Bits key) {
            below += key < middle ? 1 : 0;
            above_by = min(above_by, static_cast<Bits>(key - middle));
            below_by = max(below_by, static_cast<Bits>(key - middle));
        });
        if (below > half) {
            high = middle + below_by;
            low = below == half + 1 ? high : low;
        } else {
            low = middle + above_by;
            high = below == half ? low : high;
        }
    }
    return low;
}

template <class Bits, int extent_x>
__global__ void __launch_bounds__(threads) search_kernel(MedianView view, Search<Bits> search) {
    extern __shared__ std::uint64_t shared_keys[];
    auto* keys = reinterpret_cast<Bits*>(shared_keys);
    const Tile tile(view, search);
    load_keys(view, search, tile, keys);
    __syncthreads();
    const int dx = static_cast<int>(threadIdx.x) % tile_columns;
    const int dy = static_cast<int>(threadIdx.x) / tile_columns;
    if (dy >= tile.rows || tile.x + dx >= view.columns) {
        return;
    }
    const Bits median = median_of<extent_x>(view, tile, keys + dy * tile.extent_x + dx);
    const std::int64_t row = tile.row + dy - view.out_first;
    const std::int64_t at = (tile.frame * view.out_rows + row) * view.columns + tile.x + dx;
    visit_type<Bits>(search.type, [&](auto zero) {
        using T = decltype(zero);
        T result = element_of<T>(median);
        if (view.has_difference) {
            const std::int64_t held = tile.frame * view.in_rows + tile.row + dy - view.in_first;
            const T x = reinterpret_cast<const T*>(search.in)[held * view.columns + tile.x + dx];
            result = distance(x, result) > view.difference ? result : x;
        }
        reinterpret_cast<T*>(search.out)[at] = result;
    });
}

template <class Bits, class T>
void launch_search(CudaQueue& queue, const MedianView& view, Search<Bits> search) {
    search.fill = bits_of<Bits>(converted<T>(view.fill));
    search.strips = static_cast<std::uint32_t>((view.columns + tile_columns - 1) / tile_columns);
    search.tiles = (view.lines() + tile_rows - 1) / tile_rows;
    const std::int64_t blocks = view.runs() * search.tiles * search.strips;
    if (blocks > std::numeric_limits<std::int32_t>::max()) {
        throw Error(ExitCode::defect,
                    {"a block of rows is too large for one launch", "median", "", ""});
    }
    // At most 39 KiB, for 9 x 9 x 3.
    const auto shared =
        static_cast<std::size_t>((2 * view.radius_z + 1) * (2 * view.radius_y + tile_rows) *
                                 (2 * view.radius_x + tile_columns)) *
        sizeof(Bits);
    const KernelWork work{static_cast<double>(view.elements()) * sizeof(T)};
    const auto start = [&](auto kernel) {
        launch(queue, {dim3(static_cast<unsigned>(blocks)), dim3(threads), shared, work}, kernel,
               view, search);
    };
    switch (view.radius_x) {
    case 0: return start(search_kernel<Bits, 1>);
    case 1: return start(search_kernel<Bits, 3>);
    case 2: return start(search_kernel<Bits, 5>);
    case 3: return start(search_kernel<Bits, 7>);
    default: return start(search_kernel<Bits, 9>);
    }
}

} // namespace

void launch_median_search(CudaQueue& queue, ElementType type, const MedianView& view,
                          const std::byte* in, std::byte* out) {
    visit_element_type(type, [&](auto zero) {
        using T = decltype(zero);
        using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
        launch_search<Bits, T>(queue, view, Search<Bits>{type, in, out, 0, 0, 0});
    });
}

} // namespace runner
