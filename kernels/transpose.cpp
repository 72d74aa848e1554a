// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/transpose.hpp"

#include "base/sizes.hpp"
#include "kernels/transpose_axes.hpp"
#include "kernels/transpose_tile.hpp"

#include <algorithm>
#include <cstring>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>

namespace runner {
namespace {

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// A transposition on the CPU, cut into boxes that threads take.
class HostTransposition {
  public:
    HostTransposition(CpuQueue& queue, const TransposeAxes& axes, const std::byte* in,
                      std::byte* out)
        : queue_(queue), in_(in), out_(out), e_(axes.element_bytes),
          stores_(axes.elements() * e_ >= streamed_from ? Stores::streaming : Stores::cached) {}

    /// Rows of `row` elements stay whole; `slow` and `fast` as the output has them.
    void move_rows(std::int64_t row, const TransposeAxis& slow, const TransposeAxis& fast) {
        const std::int64_t bytes = row * e_;
        if (bytes >= long_row) {
            move_long_rows(bytes, slow, fast);
        } else {
            move_short_rows(bytes, slow, fast);
        }
    }

    /// `a` is the axis along which the input lies, `b` that of the output.
    void move_tiles(const TransposeAxis& a, const TransposeAxis& b, const TransposeAxis& c) {
        const Box tile = {TransposeTile::most_across / e_, TransposeTile::most_along / e_, 1};
        // Where an extent is shorter than a line, neighbours along the third axis share lines.
        const bool thin = std::min(a.extent, b.extent) * e_ < 64;
        const Box box = {std::min(a.extent, (thin ? 1 : 8) * tile[0]),
                         std::min(b.extent, tile[1]),
                         std::min(c.extent, thin ? std::int64_t{64} : std::int64_t{1})};
        for_each_box({a.extent, b.extent, c.extent}, box, [&](const Box& first, const Box& end) {
            for (std::int64_t i = first[0]; i < end[0]; i += tile[0]) {
                for (std::int64_t k = first[2]; k < end[2]; ++k) {
                    const TransposeTile work{in_ + (i * a.in + first[1] * b.in + k * c.in) * e_,
                                             out_ + (i * a.out + first[1] * b.out + k * c.out) * e_,
                                             b.in * e_,
                                             a.out * e_,
                                             std::min(tile[0], end[0] - i),
                                             end[1] - first[1]};
                    transpose_tile(static_cast<int>(e_), work, space(),
                                   thin ? Stores::cached : stores_);
                }
            }
        });
    }

    /// Any strides.
    void move_elements(const std::array<TransposeAxis, 3>& axis) {
        const Box box = {1, 1, 4096};
        for_each_box({axis[0].extent, axis[1].extent, axis[2].extent}, box,
                     [&](const Box& first, const Box& end) {
                         const std::byte* from =
                             in_ + (first[0] * axis[0].in + first[1] * axis[1].in) * e_;
                         std::byte* to =
                             out_ + (first[0] * axis[0].out + first[1] * axis[1].out) * e_;
                         for (std::int64_t i = first[2]; i < end[2]; ++i) {
                             std::memcpy(to + i * axis[2].out * e_, from + i * axis[2].in * e_,
                                         static_cast<std::size_t>(e_));
                         }
                     });
    }

  private:
    using Box = std::array<std::int64_t, 3>;
    static constexpr std::int64_t streamed_from = 8 * MiB;
    static constexpr std::int64_t long_row = KiB;

    /// Calls `work(first, end)` for all boxes of an extent, in all threads; neighbours along the
    /// first axis come one after the other.
    template <class Work>
    void for_each_box(const Box& extent, const Box& box, const Work& work) {
        Box count{};
        for (std::size_t i = 0; i < 3; ++i) {
            count[i] = ceil_divide(extent[i], box[i]);
        }
        using Range = tbb::blocked_range<std::int64_t>;
        queue_.run([&] {
            tbb::parallel_for(Range(0, count[0] * count[1] * count[2]), [&](const Range& range) {
                for (std::int64_t i = range.begin(); i < range.end(); ++i) {
                    const Box index = {i % count[0], i / count[0] % count[1],
                                       i / count[0] / count[1]};
                    Box first{};
                    Box end{};
                    for (std::size_t k = 0; k < 3; ++k) {
                        first[k] = index[k] * box[k];
                        end[k] = std::min(first[k] + box[k], extent[k]);
                    }
                    work(first, end);
                }
                finish_stores();
            });
        });
    }

