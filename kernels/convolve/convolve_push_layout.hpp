// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

namespace runner {

/// How a push kernel is laid out.
template <int threads_, int columns_, int outputs_, int rows_, int roles_, int stages_, int blocks_,
          int unroll_>
struct PushLayout {
    static constexpr int threads = threads_; ///< that share a strip of columns, of one role
    static constexpr int columns = columns_; ///< of a thread in the column pass
    static constexpr int outputs = outputs_; ///< of a thread in the row pass
    static constexpr int rows = rows_;       ///< of a batch
    static constexpr int roles = roles_;     ///< threads that share a column
    static constexpr int stages = stages_;   ///< batches of input rows in shared memory
    static constexpr int blocks = blocks_;   ///< that a multiprocessor should hold
    static constexpr int unroll = unroll_;   ///< rows that the column pass has code for
};

/// The layouts that were fastest on an H200, of those tried (docs/kernels-convolve.md).
template <class T, int R, class Element> constexpr auto push_layout() {
    if constexpr (sizeof(Element) < sizeof(T) && R >= 9 && R <= 12) {
        return PushLayout<256, 2, 32, 16, 1, 2, 2, 8>{};
    } else if constexpr (sizeof(Element) < sizeof(T) && R > 16 && R <= 32) {
        return PushLayout<256, 1, 16, 16, 1, 2, 2, 8>{};
    } else if constexpr (sizeof(T) == 4) {
        if constexpr (R >= 9 && R <= 12) {
            return PushLayout<128, 4, 16, 8, 1, 2, 3, 4>{};
        } else if constexpr (R <= 16) {
            return PushLayout<128, 2, 16, 8, 1, 3, 4, 8>{};
        } else if constexpr (R <= 32) {
            return PushLayout<256, 1, 8, 8, 1, 3, 2, 8>{};
        } else {
            return PushLayout<256, 1, 16, 16, 1, 2, 1, 1>{};
        }
    } else {
        if constexpr (R <= 12) {
            return PushLayout<256, 1, 8, 8, 1, 3, 2, 8>{};
        } else if constexpr (R <= 20) {
            return PushLayout<128, 1, 8, 8, 1, 3, 3, 8>{};
        } else if constexpr (R <= 32) {
            return PushLayout<128, 1, 8, 8, 1, 2, 2, 4>{};
        } else {
            return PushLayout<128, 1, 4, 8, 2, 2, 1, 2>{};
        }
    }
}

} // namespace runner
