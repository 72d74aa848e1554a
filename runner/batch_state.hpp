// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace runner {

/// A batch's state folder says how far it is, to `runner status` and to the next run; what counts
/// is in the outputs themselves, so that it may be removed at any time. In it, as lines of JSON:
///
///   datasets.jsonl       a head, then a line a dataset; made whole or not at all
///   log-HOST-PID-N.jsonl what one process did, a line an event, appended in one write each
///
/// docs/batch.md lists the fields. Every process has a log of its own, so that any number of them
/// share the folder; a line that is torn or unknown is passed over.

/// By what a file is known to be the same: its bytes and time. `bytes` is -1 where there is none.
struct FileMark {
    std::int64_t bytes = -1;
    std::int64_t modified = 0; ///< nanoseconds since 1970

    bool operator==(const FileMark&) const = default;
};
FileMark mark_of(const std::string& path);

/// A dataset as the plan lists it.
struct ListedDataset {
    std::string input;
    std::string output;
    std::string key;        ///< changes with all that the job file and the command line say of it
    std::int64_t bytes = 0; ///< read and written; 0 where it is not known
    std::int64_t rows = 0;  ///< of the output
};

struct DatasetList {
    std::string name; ///< of the job
    std::string kind;
    std::vector<ListedDataset> datasets;
};

/// Makes the folder if need be and puts the list in place. @throws Error (output).
void write_list(const std::string& folder, const DatasetList& list);

/// @throws Error (input) where there is none or it is damaged.
DatasetList read_list(const std::string& folder);

/// What happened last to a dataset.
struct DatasetEvent {
    enum class What { started, done, failed, stopped } what = What::started;
    double time = 0;    ///< seconds since 1970
    double seconds = 0; ///< that the dataset took
    ExitCode code = ExitCode::ok;
    std::string reason;   ///< of a failure
    std::string key;      ///< of a done one, as ListedDataset's
    std::string identity; ///< of a done one: a checksum of job_identity()
    FileMark input;       ///< of a done one, before it was read
    FileMark output;      ///< of a done one
    std::string log;      ///< the name of the log that tells it
};

/// Events by the output's name.
using DatasetEvents = std::unordered_map<std::string, DatasetEvent>;

/// The last event of each dataset, of all logs; when each log began, by its name.
struct BatchHistory {
    DatasetEvents last;
    std::unordered_map<std::string, double> begun;
};

/// Nothing where there is no folder. @throws Error (output) where it cannot be read.
BatchHistory read_history(const std::string& folder);

/// Appends to a log of its own, which is made with the first event.
class BatchLog {
  public:
    /// `folder` is there. `host`: of this process.
    BatchLog(std::string folder, const std::string& host);
    BatchLog(const BatchLog&) = delete;
    BatchLog& operator=(const BatchLog&) = delete;
    ~BatchLog();

    /// `time` and `log` of the event are filled in here. @throws Error (output).
    void add(const std::string& output, DatasetEvent event);

  private:
    std::string path_;
    int descriptor_ = -1;
};

/// A short checksum of a text: 16 hexadecimal digits.
std::string checksum_text(const std::string& text);

} // namespace runner
