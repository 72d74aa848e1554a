// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/reduce/reduce_select.hpp"

#include "kernels/elements/invalid.hpp"
#include "kernels/reduce/reduce_tiles.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace runner {
namespace {

/// Groups of type T.
template <class T> class OrderedPlaces {
  public:
    OrderedPlaces(const Reduction& reduce, const std::byte* in, std::byte* out, std::byte* scratch)
        : reduce_(reduce), layout_(group_layout(reduce)),
          percentiles_(PlacePercentiles::of(reduce)),
          test_(invalid_test<T>(reduce.invalid.value_or(0))), in_(reinterpret_cast<const T*>(in)),
          out_(reinterpret_cast<T*>(out)), keys_(reinterpret_cast<Key*>(scratch)) {
        order_.resize(static_cast<std::size_t>(percentiles_.count));
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
            return percentiles_.each[a] < percentiles_.each[b];
        });
    }

    void make(const ReduceTile& tile) const {
        const std::array<std::int64_t, most_tile> counts = gather(tile);
        for (std::int64_t column = 0; column < tile.width; ++column) {
            choose(keys_of(tile.first + column), counts[static_cast<std::size_t>(column)],
                   out_ + (tile.first + column) * percentiles_.count);
        }
    }

  private:
    using Key = SignedOf<sizeof(T)>;

    Key* keys_of(std::int64_t place) const { return keys_ + place * layout_.elements; }

    /// Puts the keys of each place's valid elements side by side; how many these are.
    std::array<std::int64_t, most_tile> gather(const ReduceTile& tile) const {
        std::array<std::int64_t, most_tile> counts{};
        const std::int64_t stride = layout_.reduced[2].stride;
        for_element_runs(layout_, 0, layout_.elements,
                         [&](std::int64_t /*i*/, std::int64_t offset, std::int64_t count) {
                             const T* from = in_ + tile.offset + offset;
                             for (std::int64_t run = 0; run < count; ++run, from += stride) {
                                 for (std::int64_t column = 0; column < tile.width; ++column) {
                                     std::int64_t& held = counts[static_cast<std::size_t>(column)];
                                     keys_of(tile.first + column)[held] = ordered_key(from[column]);
                                     held += reduce_.invalid && test_(from[column]) ? 0 : 1;
                                 }
                             }
                         });
        return counts;
    }

    void choose(Key* keys, std::int64_t count, T* to) const {
        if (count == 0) {
            std::fill_n(to, percentiles_.count,
                        invalid_element<T>(invalid_value(reduce_.out_type, *reduce_.invalid)));
            return;
        }
        if (std::any_of(keys, keys + count, is_key_of_nan<T>)) {
            std::fill_n(to, percentiles_.count, element_of_key<T>(std::numeric_limits<Key>::max()));
            return;
        }
        std::int64_t from = 0; // keys before it are in their places
        for (const std::size_t which : order_) {
            const std::int64_t rank = percentile_rank(percentiles_.each[which], count);
            if (rank >= from) {
                std::nth_element(keys + from, keys + rank, keys + count);
                from = rank + 1;
            }
            to[which] = element_of_key<T>(keys[rank]);
        }
    }

    const Reduction& reduce_;
    GroupLayout layout_;
    PlacePercentiles percentiles_;
    InvalidTest<T> test_;
    const T* in_;
    T* out_;
    Key* keys_;
    std::vector<std::size_t> order_; ///< of the percentiles, the least first
};

} // namespace

PlacePercentiles PlacePercentiles::of(const Reduction& reduce) {
    PlacePercentiles percentiles{};
    if (reduce.operation == Reduction::Operation::median) {
        percentiles.each[0] = 50;
        percentiles.count = 1;
    } else {
        std::copy(reduce.percentiles.begin(), reduce.percentiles.end(), percentiles.each.begin());
        percentiles.count = std::ssize(reduce.percentiles);
    }
    return percentiles;
}

std::int64_t reduce_scratch_bytes(Backend backend, const Reduction& reduce, std::int64_t groups) {
    return backend == Backend::cpu && reduce.selects()
               ? groups * reduce.places() * reduce.elements() * size_of(reduce.in_type)
               : 0;
}

void reduce_by_order(CpuQueue& queue, const Reduction& reduce, std::int64_t groups,
                     const std::byte* in, std::byte* out, std::byte* scratch) {
    visit_element_type(reduce.in_type, [&](auto zero) {
        const OrderedPlaces<decltype(zero)> places(reduce, in, out, scratch);
        for_tiles(queue, group_layout(reduce), groups,
                  [&](const ReduceTile& tile) { places.make(tile); });
    });
}

} // namespace runner
