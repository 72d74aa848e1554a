// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/reduce/reduce.hpp"

#include "kernels/elements/elements.hpp"
#include "kernels/elements/invalid.hpp"
#include "kernels/elements/ordered_key.hpp"
#include "kernels/reduce/reduce_select.hpp"
#include "kernels/reduce/reduce_tiles.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>

namespace runner {
namespace {

/// Values of the places of a tile.
template <class Value> using OfTile = std::array<Value, most_tile>;

/// Calls `work` for each of so many columns. Whole tiles are a loop that the compiler makes vectors
/// of.
template <class Work> void for_columns(std::int64_t count, const Work& work) {
    if (count == most_tile) {
        for (std::int64_t i = 0; i < most_tile; ++i) {
            work(i);
        }
    } else {
        for (std::int64_t i = 0; i < count; ++i) {
            work(i);
        }
    }
}

/// Which elements are values.
template <class T> struct AllValid {
    bool operator()(T /*element*/) const { return true; }
};
template <class T> struct SomeValid {
    InvalidTest<T> is_invalid;
    bool operator()(T element) const { return !is_invalid(element); }
};

template <class T> struct Addend {
    ExactSum<T> operator()(T element, std::int64_t /*column*/) const { return element; }
};
template <class T> struct SquaredDistance {
    const double* means; ///< of the tile's places
    double operator()(T element, std::int64_t column) const {
        return squared_distance(static_cast<double>(element), means[column]);
    }
};

/// Groups of type T, of which some elements may be no values.
template <class T, class Valid> class Places {
  public:
    Places(const Reduction& reduce, Valid valid, const std::byte* in, std::byte* out)
        : reduce_(reduce), layout_(group_layout(reduce)), valid_(valid),
          in_(reinterpret_cast<const T*>(in)), out_(out) {}

    void make(const ReduceTile& tile) const {
        switch (reduce_.operation) {
        case Reduction::Operation::mean:
        case Reduction::Operation::std: return make_means(tile);
        case Reduction::Operation::sum: return make_sums(tile);
        case Reduction::Operation::histogram: return make_histograms(tile);
        default: return make_extremes(tile);
        }
    }

  private:
    using Key = SignedOf<sizeof(T)>;
    using Counts = OfTile<std::int64_t>;
    static constexpr bool all_are_valid = std::is_same_v<Valid, AllValid<T>>;

    std::byte* out_of(const ReduceTile& tile) const {
        return out_ + tile.first * reduce_.results() * size_of(reduce_.out_type);
    }

    /// Calls `work` with the number, from 0 on, and the elements of each piece of a place.
    template <class Work> void for_pieces(const Work& work) const {
        const std::int64_t pieces = piece_count();
        const auto make = [&](std::int64_t piece) {
            work(piece, piece * Reduction::piece,
                 std::min(layout_.elements, (piece + 1) * Reduction::piece));
        };
        if (pieces == 1) {
            make(0);
        } else {
            tbb::parallel_for(std::int64_t{0}, pieces, make);
        }
    }
    std::int64_t piece_count() const {
        return (layout_.elements + Reduction::piece - 1) / Reduction::piece;
    }

    /// Calls `work` with each element [first, end) of the tile's places, its number and its column.
    template <class Work>
    void for_elements(const ReduceTile& tile, std::int64_t first, std::int64_t end,
                      const Work& work) const {
        const std::int64_t stride = layout_.reduced[2].stride;
        for_element_runs(layout_, first, end,
                         [&](std::int64_t i, std::int64_t offset, std::int64_t count) {
                             const T* from = in_ + tile.offset + offset;
                             for (std::int64_t run = 0; run < count; ++run, from += stride) {
                                 for (std::int64_t column = 0; column < tile.width; ++column) {
                                     work(from[column], i + run, column);
                                 }
                             }
                         });
    }

    Counts count_valid(const ReduceTile& tile) const {
        Counts counts;
        counts.fill(layout_.elements);
        if constexpr (!all_are_valid) {
            counts.fill(0);
            for_elements(tile, 0, layout_.elements,
                         [&](T element, std::int64_t /*i*/, auto column) {
                             counts[static_cast<std::size_t>(column)] += valid_(element) ? 1 : 0;
                         });
        }
        return counts;
    }

    /// The sums of `term` of the elements of each place, in the order that Reduction says.
    template <class Sum, class Term>
    OfTile<Sum> sums(const ReduceTile& tile, const Term& term) const {
        std::vector<Sum> of_pieces(static_cast<std::size_t>(piece_count() * tile.width));
        for_pieces([&](std::int64_t piece, std::int64_t first, std::int64_t end) {
            add_piece(tile, first, end, term, of_pieces.data() + piece * tile.width);
        });
        OfTile<Sum> all{};
        for (std::size_t i = 0; i < of_pieces.size(); ++i) {
            all[i % static_cast<std::size_t>(tile.width)] += of_pieces[i];
        }
        return all;
    }

    template <class Sum, class Term>
    void add_piece(const ReduceTile& tile, std::int64_t first, std::int64_t end, const Term& term,
                   Sum* to) const {
        const std::int64_t width = tile.width;
        const std::int64_t lanes = std::min(Reduction::lanes, end - first); // others would be 0
        std::array<Sum, Reduction::lanes * most_tile> partial;
        std::fill_n(partial.begin(), lanes * width, Sum{});
        const std::int64_t stride = layout_.reduced[2].stride;
        for_element_runs(
            layout_, first, end, [&](std::int64_t i, std::int64_t offset, std::int64_t count) {
                const T* from = in_ + tile.offset + offset;
                if (width == 1 && stride == 1) {
                    while (count > 0) { // elements side by side, up to the last partial sum
                        const std::int64_t lane = i % Reduction::lanes;
                        const std::int64_t run = std::min(Reduction::lanes - lane, count);
                        add_row(from, run, term, ColumnOf::all, partial.data() + lane);
                        from += run;
                        i += run;
                        count -= run;
                    }
                    return;
                }
                for (std::int64_t run = 0; run < count; ++run, from += stride) {
                    add_row(from, width, term, ColumnOf::each,
                            partial.data() + (i + run) % Reduction::lanes * width);
                }
            });
        for (std::int64_t half = Reduction::lanes / 2; half > 0; half /= 2) {
            for (std::int64_t j = half * width; j < std::min(2 * half, lanes) * width; ++j) {
                partial[static_cast<std::size_t>(j - half * width)] +=
                    partial[static_cast<std::size_t>(j)];
            }
        }
        std::copy_n(partial.begin(), width, to);
    }

    /// Whether elements side by side are of one place or each of its own.
    enum class ColumnOf { all, each };

    template <class Sum, class Term>
    void add_row(const T* __restrict from, std::int64_t count, const Term& term, ColumnOf column,
                 Sum* __restrict to) const {
        if (column == ColumnOf::all) {
            for (std::int64_t i = 0; i < count; ++i) {
                to[i] += valid_(from[i]) ? term(from[i], 0) : Sum{};
            }
        } else {
            for_columns(count, [&](std::int64_t i) {
                to[i] += valid_(from[i]) ? term(from[i], i) : Sum{};
            });
        }
    }

    void make_means(const ReduceTile& tile) const {
        const Counts counts = count_valid(tile);
        const auto exact = sums<ExactSum<T>>(tile, Addend<T>{});
        OfTile<double> results;
        const auto divide = [&](const auto& of_places) {
            for (std::size_t i = 0; i < results.size(); ++i) {
                results[i] = nearest_double(of_places[i]) / static_cast<double>(counts[i]);
            }
        };
        divide(exact);
        if (reduce_.operation == Reduction::Operation::std) {
            const OfTile<double> means = results;
            divide(sums<double>(tile, SquaredDistance<T>{means.data()}));
            std::transform(results.begin(), results.end(), results.begin(),
                           [](double variance) { return std::sqrt(variance); });
        }
        std::replace_if(
            results.begin(), results.end(), [](double result) { return std::isnan(result); },
            std::numeric_limits<double>::quiet_NaN());
        store_elements(reduce_.out_type, results.data(), tile.width, out_of(tile));
        visit_element_type(reduce_.out_type, [&](auto zero) {
            mark_empty(counts, reinterpret_cast<decltype(zero)*>(out_of(tile)), tile.width);
        });
    }

    void make_sums(const ReduceTile& tile) const {
        const auto exact = sums<ExactSum<T>>(tile, Addend<T>{});
        auto* const to = reinterpret_cast<SumElement<T>*>(out_of(tile));
        std::transform(exact.begin(), exact.begin() + tile.width, to, sum_element<T>);
        mark_empty(count_valid(tile), to, tile.width);
    }

    /// Takes the keys of elements side by side, each into its own least and greatest one.
    void take_keys(const T* __restrict from, std::int64_t count, Key* __restrict low,
                   Key* __restrict high) const {
        for_columns(count, [&](std::int64_t i) {
            const Key key = ordered_key(from[i]);
            const bool is_value = valid_(from[i]);
            low[i] = std::min(low[i], is_value ? key : std::numeric_limits<Key>::max());
            high[i] = std::max(high[i], is_value ? key : std::numeric_limits<Key>::min());
        });
    }

    /// The least and the greatest keys of elements [first, end) of the tile's places.
    void find_extremes(const ReduceTile& tile, std::int64_t first, std::int64_t end,
                       OfTile<Key>& low, OfTile<Key>& high) const {
        const std::int64_t stride = layout_.reduced[2].stride;
        const bool is_dense = tile.width == 1 && stride == 1;
        for_element_runs(
            layout_, first, end, [&](std::int64_t /*i*/, std::int64_t offset, std::int64_t count) {
                const T* from = in_ + tile.offset + offset;
                const std::int64_t step = is_dense ? most_tile : 1; // elements at once
                for (; count > 0; count -= step, from += step * stride) {
                    const std::int64_t some = is_dense ? std::min(step, count) : tile.width;
                    take_keys(from, some, low.data(), high.data());
                }
            });
        if (is_dense) {
            low[0] = *std::min_element(low.begin(), low.end());
            high[0] = *std::max_element(high.begin(), high.end());
        }
    }

    void make_extremes(const ReduceTile& tile) const {
        using Limits = std::numeric_limits<Key>;
        OfTile<Key> least;
        OfTile<Key> most;
        least.fill(Limits::max());
        most.fill(Limits::min());
        std::mutex mutex;
        for_pieces([&](std::int64_t /*piece*/, std::int64_t first, std::int64_t end) {
            OfTile<Key> low;
            OfTile<Key> high;
            low.fill(Limits::max());
            high.fill(Limits::min());
            find_extremes(tile, first, end, low, high);
            const std::lock_guard lock(mutex);
            for (std::size_t i = 0; i < least.size(); ++i) {
                least[i] = std::min(least[i], low[i]);
                most[i] = std::max(most[i], high[i]);
            }
        });
        auto* const to = reinterpret_cast<T*>(out_of(tile));
        const bool is_most = reduce_.operation == Reduction::Operation::max;
        for (std::size_t i = 0; i < static_cast<std::size_t>(tile.width); ++i) {
            to[i] = element_of_key<T>(is_most || is_key_of_nan<T>(most[i]) ? most[i] : least[i]);
        }
        mark_empty(count_valid(tile), to, tile.width);
    }

    void make_histograms(const ReduceTile& tile) const {
        const HistogramBins bins =
            HistogramBins::of(reduce_.bins, reduce_.range[0], reduce_.range[1]);
        auto* const to = reinterpret_cast<std::uint64_t*>(out_of(tile));
        const std::int64_t all = tile.width * reduce_.bins;
        std::fill_n(to, all, 0);
        std::mutex mutex;
        for_pieces([&](std::int64_t /*piece*/, std::int64_t first, std::int64_t end) {
            const bool is_only = piece_count() == 1;
            std::vector<std::uint64_t> own(static_cast<std::size_t>(is_only ? 0 : all));
            std::uint64_t* const counts = is_only ? to : own.data();
            for_elements(tile, first, end, [&](T element, std::int64_t /*i*/, auto column) {
                const std::int64_t bin = bins.bin_of(static_cast<double>(element));
                if (bin >= 0 && valid_(element)) {
                    ++counts[column * reduce_.bins + bin];
                }
            });
            if (!is_only) {
                const std::lock_guard lock(mutex);
                std::transform(own.begin(), own.end(), to, to, std::plus<>());
            }
        });
    }

    /// Makes the results of places without a valid element invalid.
    template <class Out> void mark_empty(const Counts& counts, Out* to, std::int64_t width) const {
        if (!reduce_.invalid) {
            return;
        }
        const auto mark = invalid_element<Out>(invalid_value(reduce_.out_type, *reduce_.invalid));
        for (std::int64_t i = 0; i < width; ++i) {
            to[i] = counts[static_cast<std::size_t>(i)] == 0 ? mark : to[i];
        }
    }

    const Reduction& reduce_;
    GroupLayout layout_;
    Valid valid_;
    const T* in_;
    std::byte* out_;
};

} // namespace

std::int64_t Reduction::results() const {
    switch (operation) {
    case Operation::histogram: return bins;
    case Operation::percentiles: return std::ssize(percentiles);
    default: return 1;
    }
}

void reduce(CpuQueue& queue, const Reduction& reduce, std::int64_t groups, const std::byte* in,
            std::byte* out, std::byte* scratch) {
    if (reduce.selects()) {
        reduce_by_order(queue, reduce, groups, in, out, scratch);
        return;
    }
    visit_element_type(reduce.in_type, [&](auto zero) {
        using T = decltype(zero);
        const auto run = [&](auto valid) {
            const Places<T, decltype(valid)> places(reduce, valid, in, out);
            for_tiles(queue, group_layout(reduce), groups,
                      [&](const ReduceTile& tile) { places.make(tile); });
        };
        if (reduce.invalid) {
            run(SomeValid<T>{invalid_test<T>(*reduce.invalid)});
        } else {
            run(AllValid<T>{});
        }
    });
}

} // namespace runner
