// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/bin/bin.hpp"

#include "kernels/bin/bin_columns.hpp"
#include "kernels/bin/bin_view.hpp"
#include "kernels/elements/elements.hpp"

#include <algorithm>
#include <vector>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>

namespace runner {
namespace {

/// Elements that are converted at once, which stay in the L1 cache.
constexpr std::int64_t piece_elements = 2048;

/// One thread's memory: values of a piece of a row, and the sums of a piece of the output's.
struct Space {
    std::vector<double> values;
    std::vector<double> sums;
};

/// Makes parts of rows of the output.
class BlockRows {
  public:
    BlockRows(const Bin& bin, const BinView& view, const std::byte* in, std::byte* out)
        : bin_(bin), view_(view), in_(in), out_(out), in_size_(size_of(bin.in_type)),
          out_size_(size_of(bin.out_type)),
          piece_(std::max<std::int64_t>(1, piece_elements / (view.factor_x * view.channels))) {}

    std::int64_t pieces() const { return (view_.out_columns + piece_ - 1) / piece_; }

    /// Pixels [first, first + piece_) of row `row` of the output, counted through layers and
    /// frames.
    void make(std::int64_t row, std::int64_t piece, Space& space) const {
        const std::int64_t first = piece * piece_;
        const std::int64_t count = std::min(piece_, view_.out_columns - first);
        const std::int64_t oy = row % view_.out_rows;
        const std::int64_t oz = row / view_.out_rows % view_.out_layers;
        const std::int64_t frame = row / view_.out_rows / view_.out_layers;
        const std::int64_t z_end = std::min(view_.layers, (oz + 1) * view_.factor_z);
        const std::int64_t y_end = std::min(view_.rows, (oy + 1) * view_.factor_y);
        space.sums.assign(static_cast<std::size_t>(count * view_.channels), 0);
        for (std::int64_t z = oz * view_.factor_z; z < z_end; ++z) {
            for (std::int64_t y = oy * view_.factor_y; y < y_end; ++y) {
                add_row((frame * view_.layers + z) * view_.rows + y, first, count, space);
            }
        }
        if (view_.is_mean) {
            const std::int64_t lines =
                (z_end - oz * view_.factor_z) * (y_end - oy * view_.factor_y);
            divide(lines, first, count, space.sums);
        }
        store_elements(bin_.out_type, space.sums.data(), count * view_.channels,
                       out_ + (row * view_.out_columns + first) * view_.channels * out_size_);
    }

  private:
    void add_row(std::int64_t row, std::int64_t first, std::int64_t count, Space& space) const {
        const std::int64_t begin = first * view_.factor_x;
        const std::int64_t end = std::min(view_.columns, (first + count) * view_.factor_x);
        const std::int64_t elements = (end - begin) * view_.channels;
        space.values.resize(static_cast<std::size_t>(elements));
        load_elements(bin_.in_type, in_ + (row * view_.columns + begin) * view_.channels * in_size_,
                      elements, space.values.data());
        const std::int64_t whole = (end - begin) / view_.factor_x;
        add_columns(space.values.data(), whole, view_.factor_x, view_.channels, space.sums.data());
        if (whole < count) {
            const std::int64_t used = whole * view_.factor_x;
            add_columns(space.values.data() + used * view_.channels, 1, end - begin - used,
                        view_.channels, space.sums.data() + whole * view_.channels);
        }
    }

    void divide(std::int64_t lines, std::int64_t first, std::int64_t count,
                std::vector<double>& sums) const {
        const std::int64_t whole = std::min(count, view_.columns / view_.factor_x - first);
        const auto elements = static_cast<double>(lines * view_.factor_x);
        const auto end = sums.begin() + whole * view_.channels;
        std::for_each(sums.begin(), end, [elements](double& sum) { sum /= elements; });
        const auto rest = static_cast<double>(lines * (view_.columns % view_.factor_x));
        std::for_each(end, sums.end(), [rest](double& sum) { sum /= rest; });
    }

    const Bin& bin_;
    const BinView& view_;
    const std::byte* in_;
    std::byte* out_;
    std::int64_t in_size_;
    std::int64_t out_size_;
    std::int64_t piece_;
};

} // namespace

void bin(CpuQueue& queue, const Bin& bin, const RowBlock& block, const std::byte* in,
         std::byte* out) {
    const BinView view = bin_view(bin, block);
    const BlockRows rows(bin, view, in, out);
    tbb::enumerable_thread_specific<Space> spaces;
    using Range = tbb::blocked_range<std::int64_t>;
    queue.run([&] {
        tbb::parallel_for(Range(0, view.all_rows() * rows.pieces(), 8), [&](const Range& range) {
            Space& space = spaces.local();
            for (std::int64_t i = range.begin(); i < range.end(); ++i) {
                rows.make(i / rows.pieces(), i % rows.pieces(), space);
            }
        });
    });
}

} // namespace runner
