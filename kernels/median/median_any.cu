// SPDX-License-Identifier: BSD-3-Clause
// Medians of any window. A block of threads keeps the keys of its elements and their windows in
// shared memory; a thread narrows an interval of keys that holds its median: it counts the window's
// keys in the interval's lower half, and finds the keys that are nearest to the middle.
#include "kernels/elements/elements.hpp"
#include "kernels/elements/invalid.hpp"
#include "kernels/elements/ordered_key.hpp"
#include "kernels/elements/tally.cuh"
#include "kernels/median/median_call.hpp"
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
    /// The keys of invalid elements: of the value, of −0 where it is 0, and of NaN.
    Bits invalid[3];

    __device__ bool is_invalid(Bits key) const {
        return key == invalid[0] || key == invalid[1] || key == invalid[2];
    }
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

/// Calls visit(T{}) with the type, one of those whose keys are Bits.
template <class Bits, class Visit> __device__ int visit_type(ElementType type, const Visit& visit) {
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

    template <class Bits> __device__ Tile(const MedianCall& call, const Search<Bits>& search) {
        const std::int64_t lines = call.lines();
        const std::int64_t at = blockIdx.x / search.strips;
        const std::int64_t run = at / search.tiles;
        const std::int64_t skipped = at % search.tiles * tile_rows;
        const std::int64_t runs_of_frame = call.out_rows / lines;
        frame = run / runs_of_frame;
        row = call.out_first + run % runs_of_frame * lines + skipped;
        rows = lines - skipped;
        layer = call.layer_of(row);
        y = row - layer * call.rows;
        x = std::int64_t{blockIdx.x % search.strips} * tile_columns;
        extent_z = 2 * call.radius_z + 1;
        extent_y = 2 * call.radius_y + tile_rows;
        extent_x = 2 * call.radius_x + tile_columns;
    }
};

/// Calls put(i, key, whether it is of the image) for the i-th key of the tile and its windows.
template <class Bits, class Put>
__device__ void load_keys(const MedianCall& call, const Search<Bits>& search, const Tile& tile,
                          const Put& put) {
    const int count = tile.extent_z * tile.extent_y * tile.extent_x;
    visit_type<Bits>(search.type, [&](auto zero) {
        using T = decltype(zero);
        const T* in =
            reinterpret_cast<const T*>(search.in) + tile.frame * call.in_rows * call.columns;
        for (int i = static_cast<int>(threadIdx.x); i < count; i += threads) {
            const int line = i / tile.extent_x;
            const int dy = line % tile.extent_y - call.radius_y;
            const std::int64_t x = tile.x + i % tile.extent_x - call.radius_x;
            Bits key = search.fill;
            bool is_of_image = false;
            // What only outputs beyond the image would need is left out: it need not be held.
            if (dy < tile.rows + call.radius_y && x < call.columns + call.radius_x) {
                const std::int64_t held =
                    call.held_row(tile.layer, tile.y + dy, line / tile.extent_y - call.radius_z);
                const std::int64_t column = map_index(x, call.columns, call.boundary);
                if (held >= 0 && column >= 0) {
                    key = bits_of<Bits>(in[held * call.columns + column]);
                    is_of_image = true;
                }
            }
            put(i, key, is_of_image);
        }
        return 0;
    });
}

/// Calls take(value) with each of a window, the first of which is at `first`. `extent_x` 0: any.
template <int extent_x, class T, class Take>
__device__ void for_window(const MedianCall& call, const Tile& tile, const T* first,
                           const Take& take) {
    for (int z = 0; z < tile.extent_z; ++z) {
        const T* line = first + z * tile.extent_y * tile.extent_x;
        for (int y = 0; y < 2 * call.radius_y + 1; ++y, line += tile.extent_x) {
#pragma unroll
            for (int i = 0; i < extent_x; ++i) {
                take(line[i]);
            }
            if constexpr (extent_x == 0) {
                for (int i = 0; i < 2 * call.radius_x + 1; ++i) {
                    take(line[i]);
                }
            }
        }
    }
}

