// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/transpose/transpose.hpp"

#include "base/rounding.hpp"
#include "base/sizes.hpp"
#include "kernels/transpose/transpose_axes.hpp"
#include "kernels/transpose/transpose_tile.hpp"

#include <algorithm>
#include <cstring>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>

namespace runner {
namespace {

/// One axis, or two of which the faster is short and the slower follows it without a gap on one
/// side: then both are one long axis there, and on the other side places are looked up.
struct LongAxis {
    TransposeAxis fast;
    TransposeAxis slow;

    std::int64_t extent() const { return fast.extent * slow.extent; }
    std::int64_t in(std::int64_t i) const {
        return i % fast.extent * fast.in + i / fast.extent * slow.in;
    }
    std::int64_t out(std::int64_t i) const {
        return i % fast.extent * fast.out + i / fast.extent * slow.out;
    }
    /// Calls `take(i − first, fast index, slow index)` for i in [first, end).
    template <class Take> void each(std::int64_t first, std::int64_t end, const Take& take) const {
        std::int64_t j = first % fast.extent;
        std::int64_t k = first / fast.extent;
        for (std::int64_t i = first; i < end; ++i) {
            take(static_cast<std::size_t>(i - first), j, k);
            if (++j == fast.extent) {
                j = 0;
                ++k;
            }
        }
    }
};

/// What a thread works in.
struct alignas(64) Space {
    std::array<std::byte, TransposeTile::space_bytes> bytes;
    std::array<const std::byte*, TransposeTile::most_along> in_rows;
    std::array<std::byte*, TransposeTile::most_across> out_rows;
};

/// Copies `bytes` ≤ 32 and perhaps some more, up to `room`, by few instructions.
void copy_short(std::byte* to, const std::byte* from, std::int64_t bytes, std::int64_t room) {
    if (bytes <= 8 && room >= 8) {
        std::memcpy(to, from, 8);
    } else if (bytes <= 16 && room >= 16) {
        std::memcpy(to, from, 16);
    } else if (bytes <= 32 && room >= 32) {
        std::memcpy(to, from, 32);
    } else {
        std::memcpy(to, from, static_cast<std::size_t>(bytes));
    }
}

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
    void move_planes(const TransposeAxis& a, const TransposeAxis& b, const TransposeAxis& c) {
        constexpr std::int64_t few = 16; // bytes that a vector of the tiles takes of a row
        if (a.extent * e_ < few && b.in == a.extent) {
            split_all(a, b, c);
        } else if (b.extent * e_ < few && a.out == b.extent) {
            join_all(a, b, c);
        } else if (a.extent * e_ < TransposeTile::most_across && c.in == a.extent) {
            move_tiles({a, c}, {b, {}}, {});
        } else if (b.extent * e_ < TransposeTile::most_along && c.out == b.extent) {
            move_tiles({a, {}}, {b, c}, {});
        } else {
            move_tiles({a, {}}, {b, {}}, c);
        }
    }

    /// Any strides.
    void move_elements(const std::array<TransposeAxis, 3>& axis) {
        const Box box = {4096, 1, 1};
        for_each_box({axis[2].extent, axis[1].extent, axis[0].extent}, box,
                     [&](const Box& first, const Box& end) {
                         const std::byte* from =
                             in_ + (first[2] * axis[0].in + first[1] * axis[1].in) * e_;
                         std::byte* to =
                             out_ + (first[2] * axis[0].out + first[1] * axis[1].out) * e_;
                         for (std::int64_t i = first[0]; i < end[0]; ++i) {
                             std::memcpy(to + i * axis[2].out * e_, from + i * axis[2].in * e_,
                                         static_cast<std::size_t>(e_));
                         }
                     });
    }

  private:
    using Box = std::array<std::int64_t, 3>;
    static constexpr std::int64_t streamed_from = 8 * MiB;
    static constexpr std::int64_t long_row = KiB;
    static constexpr std::int64_t run_bytes = 4 * KiB; ///< gathered before they leave
    static_assert(run_bytes + 32 <= TransposeTile::space_bytes);

