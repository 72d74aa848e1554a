// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/transpose/transpose_axes.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace runner {

/// An array of any number of axes that change places, as transpositions of three: one for each
/// index of the axes outside, all alike.
struct ArrayTransposition {
    /// Where one of the transpositions begins, in elements.
    struct Places {
        std::int64_t in = 0;
        std::int64_t out = 0;
    };

    Transposition each;
    std::vector<TransposeAxis> outside; ///< slowest of the output first; their strides in elements

    std::int64_t count() const;
    /// The places of the index-th, 0 ≤ index < count().
    Places places(std::int64_t index) const;
};

/// The transposition of a whole row-major array. Axes that stay neighbours are one, and the
/// longest of the others are inside, so that few transpositions do it.
///
/// @param shape of the input, each extent ≥ 1
/// @param permutation output axis i is input axis permutation[i]
/// @param element_bytes 1, 2, 4, 8 or 16
ArrayTransposition array_transposition(std::span<const std::int64_t> shape,
                                       std::span<const int> permutation, int element_bytes);

/// Does it on a queue, as transpose() does each: the same conditions.
template <class Q>
void transpose_array(Q& queue, const ArrayTransposition& transposition, const std::byte* in,
                     std::byte* out) {
    const std::int64_t bytes = transposition.each.element_bytes;
    for (std::int64_t i = 0; i < transposition.count(); ++i) {
        const ArrayTransposition::Places places = transposition.places(i);
        transpose(queue, transposition.each, in + places.in * bytes, out + places.out * bytes);
    }
}

} // namespace runner
