// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/filters/unpacker.hpp"
#include "io/input/dataset_layout.hpp"
#include "io/levels/level_sweep.hpp"
#include "io/rows/chunk_grid.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace runner::verify {

/// Boxes of an image, or of a level of one, in the chunks of a finished output that has levels. For
/// one thread.
class StoredBoxes {
  public:
    /// `places`: as stored_places() or layouts_in_file() gives them; they outlive it.
    StoredBoxes(const OutputDataset& output, const DatasetLayout& places);

    /// The extents of a chunk along z, y and x.
    const std::array<std::int64_t, 3>& grain() const { return grain_; }

    /// Fills memory with a box, dense. @throws Error (input) for a chunk that cannot be read.
    void read(const VolumeBox& box, std::byte* to);

    /// A chunk that has other elements than it should, or cannot be read.
    struct WrongChunk {
        std::int64_t chunk = 0;
        std::string why;
        enum class What { chunk, file } what = What::chunk; ///< what is wrong: all of its file
    };

    /// Compares a box, dense, and calls `wrong` with each wrong chunk.
    void compare(const VolumeBox& box, const std::byte* elements,
                 const std::function<void(WrongChunk found)>& wrong);

  private:
    /// What a chunk has of a box.
    struct Piece {
        std::int64_t chunk = 0;
        VolumeBox box;
        std::int64_t at = 0; ///< element of the chunk where the box begins
    };

    std::vector<Piece> pieces_of(const VolumeBox& box) const;
    const std::byte* chunk(std::int64_t index);
    const std::string& file_of(std::int64_t chunk) const;

    const DatasetLayout& places_;
    std::vector<std::int64_t> shape_;
    std::int64_t size_; ///< of an element
    ChunkGrid grid_;
    std::array<std::int64_t, 3> grain_ = {1, 1, 1};
    Unpacker unpacker_;
    std::int64_t unpacked_ = -1; ///< which chunk is
    const std::byte* elements_ = nullptr;
    std::vector<std::byte> packed_;
};

} // namespace runner::verify
