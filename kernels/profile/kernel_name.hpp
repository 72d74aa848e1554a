// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace runner {

/// A kernel's name as its source has it, with template arguments and without result, parameters and
/// namespaces of this program: "channels_kernel<unsigned char, (Direction)0>" of a symbol's name.
std::string kernel_name(const std::string& symbol);

} // namespace runner
