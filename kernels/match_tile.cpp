// SPDX-License-Identifier: BSD-3-Clause
// Squares keep arrays of vectors, which vectors of a length unknown to the compiler cannot be in.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/match_tile.cpp"
#include <hwy/foreach_target.h>

#include "kernels/fused-inl.hpp"
#include "kernels/match_tile.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace runner {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Keys = hn::ScalableTag<std::int64_t>;

HWY_INLINE std::int64_t float_lanes() { return static_cast<std::int64_t>(hn::Lanes(Floats())); }

/// Distances of a vector, of which some are worth a look.
struct Found {
    alignas(64) float distance[hn::MaxLanes(Floats())];
    std::uint64_t lanes; ///< a bit each

    HWY_INLINE Found(hn::Vec<Floats> values, hn::Mask<Floats> mask) : lanes(0) {
        const Floats d;
        hn::Store(values, d, distance);
        std::uint8_t bits[8] = {};
        hn::StoreMaskBits(d, mask, bits);
        std::memcpy(&lanes, bits, sizeof bits);
    }

    template <class Take> HWY_INLINE void each(const Take& take) const {
        for (std::uint64_t left = lanes; left != 0; left &= left - 1) {
            const int lane = std::countr_zero(left);
            take(lane, distance[lane]);
        }
    }
};

HWY_INLINE std::int64_t key_of(float distance, std::uint32_t number) {
    return static_cast<std::int64_t>(std::uint64_t{std::bit_cast<std::uint32_t>(distance)} << 32 |
                                     number);
}

/// Puts `key` into the sorted list; its last key goes, or `key` if that is more. Before the list
/// stands a key that is less than all.
HWY_INLINE void insert(std::int64_t* list, int count, std::int64_t key) {
    const Keys d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const auto value = hn::Set(d, key);
    for (std::int64_t i = (count + lanes - 1) / lanes * lanes - lanes; i >= 0; i -= lanes) {
        const auto before = hn::LoadU(d, list + i - 1);
        hn::StoreU(hn::Min(hn::LoadU(d, list + i), hn::Max(before, value)), d, list + i);
    }
}

HWY_INLINE void clear(std::int64_t* list, int count) {
    const std::int64_t keys = match_list_keys(count);
    list[-1] = -1;
    std::fill_n(list, keys - 1, no_match);
}

/// Writes a list out as row `row`, of the reference with this corner.
void put_row(const MatchWork& work, const std::int64_t* list, std::int64_t row, std::int64_t z,
             std::int64_t y, std::int64_t x, const MatchLists& lists) {
    std::uint64_t* index = lists.index + row * work.count;
    float* distance = lists.distance + row * work.count;
    const std::int64_t* end = std::find(list, list + work.count, no_match);
    const auto found = static_cast<int>(end - list);
    for (int i = 0; i < work.count; ++i) {
        if (i >= found) {
            index[i] = ~std::uint64_t{0};
            distance[i] = std::numeric_limits<float>::infinity();
            continue;
        }
        const std::int64_t key = list[work.order == MatchOrder::nearest_first ? i : found - 1 - i];
        const std::int64_t number = key & 0xFFFFFFFF;
        const std::int64_t dx = number % work.window(2) - work.half[2];
        const std::int64_t dy = number / work.window(2) % work.window(1) - work.half[1];
        const std::int64_t dz = number / work.window(2) / work.window(1) - work.half[0];
        index[i] = static_cast<std::uint64_t>(work.index(z + dz, y + dy, x + dx));
        distance[i] =
            std::bit_cast<float>(static_cast<std::uint32_t>(key >> 32)) / work.patch_voxels;
    }
    lists.count[row] = found;
}

/// 0, −1, 1, −2, 2 …: near candidates are likely to be good ones, and good ones early save work.
HWY_INLINE std::int64_t from_centre(std::int64_t i) { return i % 2 == 0 ? i / 2 : -(i + 1) / 2; }

/// A rectangle of one layer of references at one offset.
struct Range {
    std::int64_t first;
    std::int64_t end;
};

/// Those of [first, end) for which there is a corner at `offset`.
HWY_INLINE Range inside(std::int64_t first, std::int64_t end, std::int64_t offset,
                        std::int64_t last_corner) {
    return {std::max(first, -offset), std::min(end, last_corner + 1 - offset)};
}

