// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/element_type.hpp"
#include "kernels/queue/queue.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace runner {

/// An axis of a group: so many elements, `stride` elements apart.
struct GroupAxis {
    std::int64_t extent = 1; ///< ≥ 1
    std::int64_t stride = 0;

    bool operator==(const GroupAxis&) const = default;
};

/// One result, or a row of them, of all elements of a group that have the same place: the mean of
/// frames, the maximum along z, the histogram of a frame. To the byte as docs/reduce.md says.
///
/// A group is a box of the input that is dense in memory. Some of its axes are reduced; the others
/// are kept, and an index along these is a place. The elements of a place are numbered i = 0, 1, …
/// in row-major order of the reduced axes, without regard to how they lie in memory.
///
/// Sums of integers are exact. A sum of floats is one of float64: elements are cut into pieces of
/// `piece` in their order. In a piece, element i is added to partial sum i mod `lanes`, which begin
/// at 0 and take their elements in order. Then for h = lanes / 2, …, 2, 1 partial sum j + h is
/// added to partial sum j for all j < h; partial sum 0 is the piece's, and the pieces are added up
/// in order, from 0 on. Squares are added up in the same way.
struct Reduction {
    enum class Operation { mean, sum, min, max, std, median, histogram, percentiles };
    static constexpr std::int64_t lanes = 128;
    static constexpr std::int64_t piece = 65536;             ///< a multiple of lanes
    static constexpr std::int64_t most_elements = 1LL << 31; ///< of a place
    static constexpr std::size_t most_percentiles = 64;
    static constexpr std::int64_t most_bins = 1 << 24;

    ElementType in_type = ElementType::float32;
    ElementType out_type = ElementType::float32;
    Operation operation = Operation::mean;
    std::array<GroupAxis, 3> reduced = {}; ///< slowest first
    std::array<GroupAxis, 3> kept = {};    ///< slowest first
    std::vector<double> percentiles = {};  ///< each from 0 to 100; up to most_percentiles
    std::int64_t bins = 0;                 ///< up to most_bins
    std::array<double, 2> range = {0, 1};  ///< of a histogram; finite, rising
    /// Invalid elements of the input (kernels/elements/invalid.hpp), which are left out; a place
    /// without others is invalid. Nothing: all are values.
    std::optional<double> invalid = {};

    /// Elements of a place, ≤ most_elements.
    std::int64_t elements() const {
        return reduced[0].extent * reduced[1].extent * reduced[2].extent;
    }
    /// Places of a group.
    std::int64_t places() const { return kept[0].extent * kept[1].extent * kept[2].extent; }
    /// Elements of the output that a place becomes.
    std::int64_t results() const;
    /// Whether elements are put in order.
    bool selects() const {
        return operation == Operation::median || operation == Operation::percentiles;
    }
};

/// Bytes of scratch memory for so many groups.
std::int64_t reduce_scratch_bytes(Backend backend, const Reduction& reduce, std::int64_t groups);

/// Makes the results of so many groups, place after place. `in`, `out` and `scratch`, of
/// reduce_scratch_bytes(), are in the queue's device memory, dense, and do not overlap; the
/// elements are aligned, the scratch to 256 bytes. The same bytes on every queue. The CUDA form
/// returns before the work is done.
void reduce(CpuQueue& queue, const Reduction& reduce, std::int64_t groups, const std::byte* in,
            std::byte* out, std::byte* scratch);
void reduce(CudaQueue& queue, const Reduction& reduce, std::int64_t groups, const std::byte* in,
            std::byte* out, std::byte* scratch);

} // namespace runner
