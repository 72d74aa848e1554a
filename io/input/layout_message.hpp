// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/message.hpp"
#include "io/input/dataset_layout.hpp"

#include <string>
#include <string_view>

namespace runner {

/// What a process that reads a file hands over, as bytes. Decoding trusts nothing: texts for people
/// come without control characters, and check_layout() is still to be called.
/// decode_layout(): @throws BadMessage.
std::string encode_layout(const DatasetLayout& layout);
DatasetLayout decode_layout(std::string_view bytes);

} // namespace runner