/// All offsets of one box of references.
class DenseBox {
  public:
    DenseBox(const MatchWork& work, const MatchBox& box, const float* volume,
             const MatchTileMemory& layout, std::byte* memory)
        : work_(work), box_(box), volume_(volume), pitch_(layout.pitch()),
          square_rows_(box.extent(1) + work.patch[1] - 1), squares_(layout.squares(memory)),
          sums_(layout.sums(memory)), worst_(layout.worst(memory)),
          worst_number_(layout.worst_number(memory)), keys_(layout.keys(memory)),
          list_keys_(match_list_keys(work.count)),
          voxels_(work.in_layers * work.volume[1] * work.volume[2]) {}

    void start() {
        const std::int64_t rows = box_.extent(0) * box_.extent(1);
        std::fill_n(worst_, rows * pitch_, work_.most);
        std::fill_n(worst_number_, rows * pitch_, ~std::uint32_t{0});
        for (std::int64_t i = 0; i < box_.references(); ++i) {
            clear(list(i), work_.count);
        }
    }

    void visit_all() {
        for (std::int64_t i = 0; i < work_.window(0); ++i) {
            for (std::int64_t j = 0; j < work_.window(1); ++j) {
                for (std::int64_t k = 0; k < work_.window(2); ++k) {
                    visit(from_centre(i), from_centre(j), from_centre(k));
                }
            }
        }
    }

    void put(const MatchLists& lists) const {
        std::int64_t i = 0;
        for (std::int64_t z = box_.first[0]; z < box_.end[0]; ++z) {
            for (std::int64_t y = box_.first[1]; y < box_.end[1]; ++y) {
                for (std::int64_t x = box_.first[2]; x < box_.end[2]; ++x, ++i) {
                    put_row(work_, list(i), (z * work_.grid[1] + y) * work_.grid[2] + x,
                            work_.first + z, y, x, lists);
                }
            }
        }
    }

  private:
    std::int64_t* list(std::int64_t reference) const { return keys_ + reference * list_keys_ + 1; }

    /// The place in the buffer of a voxel of the volume.
    std::int64_t place(std::int64_t z, std::int64_t y, std::int64_t x) const {
        return work_.index(z - work_.in_first, y, x);
    }

    void visit(std::int64_t dz, std::int64_t dy, std::int64_t dx) {
        z_ = inside(work_.first + box_.first[0], work_.first + box_.end[0], dz, work_.corner[0]);
        y_ = inside(box_.first[1], box_.end[1], dy, work_.corner[1]);
        x_ = inside(box_.first[2], box_.end[2], dx, work_.corner[2]);
        if (z_.first >= z_.end || y_.first >= y_.end || x_.first >= x_.end) {
            return;
        }
        number_ = static_cast<std::uint32_t>(
            ((dz + work_.half[0]) * work_.window(1) + dy + work_.half[1]) * work_.window(2) + dx +
            work_.half[2]);
        const std::int64_t offset = work_.index(dz, dy, dx);
        // A vector may reach past the last voxel that is asked for, and so past the buffer's end.
        const std::int64_t last = place(z_.end - 2 + work_.patch[0], y_.end - 2 + work_.patch[1],
                                        x_.end - 2 + work_.patch[2]) +
                                  std::max<std::int64_t>(0, offset);
        if (last + float_lanes() <= voxels_) {
            add_squares<false>(offset);
        } else {
            add_squares<true>(offset);
        }
        choose_sums();
    }

    template <bool at_end> void add_squares(std::int64_t offset) {
        switch (work_.patch[0]) {
        case 1: return add_squares<at_end, 1>(offset);
        case 2: return add_squares<at_end, 2>(offset);
        case 3: return add_squares<at_end, 3>(offset);
        case 4: return add_squares<at_end, 4>(offset);
        case 5: return add_squares<at_end, 5>(offset);
        case 6: return add_squares<at_end, 6>(offset);
        case 7: return add_squares<at_end, 7>(offset);
        default: return add_squares<at_end, 8>(offset);
        }
    }

    template <bool at_end> HWY_INLINE hn::Vec<Floats> load(std::int64_t at) const {
        const Floats d;
        if constexpr (at_end) {
            if (at + float_lanes() > voxels_) {
                const std::int64_t left = std::max<std::int64_t>(0, voxels_ - at);
                alignas(64) float part[hn::MaxLanes(Floats())] = {};
                std::copy_n(volume_ + (left > 0 ? at : 0), left, part);
                return hn::Load(d, part);
            }
        }
        return hn::LoadU(d, volume_ + at);
    }

