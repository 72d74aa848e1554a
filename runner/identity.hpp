// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/prepare.hpp"

#include <string>

namespace runner {

/// What makes a job's output the one it is, a line a fact, "key = value": the job without what only
/// says how to run it, the input (path, size, time, shape, type, a checksum of samples of its
/// bytes) and the computation's version. Two runs of one identity make the same bytes. The input
/// must be there. @throws Error (input).
std::string job_identity(const PreparedJob& prepared);

/// How two identities differ: "input.modified was …, is …; convolve.fill was …, is …"; a long list
/// is cut. Empty when they do not.
std::string identity_difference(const std::string& was, const std::string& is);

/// Whether they differ in facts of the input only.
bool only_input_differs(const std::string& was, const std::string& is);

} // namespace runner
