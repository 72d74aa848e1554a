// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/prepare/prepare.hpp"

#include <cstdint>
#include <string>

namespace runner {

/// Bytes the output takes on its file system, and those free there, before the run.
struct DiskSpace {
    std::int64_t needed = 0; ///< at most: how small a compressed output becomes is not known
    std::int64_t least = 0;  ///< the same without what is compressed
    std::int64_t free = 0;

    /// A line where the output fits only if compression makes it small enough; else "".
    std::string doubt() const;
};
/// @throws Error (output) when the output's folder is not there.
DiskSpace disk_space(const PreparedJob& prepared);

/// The same, with so many bytes of scratch files. @throws Error (usage) when they do not fit
/// either.
DiskSpace sufficient_disk_space(const PreparedJob& prepared, std::int64_t scratch_bytes);

} // namespace runner