    /// Sums along z, for all columns that the sums of this offset take.
    template <bool at_end, int pz> HWY_NOINLINE void add_squares(std::int64_t offset) {
        const Floats d;
        const std::int64_t layer = work_.volume[1] * work_.volume[2];
        const std::int64_t layers = z_.end - z_.first;
        const std::int64_t columns = x_.end - x_.first + work_.patch[2] - 1;
        const std::int64_t rows = y_.end - y_.first + work_.patch[1] - 1;
        for (std::int64_t y = 0; y < rows; ++y) {
            const std::int64_t from = place(z_.first, y_.first + y, x_.first);
            float* to = squares_ + y * pitch_;
            for (std::int64_t x = 0; x < columns; x += float_lanes()) {
                hn::Vec<Floats> e[pz];
                std::int64_t at = from + x;
#pragma GCC unroll 8
                for (int i = 1; i < pz; ++i, at += layer) {
                    e[i] = hn::Sub(load<at_end>(at), load<at_end>(at + offset));
                }
                for (std::int64_t z = 0; z < layers; ++z, at += layer) {
#pragma GCC unroll 8
                    for (int i = 1; i < pz; ++i) {
                        e[i - 1] = e[i];
                    }
                    e[pz - 1] = hn::Sub(load<at_end>(at), load<at_end>(at + offset));
                    auto sum = hn::Mul(e[0], e[0]);
#pragma GCC unroll 8
                    for (int i = 1; i < pz; ++i) {
                        sum = fused(d, e[i], e[i], sum);
                    }
                    hn::StoreU(sum, d, to + z * square_rows_ * pitch_ + x);
                }
            }
        }
    }

    void choose_sums() {
        switch (work_.patch[2]) {
        case 1: return choose_sums<1>();
        case 2: return choose_sums<2>();
        case 3: return choose_sums<3>();
        case 4: return choose_sums<4>();
        case 5: return choose_sums<5>();
        case 6: return choose_sums<6>();
        case 7: return choose_sums<7>();
        default: return choose_sums<8>();
        }
    }

    /// Sums along y and x, and what of them belongs into the lists.
    template <int px> HWY_NOINLINE void choose_sums() {
        for (std::int64_t z = z_.first; z < z_.end; ++z) {
            for (std::int64_t y = y_.first; y < y_.end; ++y) {
                const float* from =
                    squares_ + ((z - z_.first) * square_rows_ + y - y_.first) * pitch_;
                add_rows(from, x_.end - x_.first + px - 1);
                const std::int64_t row =
                    (z - work_.first - box_.first[0]) * box_.extent(1) + y - box_.first[1];
                choose_row<px>(row);
            }
        }
    }

    HWY_INLINE void add_rows(const float* from, std::int64_t columns) {
        const Floats d;
        for (std::int64_t x = 0; x < columns; x += float_lanes()) {
            auto sum = hn::LoadU(d, from + x);
            for (std::int64_t j = 1; j < work_.patch[1]; ++j) {
                sum = hn::Add(sum, hn::LoadU(d, from + j * pitch_ + x));
            }
            hn::StoreU(sum, d, sums_ + x);
        }
    }

    template <int px> HWY_INLINE void choose_row(std::int64_t row) {
        const Floats d;
        const std::int64_t skip = x_.first - box_.first[2];
        const std::int64_t columns = x_.end - x_.first;
        const float* worst = worst_ + row * pitch_ + skip;
        for (std::int64_t x = 0; x < columns; x += float_lanes()) {
            auto sum = hn::LoadU(d, sums_ + x);
#pragma GCC unroll 8
            for (int i = 1; i < px; ++i) {
                sum = hn::Add(sum, hn::LoadU(d, sums_ + x + i));
            }
            auto near = hn::Le(sum, hn::LoadU(d, worst + x));
            if (HWY_UNLIKELY(!hn::AllFalse(d, near))) {
                if (x + float_lanes() > columns) {
                    near = hn::And(near, hn::FirstN(d, static_cast<std::size_t>(columns - x)));
                }
                take(sum, near, row, skip + x);
            }
        }
    }

