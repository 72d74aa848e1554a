// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/queue/queue.hpp"

#include <cstddef>
#include <cstdint>

namespace runner {

/// The draw k, 0 … 65535, happens with chance p exactly where k < sand_threshold(p): the least k in
/// 0 … 65536 with float(k) / 65535.0f ≥ float(p), 65536 where there is none.
std::uint32_t sand_threshold(double chance);

/// Thresholds of the chances, each 0 … 65536.
struct SandThresholds {
    std::uint32_t sand_slide = 0x6666;     ///< 0.4
    std::uint32_t sand_fall = 0xE666;      ///< 0.9
    std::uint32_t water_fall = 0xFFFF;     ///< 1.0
    std::uint32_t water_diagonal = 0x9999; ///< 0.6
    std::uint32_t water_spread = 0xE666;   ///< 0.9

    bool operator==(const SandThresholds&) const = default;
};

/// A falling-sand job: what does not change from generation to generation. Cells are bytes: 0
/// empty, 1 water, 2 sand, 3 wall.
struct Sand {
    std::int64_t rows = 0;    ///< of the whole grid, ≥ 1
    std::int64_t columns = 0; ///< ≥ 1
    std::uint32_t seed = 0;
    SandThresholds thresholds{};
};

/// Rows [first_row, first_row + rows) of the whole grid.
struct SandBand {
    std::int64_t first_row = 0;
    std::int64_t rows = 0;

    bool operator==(const SandBand&) const = default;
};

/// Bytes of a row of the state, a multiple of 16. A row is a group of four 32-bit words for every
/// 64 columns: the high bits of the even columns, their low bits, the high and the low bits of the
/// odd ones; bit i belongs to columns 2i and 2i + 1 of the group. Rows lie one after the other, so
/// any run of rows is a run of bytes. Bits past the last column have no meaning.
constexpr std::int64_t sand_row_bytes(std::int64_t columns) { return (columns + 63) / 64 * 16; }

/// The rows of `band` that are right after `generations` more: all but that many next to each side
/// of the band that is not a side of the grid.
SandBand sand_rows_after(const Sand& sand, const SandBand& band, std::int64_t generations);

/// state = the `rows` rows of cells, dense bytes. Sets *first_wrong to the index of the first cell
/// that is no material (and is taken as one), or to rows · columns. All in the queue's device
/// memory, state aligned to 16 bytes. The CUDA form returns before the work is done.
void pack_sand(CpuQueue& queue, std::int64_t rows, std::int64_t columns, const std::byte* cells,
               std::byte* state, std::int64_t* first_wrong);
void pack_sand(CudaQueue& queue, std::int64_t rows, std::int64_t columns, const std::byte* cells,
               std::byte* state, std::int64_t* first_wrong);

/// cells = the `rows` rows of the state, as dense bytes.
void unpack_sand(CpuQueue& queue, std::int64_t rows, std::int64_t columns, const std::byte* state,
                 std::byte* cells);
void unpack_sand(CudaQueue& queue, std::int64_t rows, std::int64_t columns, const std::byte* state,
                 std::byte* cells);

/// Bytes of the tables that `advance_sand` reads: what the draws of a column have in common.
std::int64_t sand_table_bytes(Backend backend, const Sand& sand);

/// Fills `tables` (device memory, sand_table_bytes(), aligned to 64 bytes); once a job.
void make_sand_tables(CpuQueue& queue, const Sand& sand, std::byte* tables);
void make_sand_tables(CudaQueue& queue, const Sand& sand, std::byte* tables);

/// Goes from `generation` to `generation` + `generations` (≥ 0): `from` holds the rows of `band` at
/// the first, `to` gets them at the last. Only sand_rows_after() of them are right; the others have
/// no meaning. Both are in device memory, aligned to 16 bytes, band.rows · sand_row_bytes() long
/// and do not overlap; what `from` holds afterwards has no meaning.
///
/// The same cells on every queue and for every way to cut the grid into bands or the generations
/// into calls. The CUDA form returns before the work is done.
void advance_sand(CpuQueue& queue, const Sand& sand, const SandBand& band, std::uint64_t generation,
                  std::int64_t generations, std::byte* from, std::byte* to,
                  const std::byte* tables);
void advance_sand(CudaQueue& queue, const Sand& sand, const SandBand& band,
                  std::uint64_t generation, std::int64_t generations, std::byte* from,
                  std::byte* to, const std::byte* tables);

} // namespace runner
