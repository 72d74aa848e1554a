// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"
#include "io/input_rules.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace runner {

/// The verb of a probe's command line, behind which are "read" or "show", the file, the dataset and
/// the rules. For no person to use, and in no help.
inline constexpr std::string_view probe_verb = "probe-input";

/// The verb of the process that looks at many: it takes what stands behind probe_verb from its
/// standard input, each text ended by a NUL, again and again until that ends. For each it writes a
/// head of so many bytes (the look's status, as waitpid tells it, and the answer's length, in
/// decimal and filled up with spaces) and the answer.
inline constexpr std::string_view many_probes_verb = "probe-inputs";
inline constexpr std::size_t answer_head_bytes = 32;

/// Rules as one word.
std::string to_text(const InputRules& rules);
InputRules rules_from_text(const std::string& text);

/// A probe's answer: an error with its code and four parts, or that there is none.
std::string answer_text(const std::optional<Error>& failure);

/// Whether the answer says that nothing is wrong.
bool is_good(const std::string& answer);

/// The error that an answer tells; nothing where it tells none or is no answer at all. The process
/// that wrote it may have been led astray: the code is input's or launch's, and no control
/// character gets through.
std::optional<Error> error_of(const std::string& answer);

} // namespace runner
