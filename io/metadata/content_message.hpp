// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/message.hpp"
#include "io/inspect/file_content.hpp"

#include <string>
#include <string_view>

namespace runner {

/// What a process that reads a file says of it for people, as bytes. Decoding trusts nothing, as
/// decode_layout() does. Each decode_…(): @throws BadMessage.
std::string encode_attributes(const AttributeList& attributes);
AttributeList decode_attributes(std::string_view bytes);

std::string encode_content(const FileContent& content);
FileContent decode_content(std::string_view bytes);

} // namespace runner
