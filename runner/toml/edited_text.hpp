// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace runner {

/// The text of a job file with one `table.key=value`, as apply_setting() takes it, written into it:
/// in place of the value that the key has, or as a new line below the table's header, or with a
/// new table at the end. All other bytes are kept, comments too. Nothing if the text is no TOML, or
/// the value cannot be placed so: a new key of an inline table, or of a step that does not exist.
std::optional<std::string> edited_text(const std::string& text, const std::string& setting);

} // namespace runner
