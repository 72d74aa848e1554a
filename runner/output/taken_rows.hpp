// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/output/intact_rows.hpp"
#include "runner/output/begin_output.hpp"
#include "runner/watch/stop.hpp"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace runner::output {

/// The rows that a run takes over from earlier ones, and of which only some were read before it
/// began: a thread reads a rank's share of them beside the stream and compares their checksums.
class TakenRows {
  public:
    /// Share `rank` of `ranks`. Opens nothing where there is nothing to read.
    /// @throws Error (output).
    TakenRows(const OutputDataset& output, const std::vector<RowHash>& all, int rank, int ranks,
              int threads);
    TakenRows(const TakenRows&) = delete;
    TakenRows& operator=(const TakenRows&) = delete;
    /// Ends the thread behind the run of rows that it reads.
    ~TakenRows();

    /// Waits until all are read; false where a stop was asked for before. @throws Error (output)
    /// where they cannot be read.
    bool finish(const Stop& stop);

    /// After finish(): those that are not as they were written.
    const std::vector<RowHash>& wrong() const { return wrong_; }

  private:
    void look();

    std::vector<RowHash> rows_;
    std::vector<RowHash> wrong_;
    RowTest test_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::exception_ptr failure_;
    bool over_ = false; ///< nobody waits any more
    bool done_ = false;
    std::thread thread_;
};

/// Ends the run where rows that it took over are wrong, on whichever rank: they are taken out of
/// the journal. `wrong`: of all ranks. By one rank. @throws Error (output) where there are any.
void refuse_wrong_rows(const PreparedJob& prepared, const Beginning& beginning,
                       const std::vector<RowHash>& wrong);

} // namespace runner::output
