// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/denoise/window_means_tile.hpp"

// As in match_tile.cpp: rows are padded by a vector of a length known to the compiler.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/denoise/window_means_tile.cpp"
#include <hwy/foreach_target.h>

#include "kernels/queue/fused-inl.hpp"

#include <array>
#include <cstddef>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace runner {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;
using Place = std::array<std::int64_t, 3>;

/// Every row ends with as many elements that may be read and written.
constexpr std::int64_t padding = hn::MaxLanes(Floats());

HWY_INLINE std::int64_t lanes() { return static_cast<std::int64_t>(hn::Lanes(Floats())); }

/// The first `count` of a vector's elements, and zeros.
HWY_INLINE Vector load_some(const float* from, std::int64_t count) {
    HWY_ALIGN float all[hn::MaxLanes(Floats())] = {};
    std::copy_n(from, count, all);
    return hn::Load(Floats(), all);
}

HWY_INLINE void store_some(Vector values, float* to, std::int64_t count) {
    HWY_ALIGN float all[hn::MaxLanes(Floats())];
    hn::Store(values, Floats(), all);
    std::copy_n(all, count, to);
}

/// The weights of a vector of D.
class Weights {
  public:
    explicit Weights(const WindowWeight& weight) : weight_(weight) {}

    HWY_INLINE Vector of(Vector distance) const {
        const Floats d;
        if (weight_.is_step) {
            const auto near = hn::Le(distance, hn::Set(d, weight_.limit));
            return hn::IfThenElseZero(near, hn::Set(d, weight_.one));
        }
        const auto range = hn::Set(d, WindowWeight::range);
        const auto rounder = hn::Set(d, weight_.rounder);
        auto s = fused(d, distance, hn::Set(d, weight_.slope), hn::Set(d, weight_.start));
        s = hn::Min(hn::Max(s, hn::Zero(d)), hn::Set(d, 1.0F));
        const auto rounded = fused(d, s, range, rounder);
        const auto f = fused(d, s, range, hn::Sub(rounder, rounded));
        auto power = hn::Set(d, exp2_term(5));
        for (int i = 4; i >= 0; --i) {
            power = fused(d, power, f, hn::Set(d, exp2_term(i)));
        }
        const hn::RebindToUnsigned<Floats> bits;
        const auto exponent = hn::ShiftLeft<23>(hn::BitCast(bits, rounded));
        const auto value = hn::BitCast(d, hn::Add(hn::BitCast(bits, power), exponent));
        return hn::Sub(value, hn::Set(d, weight_.least));
    }

  private:
    const WindowWeight& weight_;
};

/// to[i] = Σ from[i + k·step], k = 0 … count − 1 in this order, for n elements and what completes
/// the last vector.
HWY_INLINE void add_rows(const float* from, std::int64_t step, int count, std::int64_t n,
                         float* to) {
    const Floats d;
    for (std::int64_t i = 0; i < n; i += lanes()) {
        auto sum = hn::LoadU(d, from + i);
        for (int k = 1; k < count; ++k) {
            sum = hn::Add(sum, hn::LoadU(d, from + i + k * step));
        }
        hn::StoreU(sum, d, to + i);
    }
}

/// All offsets of one tile.
class Tile {
  public:
    Tile(const WindowCall& call, const WindowBox& tile, const float* volume,
         WindowTileMemory& memory)
        : call_(call), tile_(tile), volume_(volume), memory_(memory),
          pitch_(tile.extent(2) + padding) {
        const auto all = static_cast<std::size_t>(tile.extent(0) * tile.extent(1) * pitch_);
        memory_.values.assign(all, 0.0F);
        memory_.sums.assign(all, 0.0F);
    }

