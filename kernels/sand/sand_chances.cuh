// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/sand/sand_words.cuh"

#include <cstdint>

namespace runner::sand_cuda {

/// A threshold as words of ones and zeros.
struct SandThreshold {
    std::uint32_t value;
    std::uint32_t words[16];

    __device__ __forceinline__ std::uint32_t word(int i) const { return words[i]; }
};

/// A threshold that the compiler knows, so that comparing takes half the work.
template <std::uint32_t known> struct KnownThreshold {
    static constexpr std::uint32_t value = known;

    __device__ __forceinline__ std::uint32_t word(int i) const {
        return ((known >> i) & 1U) != 0 ? ~0U : 0U;
    }
};

/// Which thresholds a kernel is made for: any, or those of the published chances.
enum class Chances { any, published };

/// A launch: some generations of all tiles. A tile keeps 2^log_words groups and 64 · thirties − 2 ·
/// margin rows of what it works on.
struct SandLaunch {
    const uint4* from; ///< rows of the band, `groups` a row: even high, even low, odd high, odd low
    uint4* to;
    const uint4* tables; ///< sand_cuda_table_bytes() describes them
    std::int64_t groups;
    std::int64_t rows; ///< of the whole grid
    std::int64_t columns;
    std::int64_t held_first; ///< the band's rows
    std::int64_t held_rows;
    std::int64_t strips; ///< tiles side by side
    std::int64_t first_tile;
    std::uint64_t generation;
    int generations; ///< ≤ margin
    int margin;      ///< rows above and below those kept, even, ≤ 32
    int log_words;
    std::uint32_t seed;
    SandThreshold threshold[5];
};

/// All ones where bit `bit` of `value` is one.
__device__ __forceinline__ std::uint32_t spread_bit(std::uint32_t value, int bit) {
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(value << (31 - bit)) >> 31);
}

/// The threshold of the chance with that number, in SandThresholds' order.
template <Chances chances, unsigned number>
__device__ __forceinline__ auto threshold_of(const SandLaunch& launch) {
    if constexpr (chances == Chances::any) {
        return launch.threshold[number];
    } else {
        constexpr SandThresholds published;
        constexpr std::uint32_t values[5] = {published.sand_slide, published.sand_fall,
                                             published.water_fall, published.water_diagonal,
                                             published.water_spread};
        return KnownThreshold<values[number]>{};
    }
}

/// Draws of one warp's blocks, prepared when the first lane needs many.
template <Chances chances> class SandWarpChances {
  public:
    /// The chances of blocks whose first is in column `column`; those of the word's high half are
    /// `back` columns further left than their place in the word says.
    __device__ __forceinline__ SandWarpChances(const SandLaunch& launch, const uint4* x_planes,
                                               std::uint32_t column, int back, std::uint32_t row,
                                               std::uint32_t generation)
        : launch_(launch), x_planes_(x_planes), column_term_(column * sand_x_factor),
          back_term_(static_cast<std::uint32_t>(back) * sand_x_factor),
          row_(sand_row_part(row, generation, launch.seed)) {}

    template <unsigned salt>
    __device__ __forceinline__ std::uint32_t operator()(SandSalt<salt> /*salt*/,
                                                        std::uint32_t need) {
        if (!__any_sync(0xFFFFFFFFU, need != 0)) {
            return 0;
        }
        const auto threshold = threshold_of<chances, (salt < 5 ? salt : 4)>(launch_);
        const bool cheap = threshold.value > 65535 || (started_ && threshold.value == 65535);
        if (!cheap && !__any_sync(0xFFFFFFFFU, __popc(need) > most_single)) {
            return draw_single<salt>(threshold.value, need);
        }
        if (!started_) {
            begin();
        }
        return sand_chance<salt>(start_, threshold);
    }

  private:
    /// Blocks of a lane that are drawn one by one: each takes about a fifth of what all take at
    /// once.
    static constexpr int most_single = 5;

    __device__ __forceinline__ void begin() {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const uint4 x = x_planes_[i];
            start_.bit[4 * i] = x.x ^ spread_bit(row_, 4 * i);
            start_.bit[4 * i + 1] = x.y ^ spread_bit(row_, 4 * i + 1);
            start_.bit[4 * i + 2] = x.z ^ spread_bit(row_, 4 * i + 2);
            start_.bit[4 * i + 3] = x.w ^ spread_bit(row_, 4 * i + 3);
        }
        started_ = true;
    }

    /// The draws of the blocks in `need`, one after the other; threshold < 65536. All below bit 16
    /// is held in the high half of a word, so that what lies above it is lost without an operation.
    template <unsigned salt>
    __device__ __forceinline__ std::uint32_t draw_single(std::uint32_t threshold,
                                                         std::uint32_t need) const {
        const std::uint32_t part = row_ ^ sand_salt_part(salt);
        std::uint32_t below = 0;
        while (need != 0) {
            const auto bit = static_cast<std::uint32_t>(31 - __clz(static_cast<int>(need)));
            const std::uint32_t block = 1U << bit;
            need ^= block;
            const std::uint32_t n =
                column_term_ + bit * (2 * sand_x_factor) - (bit >> 4) * back_term_;
            const std::uint32_t t = n ^ (n >> 13) ^ part;
            below |= t * (0x9F61U << 16) < threshold << 16 ? block : 0U;
        }
        return below;
    }

    const SandLaunch& launch_;
    const uint4* x_planes_; ///< of the warp's word
    std::uint32_t column_term_;
    std::uint32_t back_term_;
    std::uint32_t row_;
    bool started_ = false;
    SandDrawPlanes<std::uint32_t> start_;
};

} // namespace runner::sand_cuda
