// SPDX-License-Identifier: BSD-3-Clause
// Squares keep arrays of vectors, which vectors of a length unknown to the compiler cannot be in.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/match/match_tile.cpp"
#include <hwy/foreach_target.h>

#include "kernels/match/match_list-inl.hpp"
#include "kernels/match/match_tile.hpp"
#include "kernels/queue/fused-inl.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace runner {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// All offsets of one box of references.
class DenseBox {
  public:
    DenseBox(const MatchCall& call, const MatchBox& box, const float* volume,
             const MatchTileMemory& layout, std::byte* memory)
        : call_(call), box_(box), volume_(volume), pitch_(layout.pitch()),
          square_rows_(box.extent(1) + call.patch[1] - 1), squares_(layout.squares(memory)),
          sums_(layout.sums(memory)), worst_(layout.worst(memory)),
          worst_number_(layout.worst_number(memory)), keys_(layout.keys(memory)),
          list_keys_(match_list_keys(call.count)),
          voxels_(call.in_layers * call.volume[1] * call.volume[2]) {}

    void start() {
        const std::int64_t rows = box_.extent(0) * box_.extent(1);
        std::fill_n(worst_, rows * pitch_, call_.most);
        std::fill_n(worst_number_, rows * pitch_, ~std::uint32_t{0});
        for (std::int64_t i = 0; i < box_.references(); ++i) {
            clear(list(i), call_.count);
        }
    }

    void visit_all(const CpuQueue& queue) {
        const double all =
            static_cast<double>(box_.references()) * call_.operations(MatchSelection::fast);
        for (std::int64_t i = 0; i < call_.window(0); ++i) {
            for (std::int64_t j = 0; j < call_.window(1); ++j) {
                for (std::int64_t k = 0; k < call_.window(2); ++k) {
                    visit(from_centre(i), from_centre(j), from_centre(k));
                }
            }
            queue.count(all / static_cast<double>(call_.window(0)));
        }
    }

    void put(const MatchLists& lists) const {
        std::int64_t i = 0;
        for (std::int64_t z = box_.first[0]; z < box_.end[0]; ++z) {
            for (std::int64_t y = box_.first[1]; y < box_.end[1]; ++y) {
                for (std::int64_t x = box_.first[2]; x < box_.end[2]; ++x, ++i) {
                    put_match_row(call_, list(i), (z * call_.grid[1] + y) * call_.grid[2] + x,
                                  call_.first + z, call_.first_line + y, x, lists);
                }
            }
        }
    }

  private:
    std::int64_t* list(std::int64_t reference) const { return keys_ + reference * list_keys_ + 1; }

    /// The place in the buffer of a voxel of the volume.
    std::int64_t place(std::int64_t z, std::int64_t y, std::int64_t x) const {
        return call_.index(z - call_.in_first, y, x);
    }

    void visit(std::int64_t dz, std::int64_t dy, std::int64_t dx) {
        z_ = inside(call_.first + box_.first[0], call_.first + box_.end[0], dz, call_.corner[0]);
        y_ = inside(call_.first_line + box_.first[1], call_.first_line + box_.end[1], dy,
                    call_.corner[1]);
        x_ = inside(box_.first[2], box_.end[2], dx, call_.corner[2]);
        if (z_.first >= z_.end || y_.first >= y_.end || x_.first >= x_.end) {
            return;
        }
        number_ = static_cast<std::uint32_t>(
            ((dz + call_.half[0]) * call_.window(1) + dy + call_.half[1]) * call_.window(2) + dx +
            call_.half[2]);
        const std::int64_t offset = call_.index(dz, dy, dx);
        // A vector may reach past the last voxel that is asked for, and so past the buffer's end.
        const std::int64_t last = place(z_.end - 2 + call_.patch[0], y_.end - 2 + call_.patch[1],
                                        x_.end - 2 + call_.patch[2]) +
                                  std::max<std::int64_t>(0, offset);
        if (last + float_lanes() <= voxels_) {
            add_squares<false>(offset);
        } else {
            add_squares<true>(offset);
        }
        choose_sums();
    }

    template <bool at_end> void add_squares(std::int64_t offset) {
        switch (call_.patch[0]) {
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
        const std::int64_t layer = call_.volume[1] * call_.volume[2];
        const std::int64_t layers = z_.end - z_.first;
        const std::int64_t columns = x_.end - x_.first + call_.patch[2] - 1;
        const std::int64_t rows = y_.end - y_.first + call_.patch[1] - 1;
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
        switch (call_.patch[2]) {
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
                const std::int64_t row = (z - call_.first - box_.first[0]) * box_.extent(1) + y -
                                         call_.first_line - box_.first[1];
                choose_row<px>(row);
            }
        }
    }

    HWY_INLINE void add_rows(const float* from, std::int64_t columns) {
        const Floats d;
        for (std::int64_t x = 0; x < columns; x += float_lanes()) {
            auto sum = hn::LoadU(d, from + x);
            for (std::int64_t j = 1; j < call_.patch[1]; ++j) {
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
            insert(keys, call_.count, match_key(distance, number_));
            if (const std::int64_t last = keys[call_.count - 1]; last != no_match) {
                worst[lane] = std::bit_cast<float>(static_cast<std::uint32_t>(last >> 32));
                worst_number[lane] = static_cast<std::uint32_t>(last & 0xFFFFFFFF);
            }
        });
    }

    const MatchCall& call_;
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
    // The references that have the offset which is visited, in the whole volume.
    Range z_{};
    Range y_{};
    Range x_{};
    std::uint32_t number_ = 0;
};

void dense_box(const CpuQueue& queue, const MatchCall& call, const MatchBox& box,
               const float* volume, const MatchLists& lists, const MatchTileMemory& layout,
               std::byte* memory) {
    DenseBox dense(call, box, volume, layout, memory);
    dense.start();
    dense.visit_all(queue);
    dense.put(lists);
}

} // namespace HWY_NAMESPACE
} // namespace runner
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace runner {

HWY_EXPORT(dense_box);

MatchTileMemory::MatchTileMemory(const MatchCall& call, const std::array<std::int64_t, 3>& extent) {
    constexpr std::int64_t line = 64;
    const auto whole_lines = [](std::int64_t bytes) { return (bytes + line - 1) / line * line; };
    // Two of the longest vectors: one that is partly used, and what a sum along x reads past it.
    constexpr std::int64_t room = 2 * 16 + Match::max_patch;
    pitch_ = (extent[2] + call.patch[2] + room + 15) / 16 * 16;
    sums_ = whole_lines(extent[0] * (extent[1] + call.patch[1] - 1) * pitch_ * 4);
    worst_ = sums_ + whole_lines(pitch_ * 4);
    worst_number_ = worst_ + whole_lines(extent[0] * extent[1] * pitch_ * 4);
    keys_ = worst_number_ + whole_lines(extent[0] * extent[1] * pitch_ * 4);
    lists_ = (extent[0] * extent[1] * extent[2] * match_list_keys(call.count) + 7) / 8 * 8;
}

void match_dense_box(const CpuQueue& queue, const MatchCall& call, const MatchBox& box,
                     const float* volume, const MatchLists& lists, const MatchTileMemory& layout,
                     std::byte* memory) {
    HWY_DYNAMIC_DISPATCH(dense_box)(queue, call, box, volume, lists, layout, memory);
}

} // namespace runner
#endif
