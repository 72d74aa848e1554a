// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

namespace runner {

/// What the parts in braces of batch.output stand for.
struct NameParts {
    std::string input; ///< the file: {stem} is its name without the ending, {dir} its folder
    std::string kind;  ///< {kind}
    std::string name;  ///< {name}, the job's
};

/// What is wrong with such a pattern, and at which of its bytes.
struct NameFault {
    std::string text;
    std::size_t at = 0;
};
std::optional<NameFault> name_fault(const std::string& pattern);

/// What is wrong with the name that the pattern makes of these parts: a component of its path that
/// braces fill is empty, "." or "..", or holds a slash or U+0000. Only {dir} may hold slashes and
/// be ".", and lead upwards where the pattern begins with it. The pattern has no fault.
std::optional<std::string> filling_fault(const std::string& pattern, const NameParts& parts);

/// The output's path in its shortest form ("out/./a" is "out/a"). The pattern has no fault.
/// @throws Error (usage) with filling_fault().
std::string output_name(const std::string& pattern, const NameParts& parts);

/// The folder that all outputs of the pattern lie in or below: what stands before the first part
/// of the path with braces; "." where nothing does.
std::string common_folder(const std::string& pattern);

} // namespace runner
