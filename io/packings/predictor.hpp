// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

namespace runner {

/// Lines of elements that TIFF stores as differences.
struct PredictedLines {
    std::size_t elements = 0; ///< of a line
    std::size_t size = 1;     ///< of an element: 1, 2, 4 or 8 bytes
    std::size_t samples = 1;  ///< elements of a pixel
    bool big_endian = false;  ///< of the elements before and after

    std::size_t bytes() const { return elements * size; }
};

/// Adds to each element that of the pixel before in its line (TIFF's predictor 2), in place.
/// `bytes`: whole lines.
void add_differences(std::span<std::byte> bytes, const PredictedLines& lines);

/// Makes floating-point numbers of what TIFF's predictor 3 stores: of a line, first the highest
/// bytes of all elements, then the next, each the difference from the byte before. `packed`: whole
/// lines; `to`: of the same size.
void join_float_bytes(std::span<const std::byte> packed, const PredictedLines& lines,
                      std::span<std::byte> to);

} // namespace runner
