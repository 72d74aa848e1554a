// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"
#include "runner/batch/batch_state.hpp"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace runner::batch {

/// What happened to a dataset.
struct DatasetEvent {
    enum class What { started, done, failed, stopped } what = What::started;
    double time = 0; ///< seconds since 1970; which event is the later one it does not say
    /// Above that of every event that its process saw in the folder before; 0 of one by an earlier
    /// version.
    std::int64_t order = 0;
    double seconds = 0; ///< that the dataset took
    ExitCode code = ExitCode::ok;
    std::string reason;   ///< of a failure
    std::string key;      ///< of a done one, as ListedDataset's
    std::string identity; ///< of a done one: a checksum of job_identity()
    FileMark input;       ///< of a done one, before it was read
    FileMarks files;      ///< of a done one: what else it was made of, before it was read
    FileMark output;      ///< of a done one
    std::string log;      ///< the name of the log that tells it
};

/// Bytes of each log, by its name, up to which it has been read.
using LogSizes = std::unordered_map<std::string, std::uintmax_t>;

/// Appends to a log of its own, which is made with the first event.
class Log {
  public:
    /// `folder` is there by the first event. `host`: of this process.
    Log(std::string folder, const std::string& host);
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;
    ~Log();

    /// `time`, `order` and `log` of the event are filled in here. @throws Error (output).
    void add(const std::string& output, DatasetEvent event);

  private:
    std::string folder_;
    std::string path_;
    int descriptor_ = -1;
    LogSizes seen_;
    std::int64_t order_ = 0; ///< the highest of any log so far
};

/// Events by the output's name.
using DatasetEvents = std::unordered_map<std::string, DatasetEvent>;

/// What all logs tell of the datasets, and when each log began, by its name.
struct History {
    DatasetEvents last;      ///< the last event of each
    DatasetEvents last_done; ///< the last by which it was done, whatever came after
    std::unordered_map<std::string, double> begun;
};

/// Nothing where there is no folder. @throws Error (output) where it cannot be read.
History read_history(const std::string& folder);

/// The history of a batch that continues meanwhile.
class HistoryReader {
  public:
    /// Reads all that is there. @throws as read_history().
    explicit HistoryReader(std::string folder);

    /// Reads what was added since.
    void read_on();

    const History& history() const { return history_; }

    /// The last event of the dataset if it was added after this reader was made, or nullptr.
    const DatasetEvent* news(const std::string& output) const;

  private:
    std::string folder_;
    History history_;
    LogSizes taken_;
    std::unordered_set<std::string> new_; ///< outputs of events of read_on()
    bool is_begun_ = false;
};

} // namespace runner::batch
