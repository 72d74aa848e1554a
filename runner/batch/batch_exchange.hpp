// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/batch/batch_plan.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace runner::batch {

/// What the first rank sends the others about a dataset in its list. Each finds the names by
/// itself, so that a batch of many is no large message.
struct ListedState {
    Fate fate = Fate::unknown;
    FileMark input;
    FileMark output;
    bool ended_badly = false;
    std::string key;

    static auto members(auto& self) {
        return std::tie(self.fate, self.input, self.output, self.ended_badly, self.key);
    }
};

/// The first rank's list, as list_batch() makes it.
std::vector<ListedState> listed_states(const Plan& plan);

/// The plan, of such a list. `job`, `settings`: as list_batch() takes them. @throws Error (launch)
/// where this rank sees another number of datasets than the first; as list_datasets().
Plan plan_of_list(const std::vector<ListedState>& list, JobFile job,
                  std::vector<std::string> settings);

/// What look_at_datasets() found out about a dataset, for the other ranks.
struct DatasetFinding {
    std::size_t place = 0; ///< in the plan
    Fate fate = Fate::unknown;
    std::int64_t bytes = 0;
    std::int64_t rows = 0;
    std::int64_t disk_bytes = 0;
    std::int64_t between_bytes = 0;
    bool needs_all_ranks = false;
    ExitCode code = ExitCode::ok;
    std::string identity;
    std::string reason;
    FileMarks files;

    static auto members(auto& self) {
        return std::tie(self.place, self.fate, self.bytes, self.rows, self.disk_bytes,
                        self.between_bytes, self.needs_all_ranks, self.code, self.identity,
                        self.reason, self.files);
    }
};

std::vector<DatasetFinding> dataset_findings(const Plan& plan, std::span<const std::size_t> places);

/// Puts what other ranks found in its place.
void take_findings(Plan& plan, const std::vector<DatasetFinding>& findings);

} // namespace runner::batch
