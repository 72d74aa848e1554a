// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/message.hpp"
#include "io/metadata/metadata.hpp"

#include <string>
#include <string_view>

namespace runner {

/// What a process that reads a file hands over, as bytes. Decoding trusts nothing: what it returns
/// is consistent and within the limits of metadata.hpp, whoever wrote the bytes.
/// decode_metadata(): @throws BadMessage.
std::string encode_metadata(const Metadata& metadata);
Metadata decode_metadata(std::string_view bytes);

} // namespace runner