    void visit_all(const CpuQueue& queue) {
        const double all = static_cast<double>(tile_.voxels()) * call_.operations();
        visit({0, 0, 0});
        for (std::int64_t z = 0; z <= call_.half[0]; ++z) {
            for (std::int64_t y = z == 0 ? 0 : -call_.half[1]; y <= call_.half[1]; ++y) {
                const bool at_middle = z == 0 && y == 0;
                for (std::int64_t x = at_middle ? 1 : -call_.half[2]; x <= call_.half[2]; ++x) {
                    visit_pair({z, y, x});
                }
            }
            queue.count(all / static_cast<double>(call_.half[0] + 1));
        }
    }

    void put(float* out) const {
        const Floats d;
        const std::int64_t n = tile_.extent(2);
        std::int64_t from = 0;
        for (std::int64_t z = tile_.first[0]; z < tile_.end[0]; ++z) {
            for (std::int64_t y = tile_.first[1]; y < tile_.end[1]; ++y, from += pitch_) {
                float* const to = out +
                                  ((z - call_.held.first) * call_.volume[1] + y) * call_.volume[2] +
                                  tile_.first[2];
                const float* const own = voxel(z, y, tile_.first[2]);
                for (std::int64_t i = 0; i < n; i += lanes()) {
                    const std::int64_t some = std::min(lanes(), n - i);
                    const auto more = hn::Div(hn::LoadU(d, memory_.values.data() + from + i),
                                              hn::LoadU(d, memory_.sums.data() + from + i));
                    // −0 becomes 0, whichever zeros were added.
                    const auto mean = hn::Add(hn::Add(load_some(own + i, some), more), hn::Zero(d));
                    store_some(mean, to + i, some);
                }
            }
        }
    }

  private:
    /// The references of a box of voxels that have a candidate at an offset.
    WindowBox references(const WindowBox& box, const Place& offset) const {
        WindowBox some{};
        for (std::size_t i = 0; i < 3; ++i) {
            const std::int64_t low = box.first[i] - (call_.patch[i] - 1);
            some.first[i] = std::max({std::int64_t{0}, -offset[i], low});
            some.end[i] =
                std::min({call_.corner[i], call_.corner[i] - offset[i], box.end[i] - 1}) + 1;
        }
        return some;
    }

    /// The tile's voxels x with x + offset in the volume.
    WindowBox inside(const Place& offset) const {
        WindowBox some = tile_;
        for (std::size_t i = 0; i < 3; ++i) {
            some.first[i] = std::max(some.first[i], -offset[i]);
            some.end[i] = std::min(some.end[i], call_.volume[i] - offset[i]);
        }
        return some;
    }

    static Place opposite(const Place& offset) { return {-offset[0], -offset[1], -offset[2]}; }

    void visit(const Place& offset) {
        const WindowBox voxels = inside(offset);
        if (!voxels.empty() && cover(voxels, offset)) {
            add(voxels, offset, {0, 0, 0});
        }
    }

    /// As D of a pair is one number, B(x, −o) = B(x − o, o): both at once, unless they lie apart.
    void visit_pair(const Place& offset) {
        const Place back = opposite(offset);
        const WindowBox ahead = inside(offset);
        const WindowBox behind = inside(back);
        WindowBox both = ahead;
        for (std::size_t i = 0; i < 3; ++i) {
            both.first[i] = std::min(both.first[i], behind.first[i] - offset[i]);
            both.end[i] = std::max(both.end[i], behind.end[i] - offset[i]);
        }
        if (ahead.empty() || behind.empty() || both.voxels() >= 2 * tile_.voxels()) {
            visit(offset);
            visit(back);
        } else if (cover(both, offset)) {
            add(ahead, offset, {0, 0, 0});
            add(behind, back, back);
        }
    }

    const float* voxel(std::int64_t z, std::int64_t y, std::int64_t x) const {
        return volume_ + ((z - call_.in.first) * call_.volume[1] + y) * call_.volume[2] + x;
    }

