// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/bin/bin.hpp"

#include "kernels/bin/bin_call.hpp"
#include "kernels/elements/elements.hpp"
#include "kernels/elements/invalid.hpp"

#include <algorithm>
#include <functional>
#include <vector>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/bin/bin.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace runner {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;

/// The sums of `Lanes(d)` blocks of `factor` values side by side, added to `sum`.
template <int factor> HWY_INLINE hn::Vec<D> add_blocks(D d, const double* from, hn::Vec<D> sum) {
    if constexpr (factor == 1) {
        return hn::Add(sum, hn::LoadU(d, from));
    } else if constexpr (factor == 2) {
        hn::Vec<D> a;
        hn::Vec<D> b;
        hn::LoadInterleaved2(d, from, a, b);
        return hn::Add(hn::Add(sum, a), b);
    } else if constexpr (factor == 3) {
        hn::Vec<D> a;
        hn::Vec<D> b;
        hn::Vec<D> c;
        hn::LoadInterleaved3(d, from, a, b, c);
        return hn::Add(hn::Add(hn::Add(sum, a), b), c);
    } else {
        static_assert(factor == 4);
        hn::Vec<D> a;
        hn::Vec<D> b;
        hn::Vec<D> c;
        hn::Vec<D> e;
        hn::LoadInterleaved4(d, from, a, b, c, e);
        return hn::Add(hn::Add(hn::Add(hn::Add(sum, a), b), c), e);
    }
}

template <int factor>
HWY_NOINLINE std::int64_t add_vectors(const double* values, std::int64_t count, double* sums) {
    const D d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    std::int64_t o = 0;
    for (; o + lanes <= count; o += lanes) {
        hn::StoreU(add_blocks<factor>(d, values + o * factor, hn::LoadU(d, sums + o)), d, sums + o);
    }
    return o;
}

