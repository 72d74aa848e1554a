// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace runner {

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

} // namespace runner
