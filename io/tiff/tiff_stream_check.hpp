// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/tiff/tiff_handle.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace runner {

/// Checks the compressed strips and tiles of a TIFF page whose compression has a checksum: deflate
/// always, zstd where the writer asked for one. libtiff stops at the last element that it needs,
/// which is before the checksum.
class TiffStreamCheck {
  public:
    /// How many bytes may come out of a strip or tile.
    struct Length {
        std::int64_t least = 0;
        std::int64_t most = 0; ///< larger for a last strip, which some writers fill up
    };

    /// Unpacks the strip or tile `number` of the page that `tiff` is at, in pieces of fixed size,
    /// and drops what comes out. Does nothing for other compressions. @throws Error (input) at
    /// `where` unless the stream is whole, its checksum right and its length within `length`.
    void check(const TiffHandle& tiff, std::uint32_t number, Length length,
               const std::string& where);

  private:
    std::vector<std::byte> packed_;
    std::vector<std::byte> unpacked_;
};

} // namespace runner