void add_all(const double* values, std::int64_t count, std::int64_t factor, std::int64_t channels,
             double* sums) {
    std::int64_t done = 0;
    if (factor == 1) {
        count *= channels; // each element is a block of its own
        channels = 1;
    }
    if (channels == 1) {
        switch (factor) {
        case 1: done = add_vectors<1>(values, count, sums); break;
        case 2: done = add_vectors<2>(values, count, sums); break;
        case 3: done = add_vectors<3>(values, count, sums); break;
        case 4: done = add_vectors<4>(values, count, sums); break;
        default: break;
        }
    }
    for (std::int64_t o = done; o < count; ++o) {
        for (std::int64_t i = 0; i < factor; ++i) {
            for (std::int64_t c = 0; c < channels; ++c) {
                sums[o * channels + c] += values[(o * factor + i) * channels + c];
            }
        }
    }
}

} // namespace HWY_NAMESPACE
} // namespace runner
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace runner {

HWY_EXPORT(add_all);

namespace {

/// sums[o · channels + c] += values[(o · factor + i) · channels + c] for i from 0 to factor − 1 in
/// this order, for `count` pixels o and every channel; with the widest vectors there are.
void add_columns(const double* values, std::int64_t count, std::int64_t factor,
                 std::int64_t channels, double* sums) {
    HWY_DYNAMIC_DISPATCH(add_all)(values, count, factor, channels, sums);
}

/// Elements that are converted at once, which stay in the L1 cache.
constexpr std::int64_t piece_elements = 2048;

/// One thread's memory: values of a piece of a row, and the sums of a piece of the output's. Where
/// elements may be invalid, these are 0 with a weight of 0, others have a weight of 1.
struct Space {
    std::vector<double> values;
    std::vector<double> sums;
    std::vector<double> weights;
    std::vector<double> counts; ///< sums of weights
};

/// Sets the weights of `values`, and those that are invalid to 0.
void weigh(ElementType type, double invalid, const std::byte* elements, Space& space) {
    space.weights.resize(space.values.size());
    visit_element_type(type, [&](auto zero) {
        using T = decltype(zero);
        const InvalidTest<T> is_invalid = invalid_test<T>(invalid);
        const auto* from = reinterpret_cast<const T*>(elements);
        for (std::size_t i = 0; i < space.values.size(); ++i) {
            const bool is_value = !is_invalid(from[i]);
            space.values[i] = is_value ? space.values[i] : 0.0;
            space.weights[i] = is_value ? 1.0 : 0.0;
        }
    });
}

/// Makes those of the stored elements invalid that have no valid one in their block.
void mark_empty(ElementType type, double invalid, const std::vector<double>& counts,
                std::byte* elements) {
    visit_element_type(type, [&](auto zero) {
        using T = decltype(zero);
        const auto mark = invalid_element<T>(invalid_value(type, invalid));
        for (std::size_t i = 0; i < counts.size(); ++i) {
            if (counts[i] == 0) {
                reinterpret_cast<T*>(elements)[i] = mark;
            }
        }
    });
}

/// Makes parts of rows of the output.
class BlockRows {
  public:
    BlockRows(const Bin& bin, const BinCall& call, const std::byte* in, std::byte* out)
        : bin_(bin), call_(call), in_(in), out_(out), in_size_(size_of(bin.in_type)),
          out_size_(size_of(bin.out_type)),
          piece_(std::max<std::int64_t>(1, piece_elements / (call.factor_x * call.channels))) {}

    std::int64_t pieces() const { return (call_.out_columns + piece_ - 1) / piece_; }

    /// Pixels [first, first + piece_) of row `row` of the output, counted through layers and
    /// frames.
    void make(std::int64_t row, std::int64_t piece, Space& space) const {
        const std::int64_t first = piece * piece_;
        const std::int64_t count = std::min(piece_, call_.out_columns - first);
        const std::int64_t oy = row % call_.out_rows;
        const std::int64_t oz = row / call_.out_rows % call_.out_layers;
        const std::int64_t frame = row / call_.out_rows / call_.out_layers;
        const std::int64_t z_end = std::min(call_.layers, (oz + 1) * call_.factor_z);
        const std::int64_t y_end = std::min(call_.rows, (oy + 1) * call_.factor_y);
        space.sums.assign(static_cast<std::size_t>(count * call_.channels), 0);
        if (bin_.invalid) {
            space.counts.assign(space.sums.size(), 0);
        }
        for (std::int64_t z = oz * call_.factor_z; z < z_end; ++z) {
            for (std::int64_t y = oy * call_.factor_y; y < y_end; ++y) {
                add_row((frame * call_.layers + z) * call_.rows + y, first, count, space);
            }
        }
        std::byte* const to = out_ + (row * call_.out_columns + first) * call_.channels * out_size_;
        if (call_.is_mean && bin_.invalid) {
            std::transform(space.sums.begin(), space.sums.end(), space.counts.begin(),
                           space.sums.begin(), std::divides<>());
        } else if (call_.is_mean) {
            const std::int64_t lines =
                (z_end - oz * call_.factor_z) * (y_end - oy * call_.factor_y);
            divide(lines, first, count, space.sums);
        }
        store_elements(bin_.out_type, space.sums.data(), count * call_.channels, to);
        if (bin_.invalid) {
            mark_empty(bin_.out_type, *bin_.invalid, space.counts, to);
        }
    }

  private:
    void add_row(std::int64_t row, std::int64_t first, std::int64_t count, Space& space) const {
        const std::int64_t begin = first * call_.factor_x;
        const std::int64_t end = std::min(call_.columns, (first + count) * call_.factor_x);
        const std::int64_t elements = (end - begin) * call_.channels;
        const std::byte* const from =
            in_ + (row * call_.columns + begin) * call_.channels * in_size_;
        space.values.resize(static_cast<std::size_t>(elements));
        load_elements(bin_.in_type, from, elements, space.values.data());
        if (bin_.invalid) {
            weigh(bin_.in_type, *bin_.invalid, from, space);
            add_pixels(space.weights.data(), end - begin, count, space.counts.data());
        }
        add_pixels(space.values.data(), end - begin, count, space.sums.data());
    }

    /// Adds `pixels` values side by side to `count` sums, the last of which may get fewer.
    void add_pixels(const double* values, std::int64_t pixels, std::int64_t count,
                    double* sums) const {
        const std::int64_t whole = pixels / call_.factor_x;
        add_columns(values, whole, call_.factor_x, call_.channels, sums);
        if (whole < count) {
            const std::int64_t used = whole * call_.factor_x;
            add_columns(values + used * call_.channels, 1, pixels - used, call_.channels,
                        sums + whole * call_.channels);
        }
    }

    void divide(std::int64_t lines, std::int64_t first, std::int64_t count,
                std::vector<double>& sums) const {
        const std::int64_t whole = std::min(count, call_.columns / call_.factor_x - first);
        const auto elements = static_cast<double>(lines * call_.factor_x);
        const auto end = sums.begin() + whole * call_.channels;
        std::for_each(sums.begin(), end, [elements](double& sum) { sum /= elements; });
        const auto rest = static_cast<double>(lines * (call_.columns % call_.factor_x));
        std::for_each(end, sums.end(), [rest](double& sum) { sum /= rest; });
    }

    const Bin& bin_;
    const BinCall& call_;
    const std::byte* in_;
    std::byte* out_;
    std::int64_t in_size_;
    std::int64_t out_size_;
    std::int64_t piece_;
};

} // namespace

void bin(CpuQueue& queue, const Bin& bin, const RowBlock& block, const std::byte* in,
         std::byte* out) {
    const BinCall call = bin_call(bin, block);
    const BlockRows rows(bin, call, in, out);
    tbb::enumerable_thread_specific<Space> spaces;
    using Range = tbb::blocked_range<std::int64_t>;
    queue.run([&] {
        tbb::parallel_for(Range(0, call.all_rows() * rows.pieces(), 8), [&](const Range& range) {
            Space& space = spaces.local();
            for (std::int64_t i = range.begin(); i < range.end(); ++i) {
                rows.make(i / rows.pieces(), i % rows.pieces(), space);
            }
        });
    });
}

} // namespace runner
#endif
