// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"
#include "io/input_rules.hpp"
#include "runner/job_file.hpp"

#include <span>
#include <string>

namespace runner {

class Prober;

/// Has a process of its own look at a dataset, or at all of a file where `dataset` is empty, before
/// this one opens it: HDF5 may crash over a damaged file, or never return. That process is this
/// program again, with little memory, time and few files, and knows nothing of ranks and devices.
/// So is TIFF and PNG, of which other libraries read; a file of which none does (.sand, .npy,
/// NIfTI) is looked at here.
/// @throws Error: what it found wrong (input); that it crashed or ran out of its limits (input);
/// that it could not be started (launch).
void probe_input(const std::string& file, const std::string& dataset, const InputRules& rules = {});

/// The same for all that a job reads; not for an input that it makes first.
void probe_inputs(const JobFile& job);

/// As above, by one who looks at many.
void probe_inputs(const JobFile& job, Prober& prober);

/// What `inspect` leans on: all of a file, or one dataset that runner need not be able to read.
void probe_content(const std::string& file, const std::string& dataset, const InputRules& rules);

/// Only that all of a file can be looked at without a crash: what is found wrong on the way is left
/// to who reads it next to tell.
void probe_survival(const std::string& file);
void probe_survival(const std::string& file, Prober& prober);

/// Whether the program was started by one of these.
bool is_probe(std::span<const std::string> arguments);

/// Does what it was started for and tells it on standard output.
ExitCode answer_probe(std::span<const std::string> arguments);

} // namespace runner
