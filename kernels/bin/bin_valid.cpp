// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/bin/bin_view.hpp"
#include "kernels/elements/elements.hpp"
#include "kernels/elements/invalid.hpp"

#include <algorithm>
#include <vector>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>

namespace runner {
namespace {

/// The sums of the valid elements of a row of blocks, and how many they are.
struct ValidSums {
    std::vector<double> sums;
    std::vector<std::int64_t> counts;
};

/// Adds a row of the input.
template <class In>
void add_valid(const BinView& view, const InvalidTest<In>& is_invalid, const In* row,
               ValidSums& to) {
    for (std::int64_t o = 0; o < view.out_columns; ++o) {
        const std::int64_t end = std::min(view.columns, (o + 1) * view.factor_x);
        for (std::int64_t x = o * view.factor_x; x < end; ++x) {
            for (std::int64_t c = 0; c < view.channels; ++c) {
                const In element = row[x * view.channels + c];
                const auto at = static_cast<std::size_t>(o * view.channels + c);
                const bool is_value = !is_invalid(element);
                to.sums[at] += is_value ? static_cast<double>(element) : 0.0;
                to.counts[at] += is_value ? 1 : 0;
            }
        }
    }
}

/// Row `row` of the output, counted through layers and frames.
template <class In>
void make_row(const Bin& bin, const BinView& view, std::int64_t row, const In* in, std::byte* out,
              ValidSums& space) {
    const std::int64_t elements = view.out_columns * view.channels;
    const std::int64_t oy = row % view.out_rows;
    const std::int64_t oz = row / view.out_rows % view.out_layers;
    const std::int64_t frame = row / view.out_rows / view.out_layers;
    const std::int64_t z_end = std::min(view.layers, (oz + 1) * view.factor_z);
    const std::int64_t y_end = std::min(view.rows, (oy + 1) * view.factor_y);
    space.sums.assign(static_cast<std::size_t>(elements), 0);
    space.counts.assign(static_cast<std::size_t>(elements), 0);
    for (std::int64_t z = oz * view.factor_z; z < z_end; ++z) {
        for (std::int64_t y = oy * view.factor_y; y < y_end; ++y) {
            const std::int64_t at = (frame * view.layers + z) * view.rows + y;
            add_valid(view, invalid_test<In>(*bin.invalid), in + at * view.columns * view.channels,
                      space);
        }
    }
    for (std::size_t i = 0; view.is_mean && i < space.sums.size(); ++i) {
        space.sums[i] /= static_cast<double>(space.counts[i]);
    }
    std::byte* const to = out + row * elements * size_of(bin.out_type);
    store_elements(bin.out_type, space.sums.data(), elements, to);
    visit_element_type(bin.out_type, [&](auto zero) {
        using Out = decltype(zero);
        const auto mark = invalid_element<Out>(invalid_value(bin.out_type, *bin.invalid));
        for (std::size_t i = 0; i < space.counts.size(); ++i) {
            if (space.counts[i] == 0) {
                reinterpret_cast<Out*>(to)[i] = mark;
            }
        }
    });
}

} // namespace

void bin_valid(CpuQueue& queue, const Bin& bin, const BinView& view, const std::byte* in,
               std::byte* out) {
    tbb::enumerable_thread_specific<ValidSums> spaces;
    using Range = tbb::blocked_range<std::int64_t>;
    visit_element_type(bin.in_type, [&](auto zero) {
        using In = decltype(zero);
        queue.run([&] {
            tbb::parallel_for(Range(0, view.all_rows()), [&](const Range& range) {
                ValidSums& space = spaces.local();
                for (std::int64_t row = range.begin(); row < range.end(); ++row) {
                    make_row(bin, view, row, reinterpret_cast<const In*>(in), out, space);
                }
            });
        });
    });
}

} // namespace runner
