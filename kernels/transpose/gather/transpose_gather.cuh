// SPDX-License-Identifier: BSD-3-Clause
// The gather kernel: aligned vectors of the input's rows go to shared memory as they are; aligned
// vectors of the output are gathered there, an element at a time.
#pragma once

#include "kernels/queue/block_memory.cuh"
#include "kernels/transpose/gather/transpose_gather_load.cuh"

#include <cstdint>

namespace runner::gather_cuda {

/// Goes along a column of the tile, an element at a time.
template <class F, GatherKind kind> class ColumnWalk {
  public:
    /// @param at element of the output's row, from the tile's begin
    __device__ ColumnWalk(const GatherCall& call, const GatherTile& tile, int at)
        : row_(tile.first + at) {
        low_ = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(tile.in));
        if constexpr (kind == GatherKind::points) {
            const Divided place = divide(static_cast<std::uint32_t>(row_), call.point);
            row_ = static_cast<int>(place.quotient);
            rest_ = static_cast<int>(place.rest);
        }
        const std::int64_t row = tile.b + row_;
        if constexpr (kind == GatherKind::folded) {
            const Divided place = divide(static_cast<std::uint32_t>(row), call.b.minor);
            rest_ = static_cast<int>(place.rest);
            low_ += place.quotient * static_cast<std::uint32_t>(call.b.far) +
                    place.rest * static_cast<std::uint32_t>(call.b.near);
        } else {
            low_ += static_cast<std::uint32_t>(row) * static_cast<std::uint32_t>(call.b.far);
        }
    }

    /// Where the element is in shared memory in the tile's first column; goes on to the next.
    __device__ int next(const GatherCall& call) {
        constexpr bool points = kind == GatherKind::points;
        const int point = points ? static_cast<int>(call.point.value) : 1;
        const int place = row_place<F>(call, row_, point) +
                          static_cast<int>(low_ & (gather_align - 1U)) +
                          (points ? rest_ * F::element : 0);
        if constexpr (points) {
            const bool last = ++rest_ == point;
            rest_ = last ? 0 : rest_;
            row_ += last ? 1 : 0;
            low_ += last ? static_cast<std::uint32_t>(call.b.far) : 0U;
            return place;
        }
        ++row_;
        low_ += static_cast<std::uint32_t>(kind == GatherKind::folded ? call.b.near : call.b.far);
        if constexpr (kind == GatherKind::folded) {
            const bool last = ++rest_ == static_cast<int>(call.b.minor.value);
            rest_ = last ? 0 : rest_;
            low_ += last ? static_cast<std::uint32_t>(call.fold_step) : 0U;
        }
        return place;
    }

  private:
    int row_;
    std::uint32_t low_; ///< the low bits of the row's address
    int rest_ = 0;      ///< in the fold or point
};

/// `values`, four parts of `count`, with part (i + by) mod 4 in place of part i.
template <int count, class T> __device__ void turn(T (&values)[4 * count], int by) {
#pragma unroll
    for (int bit = 1; bit < 4; bit *= 2) {
        T from[4 * count];
#pragma unroll
        for (int i = 0; i < 4 * count; ++i) {
            from[i] = values[i];
        }
#pragma unroll
        for (int i = 0; i < 4 * count; ++i) {
            values[i] = (by & bit) != 0 ? from[(i + bit * count) % (4 * count)] : from[i];
        }
    }
}

/// The word whose elements are at the places.
template <int element>
__device__ std::uint32_t gather_word(const std::byte* const (&at)[16 / element], int word,
                                     int offset) {
    const auto value = [&](int i) -> std::uint32_t {
        return *reinterpret_cast<const Word<element>*>(at[word * (4 / element) + i] + offset);
    };
    if constexpr (element == 1) {
        return __byte_perm(__byte_perm(value(0), value(1), 0x0040),
                           __byte_perm(value(2), value(3), 0x0040), 0x5410);
    } else if constexpr (element == 2) {
        return __byte_perm(value(0), value(1), 0x5410);
    } else {
        return value(0);
    }
}

/// Where the part of the output's row at `to` begins that the tile writes, at the nearest multiple
/// of `gather_align` bytes: from −(per − 1) to per.
template <class F> __device__ int part_begin(const std::byte* to) {
    const int before = static_cast<int>(beyond(to, gather_align)) / F::element;
    return before < F::per ? -before : F::period - before;
}

