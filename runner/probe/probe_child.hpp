// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"
#include "runner/probe/probe_limits.hpp"

#include <cstddef>
#include <exception>
#include <span>
#include <string>

namespace runner {

/// Whether the program was started by a Prober, and what it does then until its standard input
/// ends: answers one request after another, each in a process that it forks.
bool is_probe(std::span<const std::string> arguments);
ExitCode answer_probes();

/// What a failure in such a process means: calls that HDF5 refuses, and memory that it asks for
/// without bounds, are the file's fault.
Error as_fault_of_file(const std::exception& error, const std::string& where,
                       const ProbeLimits& limits);

/// Writes all of it. False where nobody reads.
bool write_all(int descriptor, const std::string& text);

/// Reads exactly so many bytes. False at the end.
bool read_all(int descriptor, char* to, std::size_t bytes);

} // namespace runner
