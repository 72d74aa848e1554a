// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace runner {

/// "1 row", "2 rows"; `many` where it is not `one` with an s.
inline std::string counted(std::int64_t count, std::string_view one, std::string_view many = {}) {
    std::string text = std::to_string(count) + " ";
    if (count == 1) {
        return text.append(one);
    }
    return many.empty() ? text.append(one).append("s") : text.append(many);
}

/// The one of `names` most like `word`, if any is near enough to be meant.
std::optional<std::string> nearest_name(std::string_view word,
                                        const std::vector<std::string>& names);

/// The text with everything that a terminal obeys, or that forges a message, as \xNN, a byte each:
/// control characters (C0, DEL, C1), line breaks, marks that turn the direction of text, and bytes
/// that are no UTF-8. For names and texts out of files and arguments. Its result is unchanged by a
/// second call.
std::string printable(std::string_view text);

/// The same for whole lines of output: '\n' stays. Every text passes through it on its way to a
/// terminal or a log.
std::string printable_lines(std::string_view text);

/// The same for JSON, in UTF-8 and with control characters below 0x20 escaped already: the others
/// become \uNNNN, which JSON reads back as they were.
std::string printable_json(std::string_view text);

/// The text that a shell reads back as this one word.
std::string shell_word(const std::string& text);

/// Whether the bytes are UTF-8, as a job file must be.
bool is_utf8(std::string_view text);

} // namespace runner
