// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/sizes.hpp"

#include <cstdint>
#include <optional>

namespace runner {

/// Elements that a file tells of and does not hold, which read as the fill value, may have so many
/// bytes without anyone's word for it.
inline constexpr std::int64_t most_unstored_bytes = 1024 * GiB;

/// What an input file may ask of its reader.
struct InputRules {
    /// The most bytes of all elements of a dataset; nothing: any that are stored, and
    /// most_unstored_bytes that are not.
    std::optional<std::int64_t> max_logical_bytes;

    /// Where other files may lie that its links, external and virtual datasets name.
    enum class Outside {
        beside,   ///< in the file's folder and the folders below it
        anywhere, ///< wherever there is a regular file
    } outside = Outside::beside;

    /// What becomes of chunks whose place or size in the index cannot be right: of an input nothing
    /// is read then; of a finished output it is to be told which rows are damaged, so that reading
    /// those alone fails (ChunkPlace::bytes is 0).
    enum class BadChunks { refuse, mark } bad_chunks = BadChunks::refuse;
};

} // namespace runner
