// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/kind.hpp"

#include <memory>
#include <string_view>

namespace runner {

/// The keys of [denoise].
std::vector<KeyText> denoise_keys();

/// Reads [denoise]: the keys of [match], method, sigma, strength and stabilise. What it returns
/// makes the method's job and throws Error
/// * input: as make_volume();
/// * usage: keys that do not fit the input, or an output type that is neither float32 nor the
///   input's.
std::unique_ptr<KindParameters> parse_denoise(TableReader& table);

} // namespace runner
