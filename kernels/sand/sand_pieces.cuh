// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace runner::sand_cuda {

/// Which ones and zeros the high and the low bits of some cells have.
class SandBits {
  public:
    __device__ __forceinline__ void add(const uint4& cells) {
        any_high_ |= cells.x | cells.z;
        any_low_ |= cells.y | cells.w;
        all_high_ &= cells.x & cells.z;
        all_low_ &= cells.y & cells.w;
    }

    /// Bits 0 and 1: some high bit is one, is zero; bits 2 and 3: some low bit. 0 without cells.
    __device__ __forceinline__ int seen() const {
        return (any_high_ != 0 ? 1 : 0) | (all_high_ != ~0U ? 2 : 0) | (any_low_ != 0 ? 4 : 0) |
               (all_low_ != ~0U ? 8 : 0);
    }

    /// Whether the cells with these bits are all of one material.
    static __device__ __forceinline__ bool one_material(int seen) {
        return (seen & 3) != 3 && (seen & 12) != 12;
    }

  private:
    std::uint32_t any_high_ = 0;
    std::uint32_t any_low_ = 0;
    std::uint32_t all_high_ = ~0U;
    std::uint32_t all_low_ = ~0U;
};

/// The pieces of a tile, a group by 64 rows each, that can change in a launch. A piece that is of
/// one material with all pieces around it stays so: in a generation a change gets one row and one
/// column further, and a launch has fewer generations than a piece has rows or half a group
/// columns. Lies in shared memory.
struct SandPieces {
    static constexpr int most = 17 * 2;

    int seen[most]; ///< SandBits::seen() of the cells in the grid; piece = group · thirties +
                    ///< height
    int count;      ///< of `moving`
    int moving[most];

    /// Whether a piece of `groups` groups, which are a ring, by `thirties` stays as it is.
    template <int thirties> __device__ __forceinline__ bool stays(int piece, int groups) const {
        const int group = piece / thirties;
        const int height = piece - group * thirties;
        int around = 0;
#pragma unroll
        for (int above = -1; above <= 1; ++above) {
            if (height + above < 0 || height + above >= thirties) {
                continue;
            }
            const int left = group == 0 ? groups - 1 : group - 1;
            const int right = group == groups - 1 ? 0 : group + 1;
            around |= seen[left * thirties + height + above] |
                      seen[group * thirties + height + above] |
                      seen[right * thirties + height + above];
        }
        return SandBits::one_material(around);
    }
};

} // namespace runner::sand_cuda