    /// Enters what is better than the last match. Equal distances are common where a volume is
    /// constant, and most of them are no better.
    HWY_NOINLINE void take(hn::Vec<Floats> sum, hn::Mask<Floats> near, std::int64_t row,
                           std::int64_t x) {
        const Floats d;
        const hn::Rebind<std::uint32_t, Floats> numbers;
        float* worst = worst_ + row * pitch_ + x;
        std::uint32_t* worst_number = worst_number_ + row * pitch_ + x;
        const auto before =
            hn::RebindMask(d, hn::Lt(hn::Set(numbers, number_), hn::LoadU(numbers, worst_number)));
        const auto nearer = hn::Lt(sum, hn::LoadU(d, worst));
        const Found found(sum, hn::And(near, hn::Or(nearer, before)));
        found.each([&](int lane, float distance) {
            std::int64_t* keys = list(row * box_.extent(2) + x + lane);
            insert(keys, work_.count, key_of(distance, number_));
            if (const std::int64_t last = keys[work_.count - 1]; last != no_match) {
                worst[lane] = std::bit_cast<float>(static_cast<std::uint32_t>(last >> 32));
                worst_number[lane] = static_cast<std::uint32_t>(last & 0xFFFFFFFF);
            }
        });
    }

    const MatchWork& work_;
    const MatchBox& box_;
    const float* volume_;
    std::int64_t pitch_;
    std::int64_t square_rows_;
    float* squares_;
    float* sums_;
    float* worst_;
    std::uint32_t* worst_number_;
    std::int64_t* keys_;
    std::int64_t list_keys_;
    std::int64_t voxels_;
    // Of the offset that is visited: what references have it, in the whole volume.
    Range z_{};
    Range y_{};
    Range x_{};
    std::uint32_t number_ = 0;
};

/// One reference after the other.
class SparseRun {
  public:
    SparseRun(const MatchWork& work, const float* volume)
        : work_(work), volume_(volume), voxels_(work.in_layers * work.volume[1] * work.volume[2]) {}

    void match(std::int64_t row, const MatchLists& lists) {
        std::int64_t at[3];
        at[0] = work_.reference(0, row / work_.grid[2] / work_.grid[1]);
        at[1] = work_.reference(1, row / work_.grid[2] % work_.grid[1]);
        at[2] = work_.reference(2, row % work_.grid[2]);
        start(at);
        Range range[3];
        for (int i = 0; i < 3; ++i) {
            range[i] = {std::max<std::int64_t>(0, at[i] - work_.half[i]),
                        std::min(work_.corner[i], at[i] + work_.half[i]) + 1};
        }
        for (std::int64_t i = 0; i < work_.window(0); ++i) {
            const std::int64_t z = at[0] + from_centre(i);
            for (std::int64_t j = 0; j < work_.window(1); ++j) {
                const std::int64_t y = at[1] + from_centre(j);
                if (z >= range[0].first && z < range[0].end && y >= range[1].first &&
                    y < range[1].end) {
                    match_line(at, z, y, range[2]);
                }
            }
        }
        put_row(work_, list_ + 1, row, at[0], at[1], at[2], lists);
    }

  private:
    /// The patch in the order of the sums.
    void start(const std::int64_t (&at)[3]) {
        clear(list_ + 1, work_.count);
        worst_ = work_.most;
        std::size_t i = 0;
        for (std::int64_t x = 0; x < work_.patch[2]; ++x) {
            for (std::int64_t y = 0; y < work_.patch[1]; ++y) {
                for (std::int64_t z = 0; z < work_.patch[0]; ++z) {
                    patch_[i++] =
                        volume_[work_.index(at[0] + z - work_.in_first, at[1] + y, at[2] + x)];
                }
            }
        }
    }

    HWY_INLINE hn::Vec<Floats> load(std::int64_t at) const {
        const Floats d;
        if (HWY_UNLIKELY(at + float_lanes() > voxels_)) {
            const std::int64_t left = std::max<std::int64_t>(0, voxels_ - at);
            alignas(64) float part[hn::MaxLanes(Floats())] = {};
            std::copy_n(volume_ + (left > 0 ? at : 0), left, part);
            return hn::Load(d, part);
        }
        return hn::LoadU(d, volume_ + at);
    }

