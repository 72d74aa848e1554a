// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"
#include "io/input_rules.hpp"
#include "runner/probe_process.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace runner {

/// Has many inputs looked at, each in a process of its own and within its limits as by
/// probe_input(), for less: a small process, started once, forks itself for each of them. For one
/// thread.
class Prober {
  public:
    /// `limits`: what a look at a file may take.
    using Limits = std::function<ProbeLimits(const std::string&)>;
    explicit Prober(Limits limits = probe_limits) : limits_(std::move(limits)) {}

    /// The error that the look told of, if it did. `way`: "read" or "show", as a probe's verb, or
    /// "list" for the names and root attributes of an HDF5 file (object_names.hpp).
    /// @throws Error (input) where it crashed or ran out of its limits; (launch).
    std::optional<Error> look(const std::string& way, const std::string& file,
                              const std::string& dataset, const InputRules& rules);

  private:
    /// The look's status, as waitpid tells it, and its answer; nothing where the process that forks
    /// is gone.
    struct Outcome {
        int status = 0;
        std::string answer;
    };
    std::optional<Outcome> ask(const std::string& request, const std::string& where,
                               const ProbeLimits& limits);

    Limits limits_;
    std::unique_ptr<ProbeProcess> process_; ///< started for the first look
};

} // namespace runner
