// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "cli/verb_parser.hpp"

#include <optional>
#include <string>

namespace runner::cli {

/// -n of the verbs that start ranks.
class RanksOption {
  public:
    /// Declares it; lives until the arguments are parsed.
    explicit RanksOption(VerbParser& parser);
    RanksOption(const RanksOption&) = delete;
    RanksOption& operator=(const RanksOption&) = delete;
    ~RanksOption() = default;

    /// As RunCommand::ranks. @throws Error (usage).
    std::optional<int> value() const;

  private:
    const VerbParser& parser_;
    std::string text_;
};

/// --max-time, in seconds.
class TimeOption {
  public:
    explicit TimeOption(VerbParser& parser);
    TimeOption(const TimeOption&) = delete;
    TimeOption& operator=(const TimeOption&) = delete;
    ~TimeOption() = default;

    std::optional<double> seconds() const;

  private:
    const VerbParser& parser_;
    std::string text_;
};

/// The options of the verbs that run one job: -n, --backend, --resume, --quiet, --report,
/// --max-time, --trace.
class RunOptions {
  public:
    explicit RunOptions(VerbParser& parser);
    RunOptions(const RunOptions&) = delete;
    RunOptions& operator=(const RunOptions&) = delete;
    ~RunOptions() = default;

    /// What they say. @throws Error (usage).
    void apply_to(RunCommand& command) const;

  private:
    const VerbParser& parser_;
    RanksOption ranks_;
    TimeOption time_;
    std::string resume_;
    bool quiet_ = false;
    std::vector<std::string> reports_;
    std::string trace_;
};

} // namespace runner::cli