/// A part of the threads' vectors. Eight threads of a warp are side by side along an output row;
/// the others are in columns chosen so that they meet in no bank.
template <class F, GatherKind kind>
__device__ void write_vectors(const GatherCall& call, const GatherTile& tile, int number,
                              const std::byte* shared) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int vector = lane % 8 + 8 * (number % F::vector_parts);
    const int part = number / F::vector_parts % F::column_parts;
    const int within = part & ((1 << call.spread) - 1);
    const int column =
        within + (lane / 8 << call.spread) + ((part - within) << 2) + number / F::parts * F::period;
    std::byte* to = tile.out + column * call.a_pitch;
    const int start = part_begin<F>(to) + vector * F::per;
    if ((tile.begins && start < 0) || start + F::per > tile.length) {
        return;
    }
    const int column_bytes =
        F::element * (kind == GatherKind::points ? static_cast<int>(call.point.value) : 1);
    ColumnWalk<F, kind> walk(call, tile, start);
    const std::byte* at[F::per];
#pragma unroll
    for (int i = 0; i < F::per; ++i) {
        at[i] = shared + column * column_bytes + walk.next(call);
    }
    if (call.turned) {
        turn<F::per / 4>(at, lane / 8);
    }
    to += start * F::element;
    constexpr int columns = F::groups_at_once * F::period;
    const auto write = [&](int offset) {
        std::uint32_t words[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            words[i] = gather_word<F::element>(at, i, offset);
        }
        if (call.turned) {
            turn<1>(words, -(lane / 8) & 3);
        }
        *reinterpret_cast<uint4*>(to) = make_uint4(words[0], words[1], words[2], words[3]);
        to += columns * call.a_pitch;
    };
    if constexpr (kind == GatherKind::points) {
        for (int i = 0; column + i * columns < tile.a_count; ++i) {
            write(i * columns * column_bytes);
        }
    } else {
#pragma unroll
        for (int i = 0; i < (F::lanes / 2 + F::groups_at_once - 2) / F::groups_at_once; ++i) {
            if (column + i * columns >= tile.a_count) {
                break;
            }
            write(i * columns * F::element);
        }
    }
}

/// The elements before the rows' first vectors, where a tile is a row's first, or after their
/// last, where it is the last. These may be a part of the vector after the tile's last, so that no
/// tile is needed for them alone. A thread has the same element of rows that begin alike.
template <class F, GatherKind kind>
__device__ void write_ends(const GatherCall& call, const GatherTile& tile, bool last, int column,
                           int columns, const std::byte* shared) {
    using W = Word<F::element>;
    const int k = static_cast<int>(threadIdx.x) % F::per;
    std::byte* to = tile.out + column * call.a_pitch;
    const int begin = part_begin<F>(to);
    const int head = tile.begins ? (begin < 0 ? begin + F::per : begin) : begin;
    const int tail = begin + min((tile.length - begin) / F::per * F::per, F::step);
    const int element = (last ? tail : 0) + k;
    const bool has = last ? tile.length > begin && tile.length <= F::step + max(begin, 0) &&
                                element >= head && element < tile.length
                          : element < min(head, tile.length);
    if (!has) {
        return;
    }
    const int column_bytes =
        F::element * (kind == GatherKind::points ? static_cast<int>(call.point.value) : 1);
    const std::byte* from =
        shared + ColumnWalk<F, kind>(call, tile, element).next(call) + column * column_bytes;
    to += element * F::element;
    for (; column < tile.a_count; column += columns) {
        *reinterpret_cast<W*>(to) = *reinterpret_cast<const W*>(from);
        to += columns * call.a_pitch;
        from += columns * column_bytes;
    }
}

template <class F, GatherKind kind>
__device__ void write_ends(const GatherCall& call, const GatherTile& tile,
                           const std::byte* shared) {
    constexpr int at_once = F::threads / F::per;
    constexpr int columns = at_once > F::period ? at_once : F::period;
    for (int column = static_cast<int>(threadIdx.x) / F::per; column < columns; column += at_once) {
        if (tile.begins) {
            write_ends<F, kind>(call, tile, false, column, columns, shared);
        }
        if (tile.length <= F::step + F::per) {
            write_ends<F, kind>(call, tile, true, column, columns, shared);
        }
    }
}

template <class F, GatherKind kind>
__global__ void __launch_bounds__(F::threads) gather_kernel(GatherCall call) {
    if (blockIdx.x >= call.tiles) {
        return; // of a cluster that is not full
    }
    auto* shared = reinterpret_cast<std::byte*>(dynamic_shared());
    const GatherTile tile = gather_tile<F, kind>(call, blockIdx.x);
    read_vectors<F, kind>(call, tile, shared);
    commit_copies();
    wait_for_copies<0>();
    __syncthreads();
#pragma unroll 1
    for (int part = static_cast<int>(threadIdx.x) / 32; part < F::parts * F::groups_at_once;
         part += F::warps) {
        write_vectors<F, kind>(call, tile, part, shared);
    }
    write_ends<F, kind>(call, tile, shared);
}

} // namespace runner::gather_cuda
