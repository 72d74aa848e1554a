// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/correct/correct.hpp"

#include "kernels/elements/elements.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_reduce.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/correct/correct.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/correct/frame_field.hpp"
#include "kernels/correct/negative_log-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace runner {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;

/// All but the logarithm, of `n` lanes.
HWY_INLINE hn::Vec<D> correct_vector(D d, const Correct& c, hn::Vec<D> x, hn::Vec<D> dark,
                                     hn::Vec<D> flat, hn::Mask<D> lanes, std::uint64_t& raised) {
    const auto range = hn::Sub(flat, dark);
    const auto is_good = hn::And(hn::Gt(range, hn::Zero(d)),
                                 hn::Le(range, hn::Set(d, std::numeric_limits<float>::max())));
    // Dead pixels are divided by 1, so that nothing traps.
    const auto divisor = hn::IfThenElse(is_good, range, hn::Set(d, 1.0F));
    auto t = hn::IfThenElse(is_good, hn::Div(hn::Sub(x, dark), divisor), hn::Set(d, c.dead));
    if (c.clips) {
        // Comparisons, not Min and Max: a NaN stays.
        const auto low = hn::Set(d, c.clip_low);
        const auto high = hn::Set(d, c.clip_high);
        t = hn::IfThenElse(hn::Lt(t, low), low, t);
        t = hn::IfThenElse(hn::Gt(t, high), high, t);
    }
    if (c.takes_log) {
        const auto floor = hn::Set(d, c.floor);
        const auto is_below = hn::Lt(t, floor);
        t = hn::IfThenElse(is_below, floor, t);
        raised += hn::CountTrue(d, hn::And(is_below, lanes));
    }
    return t;
}

std::uint64_t correct_all(const Correct& c, std::int64_t count, const FrameField& dark,
                          const FrameField& flat, float* values) {
    const D d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    std::uint64_t raised = 0;
    std::int64_t i = 0;
    const auto field = [&](const FrameField& of) HWY_ATTR {
        if (of.image == nullptr) {
            return hn::Set(d, of.number);
        }
        const auto before = hn::LoadU(d, of.image + i);
        if (of.next == nullptr) {
            return before;
        }
        const auto step = hn::Sub(hn::LoadU(d, of.next + i), before);
        return hn::Add(before, hn::Mul(hn::Set(d, of.weight), step));
    };
    for (; i + lanes <= count; i += lanes) {
        const auto all = hn::FirstN(d, static_cast<std::size_t>(lanes));
        hn::StoreU(
            correct_vector(d, c, hn::LoadU(d, values + i), field(dark), field(flat), all, raised),
            d, values + i);
    }
    if (i < count) {
        HWY_ALIGN float parts[3][hn::MaxLanes(d)] = {};
        const std::int64_t rest = count - i;
        for (std::int64_t k = 0; k < rest; ++k) {
            parts[0][k] = values[i + k];
            parts[1][k] = dark.at(i + k);
            parts[2][k] = flat.at(i + k);
        }
        const auto some = hn::FirstN(d, static_cast<std::size_t>(rest));
        hn::Store(correct_vector(d, c, hn::Load(d, parts[0]), hn::Load(d, parts[1]),
                                 hn::Load(d, parts[2]), some, raised),
                  d, parts[0]);
        for (std::int64_t k = 0; k < rest; ++k) {
            values[i + k] = parts[0][k];
        }
    }
    if (c.takes_log) {
        log_all(values, count);
    }
    return raised;
}

} // namespace HWY_NAMESPACE
} // namespace runner
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace runner {

HWY_EXPORT(correct_all);

namespace {

/// Replaces `count` values of a row by the corrected ones, with the widest vectors there are; the
/// fields' images begin at the row's first pixel. Returns how many were raised to the floor.
std::uint64_t correct_values(const Correct& correct, std::int64_t count, const FrameField& dark,
                             const FrameField& flat, float* values) {
    return HWY_DYNAMIC_DISPATCH(correct_all)(correct, count, dark, flat, values);
}

} // namespace

void correct(CpuQueue& queue, const Correct& correct, const RowBlock& block,
             const CorrectField& dark, const CorrectField& flat, const std::byte* in, float* out,
             std::uint64_t* raised) {
    constexpr std::int64_t piece = 2048; // input, fields and output stay in the L1 cache
    const std::int64_t pixels = block.out_rows * correct.columns; // of a frame
    const std::int64_t pieces = (pixels + piece - 1) / piece;
    const std::int64_t offset = block.out_first * correct.columns;
    const std::int64_t image = correct.rows * correct.columns; // its pixels
    using Range = tbb::blocked_range<std::int64_t>;
    queue.run([&] {
        *raised += tbb::parallel_reduce(
            Range(0, block.frames * pieces, 16), std::uint64_t{0},
            [&](const Range& range, std::uint64_t part) {
                for (std::int64_t i = range.begin(); i < range.end(); ++i) {
                    const std::int64_t frame = i / pieces;
                    const std::int64_t first = i % pieces * piece;
                    const std::int64_t count = std::min(piece, pixels - first);
                    const std::int64_t at = frame * pixels + first;
                    load_elements(correct.in_type, in + at * size_of(correct.in_type), count,
                                  out + at);
                    part += correct_values(
                        correct, count, frame_field(dark, frame, image, offset + first),
                        frame_field(flat, frame, image, offset + first), out + at);
                }
                return part;
            },
            std::plus<>());
    });
}

} // namespace runner
#endif