    /// Sums of as many candidates as a vector has lanes, from the place of the first in the buffer.
    HWY_INLINE hn::Vec<Floats> distances(std::int64_t from) const {
        const Floats d;
        const std::int64_t row = work_.volume[2];
        const std::int64_t layer = work_.volume[1] * row;
        const float* patch = patch_;
        auto sum = hn::Zero(d);
        for (std::int64_t x = 0; x < work_.patch[2]; ++x) {
            auto line = hn::Zero(d);
            for (std::int64_t y = 0; y < work_.patch[1]; ++y) {
                std::int64_t at = from + x + y * row;
                auto e = hn::Sub(hn::Set(d, *patch++), load(at));
                auto square = hn::Mul(e, e);
                for (std::int64_t z = 1; z < work_.patch[0]; ++z) {
                    at += layer;
                    e = hn::Sub(hn::Set(d, *patch++), load(at));
                    square = fused(d, e, e, square);
                }
                line = y == 0 ? square : hn::Add(line, square);
            }
            sum = x == 0 ? line : hn::Add(sum, line);
        }
        return sum;
    }

    void match_line(const std::int64_t (&at)[3], std::int64_t z, std::int64_t y,
                    const Range& line) {
        const Floats d;
        const std::int64_t number =
            ((z - at[0] + work_.half[0]) * work_.window(1) + y - at[1] + work_.half[1]) *
                work_.window(2) -
            at[2] + work_.half[2];
        for (std::int64_t x = line.first; x < line.end; x += float_lanes()) {
            const auto sum = distances(work_.index(z - work_.in_first, y, x));
            auto near = hn::Le(sum, hn::Set(d, worst_));
            near = hn::And(near, hn::FirstN(d, static_cast<std::size_t>(line.end - x)));
            if (hn::AllFalse(d, near)) {
                continue;
            }
            Found(sum, near).each([&](int lane, float distance) {
                const std::int64_t key =
                    key_of(distance, static_cast<std::uint32_t>(number + x + lane));
                std::int64_t& last = list_[work_.count];
                if (key < last) {
                    insert(list_ + 1, work_.count, key);
                }
            });
            if (const std::int64_t last = list_[work_.count]; last != no_match) {
                worst_ = std::bit_cast<float>(static_cast<std::uint32_t>(last >> 32));
            }
        }
    }

    const MatchWork& work_;
    const float* volume_;
    std::int64_t voxels_;
    float worst_ = 0;
    float patch_[Match::max_patch * Match::max_patch * Match::max_patch] = {};
    std::int64_t list_[match_list_keys(Match::max_count)] = {};
};

void dense_box(const MatchWork& work, const MatchBox& box, const float* volume,
               const MatchLists& lists, const MatchTileMemory& layout, std::byte* memory) {
    DenseBox dense(work, box, volume, layout, memory);
    dense.start();
    dense.visit_all();
    dense.put(lists);
}

void sparse_run(const MatchWork& work, std::int64_t first, std::int64_t end, const float* volume,
                const MatchLists& lists) {
    SparseRun sparse(work, volume);
    for (std::int64_t row = first; row < end; ++row) {
        sparse.match(row, lists);
    }
}

} // namespace HWY_NAMESPACE
} // namespace runner
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace runner {

HWY_EXPORT(dense_box);
HWY_EXPORT(sparse_run);

MatchTileMemory::MatchTileMemory(const MatchWork& work, const std::array<std::int64_t, 3>& extent) {
    constexpr std::int64_t line = 64;
    const auto whole_lines = [](std::int64_t bytes) { return (bytes + line - 1) / line * line; };
    // Two of the longest vectors: one that is partly used, and what a sum along x reads past it.
    constexpr std::int64_t room = 2 * 16 + Match::max_patch;
    pitch_ = (extent[2] + work.patch[2] + room + 15) / 16 * 16;
    sums_ = whole_lines(extent[0] * (extent[1] + work.patch[1] - 1) * pitch_ * 4);
    worst_ = sums_ + whole_lines(pitch_ * 4);
    worst_number_ = worst_ + whole_lines(extent[0] * extent[1] * pitch_ * 4);
    keys_ = worst_number_ + whole_lines(extent[0] * extent[1] * pitch_ * 4);
    lists_ = (extent[0] * extent[1] * extent[2] * match_list_keys(work.count) + 7) / 8 * 8;
}

void match_dense_box(const MatchWork& work, const MatchBox& box, const float* volume,
                     const MatchLists& lists, const MatchTileMemory& layout, std::byte* memory) {
    HWY_DYNAMIC_DISPATCH(dense_box)(work, box, volume, lists, layout, memory);
}

void match_sparse_run(const MatchWork& work, std::int64_t first, std::int64_t end,
                      const float* volume, const MatchLists& lists) {
    HWY_DYNAMIC_DISPATCH(sparse_run)(work, first, end, volume, lists);
}

} // namespace runner
#endif
