// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/queue/launch.cuh"
#include "kernels/sand/sand.hpp"

#include <algorithm>

namespace runner {
namespace {

constexpr unsigned warps_a_block = 8;
constexpr unsigned all_lanes = 0xFFFFFFFFU;

/// Calls `work(row, group)` for each group of 64 columns, a warp each.
template <class Work>
__device__ void for_each_group(std::int64_t rows, std::int64_t groups, Work&& work) {
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * warps_a_block;
    std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * warps_a_block + (threadIdx.x >> 5U);
    for (; i < rows * groups; i += stride) {
        work(i / groups, i % groups);
    }
}

/// Bits 0, 2, 4, … of `bits`, side by side.
__device__ std::uint32_t even_bits(std::uint64_t bits) {
    bits &= 0x5555555555555555U;
    bits = (bits | (bits >> 1U)) & 0x3333333333333333U;
    bits = (bits | (bits >> 2U)) & 0x0F0F0F0F0F0F0F0FU;
    bits = (bits | (bits >> 4U)) & 0x00FF00FF00FF00FFU;
    bits = (bits | (bits >> 8U)) & 0x0000FFFF0000FFFFU;
    return static_cast<std::uint32_t>(bits | (bits >> 16U));
}

__device__ std::uint64_t vote(bool first, bool second) {
    const std::uint32_t low = __ballot_sync(all_lanes, first);
    const std::uint32_t high = __ballot_sync(all_lanes, second);
    return low | (static_cast<std::uint64_t>(high) << 32U);
}

__global__ void set_kernel(unsigned long long* value, unsigned long long to) { *value = to; }

__global__ void pack_kernel(std::int64_t rows, std::int64_t columns, const std::uint8_t* cells,
                            std::uint32_t* state, unsigned long long* first_wrong) {
    const std::int64_t groups = (columns + 63) / 64;
    const unsigned lane = threadIdx.x & 31U;
    for_each_group(rows, groups, [&](std::int64_t row, std::int64_t group) {
        std::uint32_t pair[2] = {0, 0};
        for (int half = 0; half < 2; ++half) {
            const std::int64_t column = 64 * group + 32 * half + lane;
            if (column < columns) {
                pair[half] = cells[row * columns + column];
                if (pair[half] > 3) {
                    atomicMin(first_wrong, static_cast<unsigned long long>(row * columns + column));
                }
            }
        }
        const std::uint64_t high = vote((pair[0] & 2U) != 0, (pair[1] & 2U) != 0);
        const std::uint64_t low = vote((pair[0] & 1U) != 0, (pair[1] & 1U) != 0);
        if (lane < 4) {
            const std::uint64_t bits = (lane & 1U) == 0 ? high : low;
            state[(row * groups + group) * 4 + lane] = even_bits(bits >> (lane >> 1U));
        }
    });
}

__global__ void unpack_kernel(std::int64_t rows, std::int64_t columns, const uint4* state,
                              std::uint8_t* cells) {
    const std::int64_t groups = (columns + 63) / 64;
    const unsigned lane = threadIdx.x & 31U;
    for_each_group(rows, groups, [&](std::int64_t row, std::int64_t group) {
        const uint4 planes = state[row * groups + group];
        const std::uint32_t high = (lane & 1U) == 0 ? planes.x : planes.z;
        const std::uint32_t low = (lane & 1U) == 0 ? planes.y : planes.w;
        for (unsigned half = 0; half < 2; ++half) {
            const std::int64_t column = 64 * group + 32 * half + lane;
            const unsigned bit = 16 * half + (lane >> 1U);
            if (column < columns) {
                cells[row * columns + column] =
                    static_cast<std::uint8_t>((((high >> bit) & 1U) << 1U) | ((low >> bit) & 1U));
            }
        }
    });
}

LaunchShape shape_of(std::int64_t rows, std::int64_t columns) {
    const std::int64_t groups = rows * ((columns + 63) / 64);
    const std::int64_t blocks = (groups + warps_a_block - 1) / warps_a_block;
    return {dim3(static_cast<unsigned>(std::clamp<std::int64_t>(blocks, 1, 16384))),
            dim3(32 * warps_a_block)};
}

} // namespace

void pack_sand(CudaQueue& queue, std::int64_t rows, std::int64_t columns, const std::byte* cells,
               std::byte* state, std::int64_t* first_wrong) {
    auto* wrong = reinterpret_cast<unsigned long long*>(first_wrong);
    launch(queue, {dim3(1), dim3(1)}, set_kernel, wrong,
           static_cast<unsigned long long>(rows * columns));
    launch(queue, shape_of(rows, columns), pack_kernel, rows, columns,
           reinterpret_cast<const std::uint8_t*>(cells), reinterpret_cast<std::uint32_t*>(state),
           wrong);
}

void unpack_sand(CudaQueue& queue, std::int64_t rows, std::int64_t columns, const std::byte* state,
                 std::byte* cells) {
    launch(queue, shape_of(rows, columns), unpack_kernel, rows, columns,
           reinterpret_cast<const uint4*>(state), reinterpret_cast<std::uint8_t*>(cells));
}

} // namespace runner
