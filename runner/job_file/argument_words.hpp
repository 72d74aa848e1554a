// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace runner {

/// A message about a job that stands for a command line, `runner median IN OUT --size 3,3`, in the
/// words of that command line: `--size` for median.size, IN for input.dataset, `--set KEY=VALUE`
/// for a key without an option. `name`: what messages call the job, "runner median".
std::string in_words_of_arguments(std::string message, std::string_view name);

/// A value of TOML as an option takes it: words without quotes, numbers with commas between them.
/// Tables stay; a shell needs quotes about them.
std::string argument_of(const std::string& value);

} // namespace runner
