// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/correct/correct.hpp"

#include "kernels/correct/correct_values.hpp"
#include "kernels/elements/elements.hpp"

#include <algorithm>
#include <functional>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_reduce.h>

namespace runner {
namespace {

CorrectField part_of(const CorrectField& field, std::int64_t first) {
    return {field.number, field.image == nullptr ? nullptr : field.image + first};
}

} // namespace

void correct(CpuQueue& queue, const Correct& correct, const RowBlock& block,
             const CorrectField& dark, const CorrectField& flat, const std::byte* in, float* out,
             std::uint64_t* raised) {
    constexpr std::int64_t piece = 2048; // input, fields and output stay in the L1 cache
    const std::int64_t pixels = block.out_rows * correct.columns; // of a frame
    const std::int64_t pieces = (pixels + piece - 1) / piece;
    const std::int64_t offset = block.out_first * correct.columns;
    using Range = tbb::blocked_range<std::int64_t>;
    queue.run([&] {
        *raised += tbb::parallel_reduce(
            Range(0, block.frames * pieces, 16), std::uint64_t{0},
            [&](const Range& range, std::uint64_t part) {
                for (std::int64_t i = range.begin(); i < range.end(); ++i) {
                    const std::int64_t first = i % pieces * piece;
                    const std::int64_t count = std::min(piece, pixels - first);
                    const std::int64_t at = i / pieces * pixels + first;
                    load_elements(correct.in_type, in + at * size_of(correct.in_type), count,
                                  out + at);
                    part += correct_values(correct, count, part_of(dark, offset + first),
                                           part_of(flat, offset + first), out + at);
                }
                return part;
            },
            std::plus<>());
    });
}

} // namespace runner
