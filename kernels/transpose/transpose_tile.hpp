// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace runner {

/// How results go to memory: through the caches, or past them where they would only drive out
/// what is needed.
enum class Stores { cached, streaming };

/// Rows become columns: out row a, element b = in row b, element a.
struct TransposeTile {
    static constexpr std::int64_t most_across = 128; ///< bytes of an input row
    static constexpr std::int64_t most_along = 512;  ///< bytes of an output row
    /// Working memory: rows of `most_along` and a gap, so that they do not all begin in the same
    /// set of a cache.
    static constexpr std::int64_t space_pitch = most_along + 64;
    static constexpr std::int64_t space_bytes = most_across * space_pitch;

    const std::byte* const* in_rows; ///< b of them
    std::int64_t in_offset;          ///< bytes into these rows at which the tile begins
    std::byte* const* out_rows;      ///< a of them
    std::int64_t a;                  ///< elements of an input row, at most most_across bytes
    std::int64_t b;                  ///< elements of an output row, at most most_along bytes
    std::int64_t ahead; ///< bytes of the input's rows after this tile that will be read next
};

/// @param space space_bytes, aligned to 64.
void transpose_tile(int element_bytes, const TransposeTile& tile, std::byte* space, Stores stores);

/// Which byte goes where when points of a few components become a row a component, or back.
class PointTables {
  public:
    /// `components` · element_bytes components of 16 bytes at most.
    static constexpr std::int64_t most_components = 15;

    enum class Direction { split, join };
    PointTables(Direction direction, std::int64_t element_bytes, std::int64_t components);

    std::int64_t element_bytes() const { return element_bytes_; }
    std::int64_t components() const { return components_; }
    /// For vector `to` of the result: the places in vector `from` of the source, 128 for none.
    const std::uint8_t* places(std::int64_t to, std::int64_t from) const {
        return tables_.data() + (to * components_ + from) * 16;
    }

  private:
    std::int64_t element_bytes_;
    std::int64_t components_;
    alignas(64) std::array<std::uint8_t, most_components * most_components * 16> tables_{};
};

/// rows[j][i] = component j of point i, for `count` points that lie one after the other.
void split_points(const PointTables& tables, const std::byte* points, std::byte* const* rows,
                  std::int64_t count);
/// The inverse.
void join_points(const PointTables& tables, const std::byte* const* rows, std::byte* points,
                 std::int64_t count);

/// Copies bytes that do not overlap.
void copy_run(std::byte* to, const std::byte* from, std::int64_t bytes, Stores stores);

/// Makes streamed bytes visible to other threads; at the end of a thread's share.
void finish_stores();

} // namespace runner
