// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/file_lock.hpp"
#include "runner/probe/prober.hpp"

#include <string>

namespace runner {

/// With the lock of the output `file` held: completes the publishing that a run died in
/// (io/output/publish_output.hpp). @throws Error (output) where it was none of this program's;
/// (launch).
void complete_publishing(const std::string& file, const FileLock& lock, Prober& prober);

/// complete_publishing(), then check_own_parts(): before anything else is done under the output's
/// name or the names beside it.
void take_names(const std::string& file, const FileLock& lock, Prober& prober);

} // namespace runner
