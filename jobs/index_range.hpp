// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/table.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace runner {

/// "BEGIN:END" or "BEGIN:END:STEP" as numpy slices: either side may be left out, and a negative
/// number counts from the end of the axis.
struct IndexRange {
    std::optional<std::int64_t> begin;
    std::optional<std::int64_t> end;
    std::int64_t step = 1;
};

/// "all": every frame, whatever the file says of them.
struct AllFrames {};

/// Whether a range may leave indices out.
enum class RangeStep { one, any };

/// The range that a text is; nothing where it is none.
std::optional<IndexRange> range_of_text(std::string_view text);

/// The range under a key. What is none is reported to the table.
std::optional<IndexRange> parse_range(TableReader& table, std::string_view key, RangeStep steps);

/// A range of frames, or "all"; nothing where the key is left out.
using FramesTaken = std::variant<std::monostate, AllFrames, IndexRange>;
FramesTaken parse_frame_range(TableReader& table, std::string_view key);

/// As it is written, in quotes.
std::string toml_text(const IndexRange& range);

/// Where a range is used, for messages.
struct RangePlace {
    std::string key;   ///< of the job file
    std::string where; ///< the dataset
};

/// Indices [first, last).
struct Indices {
    std::int64_t first = 0;
    std::int64_t last = 0;
};

/// The range of an axis of this extent, its step left out of account. @throws Error (usage) for one
/// that is empty or leads beyond the axis.
Indices indices_of(const IndexRange& range, std::int64_t extent, const RangePlace& place);

/// The frames that the range takes of `listed`, or where none are listed of all `frames`.
/// @throws Error (usage) as indices_of().
std::vector<std::int64_t> chosen_by(const IndexRange& range, std::int64_t frames,
                                    const std::vector<std::int64_t>& listed,
                                    const RangePlace& place);

/// That a part of the input cannot be taken. @throws Error (usage).
[[noreturn]] void refuse_part(const RangePlace& place, const std::string& why);

} // namespace runner
