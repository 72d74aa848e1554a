// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace runner {

/// The environment variable that names the vector instructions to use.
inline constexpr const char* vectors_variable = "RUNNER_VECTORS";

/// The sets of vector instructions that the kernels are compiled for and this processor has, the
/// least first: Highway's names in lower case, such as "avx2".
std::vector<std::string> usable_vectors();

/// The set that kernels use on the CPU: the best of usable_vectors(), or what use_vectors() chose.
std::string vectors_in_use();

/// From now on every kernel on the CPU uses this set, or the next one below it for which it is
/// compiled. Call it before other threads run kernels.
/// @throws Error (usage) if it is none of usable_vectors().
void use_vectors(const std::string& name);

/// use_vectors() of the variable RUNNER_VECTORS, if it is set.
void use_vectors_of_environment();

} // namespace runner