    /// Calls `work(first, end)` for all boxes of an extent, in all threads; neighbours along the
    /// first axis come one after the other.
    template <class Work> void for_each_box(const Box& extent, const Box& box, const Work& work) {
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

    /// Tiles of a × b; c is what is left.
    void move_tiles(const LongAxis& a, const LongAxis& b, const TransposeAxis& c) {
        constexpr std::int64_t strip = 16; // tiles that a thread takes one after the other
        const std::int64_t across = TransposeTile::most_across / e_;
        const std::int64_t along = TransposeTile::most_along / e_;
        for_each_box(
            {a.extent(), b.extent(), c.extent}, {strip * across, along, 1},
            [&](const Box& first, const Box& end) {
                Space& space = spaces_.local();
                const std::byte* in = in_ + first[2] * c.in * e_;
                std::byte* out = out_ + (first[2] * c.out + b.out(first[1])) * e_;
                b.each(first[1], end[1], [&](std::size_t i, std::int64_t fast, std::int64_t slow) {
                    space.in_rows[i] = in + (fast * b.fast.in + slow * b.slow.in) * e_;
                });
                for (std::int64_t i = first[0]; i < end[0]; i += across) {
                    const std::int64_t count = std::min(across, end[0] - i);
                    a.each(i, i + count, [&](std::size_t k, std::int64_t fast, std::int64_t slow) {
                        space.out_rows[k] = out + (fast * a.fast.out + slow * a.slow.out) * e_;
                    });
                    const std::int64_t next = std::min(across, end[0] - i - count) * e_;
                    transpose_tile(static_cast<int>(e_),
                                   {space.in_rows.data(), a.in(i)*e_, space.out_rows.data(), count,
                                    end[1] - first[1], next},
                                   space.bytes.data(), stores_);
                }
            });
    }

    /// Few elements along `a`, and the next along `b` follow them.
    void split_all(const TransposeAxis& a, const TransposeAxis& b, const TransposeAxis& c) {
        const PointTables tables(PointTables::Direction::split, e_, a.extent);
        for_each_box({b.extent, c.extent, 1}, {run_bytes, 1, 1},
                     [&](const Box& first, const Box& end) {
                         Space& space = spaces_.local();
                         std::byte* to = out_ + (first[0] + first[1] * c.out) * e_;
                         for (std::int64_t j = 0; j < a.extent; ++j) {
                             space.out_rows[static_cast<std::size_t>(j)] = to + j * a.out * e_;
                         }
                         split_points(tables, in_ + (first[0] * b.in + first[1] * c.in) * e_,
                                      space.out_rows.data(), end[0] - first[0]);
                     });
    }

    /// Few elements along `b`, and in the output the next along `a` follow them.
    void join_all(const TransposeAxis& a, const TransposeAxis& b, const TransposeAxis& c) {
        const PointTables tables(PointTables::Direction::join, e_, b.extent);
        for_each_box(
            {a.extent, c.extent, 1}, {run_bytes, 1, 1}, [&](const Box& first, const Box& end) {
                Space& space = spaces_.local();
                const std::byte* from = in_ + (first[0] + first[1] * c.in) * e_;
                for (std::int64_t j = 0; j < b.extent; ++j) {
                    space.in_rows[static_cast<std::size_t>(j)] = from + j * b.in * e_;
                }
                join_points(tables, space.in_rows.data(),
                            out_ + (first[0] * a.out + first[1] * c.out) * e_, end[0] - first[0]);
            });
    }

    void move_long_rows(std::int64_t bytes, const TransposeAxis& slow, const TransposeAxis& fast) {
        const Box box = {std::min(bytes, 256 * KiB), std::max<std::int64_t>(1, 256 * KiB / bytes),
                         1};
        for_each_box({bytes, fast.extent, slow.extent}, box, [&](const Box& first, const Box& end) {
            for (std::int64_t j = first[1]; j < end[1]; ++j) {
                const std::int64_t from = (first[2] * slow.in + j * fast.in) * e_;
                const std::int64_t to = (first[2] * slow.out + j * fast.out) * e_;
                copy_run(out_ + to + first[0], in_ + from + first[0], end[0] - first[0], stores_);
            }
        });
    }

    /// Rows that will be neighbours are gathered, so that they leave together.
    void move_short_rows(std::int64_t bytes, const TransposeAxis& slow, const TransposeAxis& fast) {
        const bool neighbours = fast.out * e_ == bytes;
        const Box box = {std::max<std::int64_t>(1, run_bytes / bytes),
                         std::max<std::int64_t>(1, KiB / bytes), 1};
        const std::int64_t in_end =
            bytes + ((fast.extent - 1) * fast.in + (slow.extent - 1) * slow.in) * e_;
        for_each_box({fast.extent, slow.extent, 1}, box, [&](const Box& first, const Box& end) {
            const std::int64_t count = end[0] - first[0];
            for (std::int64_t i = first[1]; i < end[1]; ++i) {
                std::int64_t from = (i * slow.in + first[0] * fast.in) * e_;
                std::byte* to = out_ + (i * slow.out + first[0] * fast.out) * e_;
                if (neighbours) {
                    std::byte* place = spaces_.local().bytes.data();
                    for (std::int64_t j = 0; j < count; ++j, from += fast.in * e_) {
                        copy_short(place + j * bytes, in_ + from, bytes, in_end - from);
                    }
                    copy_run(to, place, count * bytes, stores_);
                } else {
                    for (std::int64_t j = 0; j < count; ++j, from += fast.in * e_) {
                        std::memcpy(to + j * fast.out * e_, in_ + from,
                                    static_cast<std::size_t>(bytes));
                    }
                }
            }
        });
    }

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
        host.move_planes(axis(a), axis(b), axes.count == 3 ? axis(3 - a - b) : TransposeAxis{});
    } else {
        host.move_elements(axes.axis);
    }
}

} // namespace runner
