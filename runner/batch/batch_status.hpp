// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/batch/batch_state.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace runner::batch {

/// How far one dataset is.
struct DatasetStatus {
    enum class Is {
        done,
        running,
        stopped, ///< begun and in nobody's hands: a next run resumes it
        waiting,
        stale, ///< done, but the job or a file has changed since
        failed,
    } is = Is::waiting;
    ListedDataset dataset;
    std::string why;                ///< of a stale or failed one; of a running one who runs it
    std::optional<double> fraction; ///< of a running or stopped one, as its journal has it
};

/// What a status is called: "done".
const char* word_of(DatasetStatus::Is is);

inline constexpr std::array every_status = {DatasetStatus::Is::done,    DatasetStatus::Is::failed,
                                            DatasetStatus::Is::running, DatasetStatus::Is::stale,
                                            DatasetStatus::Is::stopped, DatasetStatus::Is::waiting};

/// How far a batch is.
struct Status {
    std::string folder; ///< of the state
    std::string name;
    std::vector<DatasetStatus> datasets;
    std::optional<double> seconds_left; ///< while something is running

    std::int64_t count(DatasetStatus::Is is) const;
    /// Whether nothing is running or left to do.
    bool is_over() const;
};

/// From the state folder, or the folder it is in; opens no dataset. @throws Error (input) where
/// there is no batch, or more than one.
Status read_status(const std::string& folder);

enum class Listing { some, all };

/// A table for a person: the counts, then the datasets that are running, failed, stale; or all.
std::string status_text(const Status& status, Listing listing);

std::string status_json(const Status& status);

} // namespace runner::batch