/// The key of the window whose first key is `keys` that has `half` keys before it.
template <int extent_x, class Bits>
__device__ Bits key_of_rank(const MedianCall& call, const Tile& tile, const Bits* keys, int half) {
    const auto each = [&](const auto& take) { for_window<extent_x>(call, tile, keys, take); };
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

/// A thread's element of its tile.
struct Place {
    int dx = static_cast<int>(threadIdx.x) % tile_columns;
    int dy = static_cast<int>(threadIdx.x) / tile_columns;
    /// Whether it is of the image.
    __device__ bool is_own(const MedianCall& call, const Tile& tile) const {
        return dy < tile.rows && tile.x + dx < call.columns;
    }
    /// Its row of the output, counted through all frames.
    __device__ std::int64_t made(const MedianCall& call, const Tile& tile) const {
        return tile.frame * call.out_rows + tile.row + dy - call.out_first;
    }
};

/// Calls visit(the input's element at the place, the output's), and returns what it does.
template <class Bits, class Visit>
__device__ int at_place(const MedianCall& call, const Search<Bits>& search, const Tile& tile,
                        const Place& place, const Visit& visit) {
    const std::int64_t column = tile.x + place.dx;
    const std::int64_t held = tile.frame * call.in_rows + tile.row + place.dy - call.in_first;
    const std::int64_t made = place.made(call, tile);
    return visit_type<Bits>(search.type, [&](auto zero) -> int {
        using T = decltype(zero);
        return visit(reinterpret_cast<const T*>(search.in)[held * call.columns + column],
                     reinterpret_cast<T*>(search.out)[made * call.columns + column]);
    });
}

/// Stores change(the input's element at the place), an element of the same type. Returns 1 where
/// that is another, else 0.
template <class Bits, class Change>
__device__ int store_changed(const MedianCall& call, const Search<Bits>& search, const Tile& tile,
                             const Place& place, const Change& change) {
    return at_place(call, search, tile, place, [&]<class T>(const T& x, T& result) {
        result = change(x);
        return is_replaced(x, result) ? 1 : 0;
    });
}

/// Stores the median of this key, or the element itself where it differs too little. Returns as
/// store_changed() does.
template <class Bits>
__device__ int store_median(const MedianCall& call, const Search<Bits>& search, const Tile& tile,
                            const Place& place, Bits median) {
    return store_changed(call, search, tile, place, [&]<class T>(const T& x) {
        const T result = element_of<T>(median);
        return !call.has_difference || call.is_far(excess(x, result)) ? result : x;
    });
}

template <class Bits, int extent_x>
__global__ void __launch_bounds__(threads) search_kernel(MedianCall call, Search<Bits> search) {
    extern __shared__ std::uint64_t shared_keys[];
    auto* keys = reinterpret_cast<Bits*>(shared_keys);
    begin_count(call.replaced);
    const Tile tile(call, search);
    load_keys(call, search, tile, [&](int i, Bits key, bool /*is_of_image*/) { keys[i] = key; });
    __syncthreads();
    const Place place;
    if (!place.is_own(call, tile)) {
        return;
    }
    const Bits* const first = keys + place.dy * tile.extent_x + place.dx;
    const int half = tile.extent_z * (2 * call.radius_y + 1) * (2 * call.radius_x + 1) / 2;
    const int replaced =
        store_median(call, search, tile, place, key_of_rank<extent_x>(call, tile, first, half));
    add_to_block(call.replaced.takes(place.made(call, tile)) ? replaced : 0);
    end_count(call.replaced);
}

/// Mends the element at the place of which `keys` and `is_invalid` are the tile's. Returns how many
/// more are replaced than before.
template <int extent_x, class Bits>
__device__ int mend_place(const MedianCall& call, const Search<Bits>& search, const Tile& tile,
                          const Place& place, const Bits* keys, const unsigned char* is_invalid) {
    const int first = place.dy * tile.extent_x + place.dx;
    const int own =
        first + (call.radius_z * tile.extent_y + call.radius_y) * tile.extent_x + call.radius_x;
    int invalid = is_invalid[own];
    if (invalid == 0) {
        for_window<extent_x>(call, tile, is_invalid + first,
                             [&](unsigned char each) { invalid += each; });
    }
    if (invalid == 0) {
        return 0;
    }
    const bool is_counted = call.replaced.takes(place.made(call, tile));
    const int before =
        is_counted ? at_place(call, search, tile, place,
                              []<class T>(const T& x, T& made) { return is_replaced(x, made); })
                   : 0;
    int after = 0; // what is invalid is marked, which replaces nothing
    if (is_invalid[own] != 0) {
        store_changed(call, search, tile, place, []<class T>(const T& x) {
            return std::is_floating_point_v<T> ? std::numeric_limits<T>::quiet_NaN() : x;
        });
    } else {
        const int valid =
            tile.extent_z * (2 * call.radius_y + 1) * (2 * call.radius_x + 1) - invalid;
        after = store_median(call, search, tile, place,
                             key_of_rank<extent_x>(call, tile, keys + first, (valid - 1) / 2));
    }
    return is_counted ? after - before : 0;
}

/// As mend_medians(). Invalid keys are the greatest, so that those before them have their ranks.
template <class Bits, int extent_x>
__global__ void __launch_bounds__(threads) mend_kernel(MedianCall call, Search<Bits> search) {
    extern __shared__ std::uint64_t shared_keys[];
    auto* keys = reinterpret_cast<Bits*>(shared_keys);
    const Tile tile(call, search);
    auto* is_invalid =
        reinterpret_cast<unsigned char*>(keys + tile.extent_z * tile.extent_y * tile.extent_x);
    begin_count(call.replaced);
    int found = 0;
    load_keys(call, search, tile, [&](int i, Bits key, bool is_of_image) {
        const bool invalid = is_of_image && search.is_invalid(key);
        is_invalid[i] = invalid ? 1 : 0;
        keys[i] = invalid ? ~Bits{0} : key;
        found += invalid ? 1 : 0;
    });
    const Place place;
    if (__syncthreads_or(found) == 0 || !place.is_own(call, tile)) {
        return;
    }
    add_to_block(mend_place<extent_x>(call, search, tile, place, keys, is_invalid));
    end_count(call.replaced);
}

enum class Task { search, mend };

template <class Bits, int extent_x> constexpr auto kernel_of(Task task) {
    return task == Task::search ? search_kernel<Bits, extent_x> : mend_kernel<Bits, extent_x>;
}

template <class Bits, class T>
void launch_search(CudaQueue& queue, Task task, const MedianCall& call, Search<Bits> search) {
    search.fill = bits_of<Bits>(converted<T>(call.fill));
    search.strips = static_cast<std::uint32_t>((call.columns + tile_columns - 1) / tile_columns);
    search.tiles = (call.lines() + tile_rows - 1) / tile_rows;
    const unsigned blocks = launched_blocks(call.runs() * search.tiles * search.strips);
    // At most 83 KiB of keys, for 15 x 15 x 1.
    const auto shared =
        static_cast<std::size_t>((2 * call.radius_z + 1) * (2 * call.radius_y + tile_rows) *
                                 (2 * call.radius_x + tile_columns)) *
        (sizeof(Bits) + (task == Task::mend ? 1 : 0));
    const KernelWork work{static_cast<double>(call.elements()) * sizeof(T)};
    const auto start = [&](auto kernel) {
        launch(queue, {dim3(blocks), dim3(threads), shared, work}, kernel, call, search);
    };
    switch (call.radius_x) {
    case 0: return start(kernel_of<Bits, 1>(task));
    case 1: return start(kernel_of<Bits, 3>(task));
    case 2: return start(kernel_of<Bits, 5>(task));
    case 3: return start(kernel_of<Bits, 7>(task));
    case 4: return start(kernel_of<Bits, 9>(task));
    default: return start(kernel_of<Bits, 0>(task));
    }
}

template <class T> using BitsOf = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

} // namespace

void launch_median_search(CudaQueue& queue, ElementType type, const MedianCall& call,
                          const std::byte* in, std::byte* out) {
    visit_element_type(type, [&](auto zero) {
        using T = decltype(zero);
        using Bits = BitsOf<T>;
        launch_search<Bits, T>(queue, Task::search, call, Search<Bits>{type, in, out, 0, 0, 0, {}});
    });
}

void mend_medians(CudaQueue& queue, ElementType type, double value, const MedianCall& call,
                  const std::byte* in, std::byte* out) {
    visit_element_type(type, [&](auto zero) {
        using T = decltype(zero);
        using Bits = BitsOf<T>;
        const T element = converted<T>(value);
        Search<Bits> search{type, in, out, 0, 0, 0, {}};
        search.invalid[0] = bits_of<Bits>(element);
        search.invalid[1] = bits_of<Bits>(element == T{} ? static_cast<T>(-T{}) : element);
        search.invalid[2] = std::is_floating_point_v<T>
                                ? bits_of<Bits>(std::numeric_limits<T>::quiet_NaN())
                                : search.invalid[0];
        launch_search<Bits, T>(queue, Task::mend, call, search);
    });
}

} // namespace runner
