// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"
#include "runner/probe/probe_process.hpp"
#include "runner/probe/probe_words.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace runner {

/// Has files read by processes that may be lost: HDF5 may crash over a damaged file, or never
/// return. A small process of this program, started once, forks itself for each request, within
/// limits and without a word of ranks and devices. For one thread.
class Prober {
  public:
    /// `limits`: what reading a file may take.
    using Limits = std::function<ProbeLimits(const std::string&)>;
    explicit Prober(Limits limits = probe_limits) : limits_(std::move(limits)) {}

    /// The reply. The process that wrote it may have been led astray: nothing of it is to be
    /// trusted. @throws Error: what was found wrong; (input) that it crashed or ran out of its
    /// limits; (launch) that it could not be started; (stopped) for a signal that ends the run.
    std::string ask(const ProbeRequest& request);

  private:
    /// The forked process' status, as waitpid gives it, and its answer; nothing where the process
    /// that forks is gone.
    struct Outcome {
        int status = 0;
        std::string answer;
    };
    std::optional<Outcome> try_to_ask(const ProbeRequest& request, const ProbeLimits& limits);

    Limits limits_;
    std::unique_ptr<ProbeProcess> process_; ///< started for the first request
};

} // namespace runner