    void move_long_rows(std::int64_t bytes, const TransposeAxis& slow, const TransposeAxis& fast) {
        const Box box = {std::min(bytes, 256 * KiB),
                         std::max<std::int64_t>(1, 256 * KiB / bytes), 1};
        for_each_box({bytes, fast.extent, slow.extent}, box,
                     [&](const Box& first, const Box& end) {
                         for (std::int64_t j = first[1]; j < end[1]; ++j) {
                             const std::int64_t from = (first[2] * slow.in + j * fast.in) * e_;
                             const std::int64_t to = (first[2] * slow.out + j * fast.out) * e_;
                             copy_run(out_ + to + first[0], in_ + from + first[0],
                                      end[0] - first[0], stores_);
                         }
                     });
    }

    /// Rows that will be neighbours are gathered, so that they leave together.
    void move_short_rows(std::int64_t bytes, const TransposeAxis& slow, const TransposeAxis& fast) {
        const bool neighbours = fast.out * e_ == bytes;
        const Box box = {std::max<std::int64_t>(1, run_bytes / bytes),
                         std::max<std::int64_t>(1, KiB / bytes), 1};
        for_each_box({fast.extent, slow.extent, 1}, box, [&](const Box& first, const Box& end) {
            for (std::int64_t i = first[1]; i < end[1]; ++i) {
                const std::byte* from = in_ + (i * slow.in + first[0] * fast.in) * e_;
                std::byte* to = out_ + (i * slow.out + first[0] * fast.out) * e_;
                std::byte* place = neighbours ? space() : to;
                for (std::int64_t j = 0; j < end[0] - first[0]; ++j) {
                    std::memcpy(place + j * fast.out * e_, from + j * fast.in * e_,
                                static_cast<std::size_t>(bytes));
                }
                if (neighbours) {
                    copy_run(to, place, (end[0] - first[0]) * bytes, stores_);
                }
            }
        });
    }

    static constexpr std::int64_t run_bytes = 4 * KiB;
    static_assert(run_bytes <= TransposeTile::space_bytes);

    struct alignas(64) Space {
        std::array<std::byte, TransposeTile::space_bytes> bytes;
    };
    std::byte* space() { return spaces_.local().bytes.data(); }

    CpuQueue& queue_;
    const std::byte* in_;
    std::byte* out_;
    std::int64_t e_;
    Stores stores_;
    tbb::enumerable_thread_specific<Space> spaces_;
};

} // namespace

void transpose(CpuQueue& queue, const Transposition& transposition, const std::byte* in,
               std::byte* out) {
    const auto& shape = transposition.shape;
    if (std::find(shape.begin(), shape.end(), 0) != shape.end()) {
        return;
    }
    const TransposeAxes axes = reduce_axes(transposition, in, out);
    const int a = std::max(0, axes.in_fastest());
    const int b = std::max(0, axes.out_fastest());
    const auto axis = [&](int i) { return axes.axis[static_cast<std::size_t>(i)]; };
    HostTransposition host(queue, axes, in, out);
    if (a == b && (axes.count == 0 || (axis(a).in == 1 && axis(a).out == 1))) {
        // The axes beside the rows, the faster one last.
        std::array<TransposeAxis, 2> others{};
        std::size_t at = 2;
        for (int i = axes.count - 1; i >= 0; --i) {
            if (i != a) {
                others[--at] = axis(i);
            }
        }
        host.move_rows(axis(a).extent, others[0], others[1]);
    } else if (a != b && axis(a).in == 1 && axis(b).out == 1) {
        host.move_tiles(axis(a), axis(b), axes.count == 3 ? axis(3 - a - b) : TransposeAxis{});
    } else {
        host.move_elements(axes.axis);
    }
}

} // namespace runner