    /// memory_.covered = B of a box; false where all are 0.
    bool cover(const WindowBox& box, const Place& offset) {
        const WindowBox some = references(box, offset);
        if (some.empty()) {
            return false;
        }
        box_ = box;
        covered_pitch_ = box.extent(2) + padding;
        row_ = box.extent(2) + call_.patch[2] - 1 + padding;
        wide_ = box.extent(1) + call_.patch[1] - 1;
        const std::int64_t layers = box.extent(0) + call_.patch[0] - 1;
        memory_.weights.assign(static_cast<std::size_t>(layers * wide_ * row_), 0.0F);
        grow(memory_.squares, (some.extent(1) + call_.patch[1]) * (row_ + padding));
        grow(memory_.lines, (wide_ + 1) * (row_ + padding));
        grow(memory_.covered, box.extent(0) * box.extent(1) * covered_pitch_);
        for (std::int64_t z = some.first[0]; z < some.end[0]; ++z) {
            weigh_layer(some, offset, z);
        }
        for (std::int64_t z = 0; z < box.extent(0); ++z) {
            cover_layer(z);
        }
        return true;
    }

    static void grow(std::vector<float>& memory, std::int64_t floats) {
        if (memory.size() < static_cast<std::size_t>(floats)) {
            memory.resize(static_cast<std::size_t>(floats));
        }
    }

    /// Sums of squares along z of the voxels that a row of patches has, in the row y.
    void square_row(const WindowBox& some, const Place& offset, std::int64_t z, std::int64_t y,
                    float* to) const {
        const Floats d;
        const std::int64_t n = some.extent(2) + call_.patch[2] - 1;
        const std::int64_t layer = call_.volume[1] * call_.volume[2];
        const float* const a = voxel(z, y, some.first[2]);
        const float* const b = voxel(z + offset[0], y + offset[1], some.first[2] + offset[2]);
        const auto sum_of = [&](const auto& load) HWY_ATTR {
            const auto first = hn::Sub(load(a), load(b));
            auto sum = hn::Mul(first, first);
            for (int k = 1; k < call_.patch[0]; ++k) {
                const auto e = hn::Sub(load(a + k * layer), load(b + k * layer));
                sum = fused(d, e, e, sum);
            }
            return sum;
        };
        std::int64_t i = 0;
        for (; i + lanes() <= n; i += lanes()) {
            hn::StoreU(sum_of([&](const float* from) HWY_ATTR { return hn::LoadU(d, from + i); }),
                       d, to + i);
        }
        if (i < n) {
            const auto load = [&](const float* from)
                                  HWY_ATTR { return load_some(from + i, n - i); };
            hn::StoreU(sum_of(load), d, to + i);
        }
    }

    void weigh_layer(const WindowBox& some, const Place& offset, std::int64_t z) {
        const Floats d;
        const Weights weights(call_.weight);
        const std::int64_t n = some.extent(2);
        const std::int64_t pitch = row_ + padding;
        const std::int64_t rows = some.extent(1) + call_.patch[1] - 1;
        for (std::int64_t y = 0; y < rows; ++y) {
            square_row(some, offset, z, some.first[1] + y, memory_.squares.data() + y * pitch);
        }
        float* const sums = memory_.lines.data();
        for (std::int64_t y = 0; y < some.extent(1); ++y) {
            add_rows(memory_.squares.data() + y * pitch, pitch, call_.patch[1],
                     n + call_.patch[2] - 1, sums);
            add_rows(sums, 1, call_.patch[2], n, sums + pitch);
            float* const to = memory_.weights.data() + row_of(z, some.first[1] + y) * row_ +
                              (some.first[2] - (box_.first[2] - (call_.patch[2] - 1)));
            for (std::int64_t i = 0; i < n; i += lanes()) {
                hn::StoreU(weights.of(hn::LoadU(d, sums + pitch + i)), d, to + i);
            }
            std::fill_n(to + n, lanes(), 0.0F);
        }
    }

    /// The row of weights of the references (z, y).
    std::int64_t row_of(std::int64_t z, std::int64_t y) const {
        return (z - (box_.first[0] - (call_.patch[0] - 1))) * wide_ + y -
               (box_.first[1] - (call_.patch[1] - 1));
    }

