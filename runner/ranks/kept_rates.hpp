// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/json.hpp"
#include "kernels/profile/kernel_use.hpp"

#include <string>
#include <tuple>
#include <vector>

namespace runner {

/// What is kept of a GPU, and why nothing is where its rates are not known.
struct KeptRates {
    DeviceRates rates;
    std::string why;

    static auto members(auto& self) { return std::tie(self.rates, self.why); }
};

/// The file that `runner devices --measure` writes: runner/devices.json in $XDG_CACHE_HOME, else in
/// $HOME/.cache. Empty where the environment has neither.
std::string rates_file();

/// The rates as a member of JSON documents: keys as in docs/report.md.
Json rates_json(const DeviceRates& rates);

/// The text of such a file, and what it says. @throws JsonError where it is no such text, or of
/// another version of it.
std::string rates_text(const std::vector<DeviceRates>& all);
std::vector<DeviceRates> parse_rates(const std::string& text);

/// The rates of the GPU with this UUID, measured with the CUDA of now. Never throws for what the
/// file holds.
KeptRates kept_rates(const std::string& uuid);

/// The rates of all GPUs in the file, for plans; none if it is missing, damaged or of another
/// version.
std::vector<DeviceRates> all_kept_rates();

/// Puts the rates beside those of other GPUs in the file, which is made. A damaged file is
/// replaced.
/// @throws Error (output).
void keep_rates(const std::vector<DeviceRates>& measured);

} // namespace runner
