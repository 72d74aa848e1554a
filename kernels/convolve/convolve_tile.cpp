// SPDX-License-Identifier: BSD-3-Clause
// The passes keep arrays of vectors, which vectors of a length unknown to the compiler cannot be
// in.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/convolve/convolve_tile.cpp"
#include <hwy/foreach_target.h>

#include "kernels/convolve/convolve_passes-inl.hpp"
#include "kernels/convolve/convolve_tile.hpp"

#include <algorithm>
#include <limits>
#include <vector>

HWY_BEFORE_NAMESPACE();
namespace runner {
namespace HWY_NAMESPACE {

/// The two passes over one tile. The row pass of each row is made when the column pass first needs
/// it and kept in a ring until no later row of the tile needs it. In and Out are element types or
/// AnyElement.
template <class In, class Out, class Compute> class TilePasses {
  public:
    TilePasses(const ConvolveCall& call, const ConvolveTile& tile, ConvolveSpace& space)
        : call_(call), tile_(tile), space_(space), ring_(reinterpret_cast<Compute*>(space.ring())),
          fill_row_(reinterpret_cast<Compute*>(space.fill_row())),
          line_(reinterpret_cast<Compute*>(space.line())),
          row_weights_(as_compute(call.row_weights)),
          column_weights_(as_compute(call.column_weights)),
          in_(call.in +
              tile.frame * call.block.in_rows * call.columns * element_bytes<In>(call.in_type)),
          out_(call.out + tile.frame * call.out_frame * element_bytes<Out>(call.out_type)) {
        std::fill(space_.held().begin(), space_.held().end(), nothing_held);
        std::fill_n(fill_row_, space_.pitch(), static_cast<Compute>(call_.fill));
        prepare_line();
    }

    void run() {
        const std::int64_t end = tile_.first_row + tile_.rows;
        for (std::int64_t row = tile_.first_row; row < end; row += call_.step_rows) {
            const std::int64_t rows = std::min(call_.step_rows, end - row);
            step(row, rows);
            if (call_.operations > 0) {
                call_.count(call_.operations * static_cast<double>(rows * tile_.columns));
            }
        }
        if (call_.out_stores == OutStores::past_caches) {
            hwy::FlushStream();
        }
    }

  private:
    using Weights = std::vector<Compute>;
    static constexpr std::int64_t nothing_held = std::numeric_limits<std::int64_t>::min();

    template <class E> static std::int64_t element_bytes(ElementType type) {
        if constexpr (std::is_same_v<E, AnyElement>) {
            return size_of(type);
        } else {
            return sizeof(E);
        }
    }

    static Weights as_compute(const std::vector<double>& weights) {
        Weights values(weights.size());
        std::transform(weights.begin(), weights.end(), values.begin(),
                       [](double weight) { return static_cast<Compute>(weight); });
        return values;
    }

    /// The sample that extended sample `i` of a row stands for, of the same channel; or −1.
    std::int64_t sample_for(std::int64_t i) const {
        const std::int64_t channel = (i % call_.channels + call_.channels) % call_.channels;
        const std::int64_t pixel = map_index((i - channel) / call_.channels,
                                             call_.columns / call_.channels, call_.boundary);
        return pixel < 0 ? -1 : pixel * call_.channels + channel;
    }

    /// Which samples the line takes from the image itself, and which ones stand for those beyond.
    void prepare_line() {
        const std::int64_t reach = call_.row_reach();
        line_first_ = tile_.first_column - reach;
        const std::int64_t line_end = tile_.first_column + tile_.columns + reach;
        inside_first_ = std::max<std::int64_t>(line_first_, 0);
        inside_end_ = std::min(line_end, call_.columns);
        std::vector<std::int64_t>& beyond = space_.beyond();
        beyond.clear();
        for (std::int64_t i = line_first_; i < line_end; ++i) {
            i = i == inside_first_ ? inside_end_ : i;
            if (i < line_end) {
                beyond.push_back(sample_for(i));
            }
        }
        // Whole vectors are read, so the last one must end within the image as well.
        constexpr std::int64_t most_lanes = 16;
        reads_image_ = std::is_same_v<In, Compute> && line_first_ >= 0 &&
                       line_end + most_lanes <= call_.columns;
    }

    void step(std::int64_t first, std::int64_t rows) {
        const std::int64_t radius = call_.column_radius();
        const std::int64_t begin = first - radius;
        const std::int64_t end = first + rows + radius;
        std::vector<const std::byte*>& places = space_.rows();
        for (std::int64_t row = begin; row < end; ++row) {
            places[static_cast<std::size_t>(row - begin)] = row_pass_of(row, begin, end);
        }
        pass_across(reinterpret_cast<const Compute* const*>(places.data()), column_weights_.data(),
                    2 * radius + 1, tile_.columns, out_rows(first), rows);
    }

    /// The output from row `first` and the tile's first column on.
    OutRows<Out> out_rows(std::int64_t first) const {
        std::byte* const place =
            out_ + ((first - call_.block.out_first) * call_.columns + tile_.first_column) *
                       element_bytes<Out>(call_.out_type);
        if constexpr (std::is_same_v<Out, AnyElement>) {
            return {place, call_.columns, call_.out_type};
        } else {
            return {reinterpret_cast<Out*>(place), call_.columns, call_.out_stores};
        }
    }

    /// Where the row pass of extended row `row` lies while the rows [begin, end) are needed.
    const std::byte* row_pass_of(std::int64_t row, std::int64_t begin, std::int64_t end) {
        const RowBlock& block = call_.block;
        const bool own = row >= block.in_first && row < block.in_first + block.in_rows;
        const std::int64_t source = own ? row : map_index(row, call_.frame_rows, call_.boundary);
        if (source < 0 && !own) {
            return reinterpret_cast<const std::byte*>(fill_row_);
        }
        const bool all_held = block.in_rows <= call_.ring_rows;
        const std::int64_t key = all_held || (source >= begin && source < end) ? source : row;
        const std::int64_t phase = (all_held ? key - block.in_first : key) % call_.ring_rows;
        const auto slot = static_cast<std::size_t>(phase + (phase < 0 ? call_.ring_rows : 0));
        Compute* to = ring_ + static_cast<std::int64_t>(slot) * space_.pitch();
        if (space_.held()[slot] != key) {
            space_.held()[slot] = key;
            row_pass(in_ + (source - block.in_first) * call_.columns *
                               element_bytes<In>(call_.in_type),
                     to);
        }
        return reinterpret_cast<const std::byte*>(to);
    }

    void row_pass(const std::byte* row, Compute* to) {
        const Compute* line = line_;
        if constexpr (std::is_same_v<In, AnyElement>) {
            load_line(row);
        } else {
            const In* const elements = reinterpret_cast<const In*>(row);
            if constexpr (std::is_same_v<In, Compute>) {
                if (reads_image_) {
                    line = elements + line_first_;
                }
            }
            if (line == line_) {
                fill_line(elements);
            }
        }
        pass_along(line, row_weights_.data(), 2 * call_.row_radius() + 1, call_.channels,
                   tile_.columns, to);
    }

    void fill_line(const In* row) {
        const auto value = [&](std::int64_t column) {
            return column < 0 ? static_cast<Compute>(call_.fill)
                              : static_cast<Compute>(row[column]);
        };
        auto column = space_.beyond().begin();
        Compute* to = line_;
        for (const Compute* left_end = line_ + (inside_first_ - line_first_); to < left_end; ++to) {
            *to = value(*column++);
        }
        convert(row + inside_first_, to, inside_end_ - inside_first_);
        to += inside_end_ - inside_first_;
        while (column != space_.beyond().end()) {
            *to++ = value(*column++);
        }
    }

    /// As fill_line.
    void load_line(const std::byte* row) {
        const std::int64_t size = size_of(call_.in_type);
        Compute* const inside = line_ + (inside_first_ - line_first_);
        const std::int64_t held = inside_end_ - inside_first_;
        load_elements(call_.in_type, row + inside_first_ * size, held, inside);
        const auto value = [&](std::int64_t column) {
            auto result = static_cast<Compute>(call_.fill);
            if (column >= inside_first_ && column < inside_end_) {
                result = inside[column - inside_first_];
            } else if (column >= 0) {
                load_elements(call_.in_type, row + column * size, 1, &result);
            }
            return result;
        };
        auto column = space_.beyond().begin();
        for (Compute* to = line_; to < inside; ++to) {
            *to = value(*column++);
        }
        for (Compute* to = inside + held; column != space_.beyond().end(); ++to) {
            *to = value(*column++);
        }
    }

    const ConvolveCall& call_;
    const ConvolveTile& tile_;
    ConvolveSpace& space_;
    Compute* ring_;
    Compute* fill_row_;
    Compute* line_;
    Weights row_weights_;
    Weights column_weights_;
    const std::byte* in_; ///< of the tile's frame
    std::byte* out_;
    std::int64_t line_first_ = 0;
    std::int64_t inside_first_ = 0;
    std::int64_t inside_end_ = 0;
    bool reads_image_ = false;
};

/// With loops of its own for the types that most images have.
template <class In>
void tile_from(const ConvolveCall& call, const ConvolveTile& tile, ConvolveSpace& space) {
    using Compute = std::conditional_t<std::is_same_v<In, double>, double, float>;
    switch (call.out_type) {
    case ElementType::uint8: return TilePasses<In, std::uint8_t, Compute>(call, tile, space).run();
    case ElementType::uint16:
        return TilePasses<In, std::uint16_t, Compute>(call, tile, space).run();
    case ElementType::float32: return TilePasses<In, float, Compute>(call, tile, space).run();
    default: return TilePasses<In, double, Compute>(call, tile, space).run();
    }
}

bool has_loops(ElementType type) {
    return type == ElementType::uint8 || type == ElementType::uint16 ||
           type == ElementType::float32 || type == ElementType::float64;
}

void tile_of(const ConvolveCall& call, const ConvolveTile& tile, ConvolveSpace& space) {
    if (!has_loops(call.in_type) || !has_loops(call.out_type)) {
        return call.compute_type == ElementType::float64
                   ? TilePasses<AnyElement, AnyElement, double>(call, tile, space).run()
                   : TilePasses<AnyElement, AnyElement, float>(call, tile, space).run();
    }
    switch (call.in_type) {
    case ElementType::uint8: return tile_from<std::uint8_t>(call, tile, space);
    case ElementType::uint16: return tile_from<std::uint16_t>(call, tile, space);
    case ElementType::float32: return tile_from<float>(call, tile, space);
    default: return tile_from<double>(call, tile, space);
    }
}

} // namespace HWY_NAMESPACE
} // namespace runner
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace runner {

HWY_EXPORT(tile_of);

void convolve_tile(const ConvolveCall& call, const ConvolveTile& tile, ConvolveSpace& space) {
    HWY_DYNAMIC_DISPATCH(tile_of)(call, tile, space);
}

} // namespace runner
#endif