    /// B of layer `z` of the box.
    void cover_layer(std::int64_t z) {
        const std::int64_t n = box_.extent(2);
        const std::int64_t references = n + call_.patch[2] - 1;
        const std::int64_t pitch = row_ + padding;
        float* const lines = memory_.lines.data();
        for (std::int64_t y = 0; y < wide_; ++y) {
            add_rows(memory_.weights.data() + (z * wide_ + y) * row_, wide_ * row_, call_.patch[0],
                     references, lines + y * pitch);
        }
        float* const sums = lines + wide_ * pitch;
        for (std::int64_t y = 0; y < box_.extent(1); ++y) {
            add_rows(lines + y * pitch, pitch, call_.patch[1], references, sums);
            add_rows(sums, 1, call_.patch[2], n,
                     memory_.covered.data() + (z * box_.extent(1) + y) * covered_pitch_);
        }
    }

    /// Adds (v(x + offset) − v(x))·B(x + shift) for the voxels x of `some`.
    void add(const WindowBox& some, const Place& offset, const Place& shift) {
        const std::int64_t x = some.first[2];
        for (std::int64_t z = some.first[0]; z < some.end[0]; ++z) {
            for (std::int64_t y = some.first[1]; y < some.end[1]; ++y) {
                const std::int64_t row =
                    (z + shift[0] - box_.first[0]) * box_.extent(1) + y + shift[1] - box_.first[1];
                const std::int64_t at =
                    ((z - tile_.first[0]) * tile_.extent(1) + y - tile_.first[1]) * pitch_ + x -
                    tile_.first[2];
                add_row(voxel(z, y, x), voxel(z + offset[0], y + offset[1], x + offset[2]),
                        memory_.covered.data() + row * covered_pitch_ + x + shift[2] -
                            box_.first[2],
                        some.extent(2), at);
            }
        }
    }

    void add_row(const float* own, const float* other, const float* covered, std::int64_t n,
                 std::int64_t at) {
        const Floats d;
        float* const values = memory_.values.data() + at;
        float* const sums = memory_.sums.data() + at;
        const auto add_to = [&](std::int64_t i, Vector e, Vector b) HWY_ATTR {
            if (call_.is_huge) { // the difference may be infinite where nothing weighs
                e = hn::IfThenElseZero(hn::Gt(b, hn::Zero(d)), e);
            }
            hn::StoreU(fused(d, e, b, hn::LoadU(d, values + i)), d, values + i);
            hn::StoreU(hn::Add(hn::LoadU(d, sums + i), b), d, sums + i);
        };
        std::int64_t i = 0;
        for (; i + lanes() <= n; i += lanes()) {
            add_to(i, hn::Sub(hn::LoadU(d, other + i), hn::LoadU(d, own + i)),
                   hn::LoadU(d, covered + i));
        }
        if (i < n) {
            const std::int64_t left = n - i;
            add_to(i, hn::Sub(load_some(other + i, left), load_some(own + i, left)),
                   load_some(covered + i, left));
        }
    }

    const WindowCall& call_;
    const WindowBox& tile_;
    const float* volume_;
    WindowTileMemory& memory_;
    std::int64_t pitch_;
    WindowBox box_{};
    std::int64_t covered_pitch_ = 0;
    std::int64_t row_ = 0;
    std::int64_t wide_ = 0;
};

void tile_of(const CpuQueue& queue, const WindowCall& call, const WindowBox& box,
             const float* volume, float* out, WindowTileMemory& memory) {
    Tile tile(call, box, volume, memory);
    tile.visit_all(queue);
    tile.put(out);
}

} // namespace HWY_NAMESPACE
} // namespace runner
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace runner {

HWY_EXPORT(tile_of);

void window_means_tile(const CpuQueue& queue, const WindowCall& call, const WindowBox& tile,
                       const float* volume, float* out, WindowTileMemory& memory) {
    HWY_DYNAMIC_DISPATCH(tile_of)(queue, call, tile, volume, out, memory);
}

} // namespace runner
#endif
