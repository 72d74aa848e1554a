// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/batch/batch_status.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace runner::batch {

/// When a dataset of a batch was made, or failed. Seconds count from Report::begun.
struct DatasetTimes {
    std::size_t process = 0; ///< its place in Report::processes
    double end = 0;
    std::optional<double> seconds; ///< that it took; of one that was made
    int code = 0;                  ///< the exit code of one that failed
};

/// What a batch has done so far, by its state folder.
struct Report {
    Status status;
    std::string kind;
    std::vector<std::string> processes; ///< "HOST, process PID", in order of their begin
    double begun = 0;                   ///< seconds since 1970; 0 where nothing has run
    double end = 0;                     ///< of the last event
    std::vector<std::optional<DatasetTimes>> times; ///< of each dataset of the status
    std::int64_t bytes = 0;  ///< read and written for the datasets whose time is known
    double busy_seconds = 0; ///< during which at least one process made one of these
};

/// From the state folder, or the folder it is in; opens no dataset. The hosts' clocks are taken to
/// agree. @throws Error (input) where there is no batch, or more than one.
Report read_report(const std::string& folder);

/// The counts, the throughput and the failures for a person.
std::string report_text(const Report& report);

/// All of it for a program, and for batch_page().
std::string report_json(const Report& report);

} // namespace runner::batch
