// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/output/journal.hpp"
#include "io/rows/rows.hpp"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

namespace runner::output {

/// Makes finished rows last: every so often, from a thread of its own, it brings the output's bytes
/// to the disk and then the rows into the journal, in that order. What is not committed when the
/// process dies is computed again. Between commits the system already writes to the disk: left to
/// itself it would begin after many seconds, and a short job would wait for the whole output at its
/// end (1.1 instead of 2.2 GB/s; bench/results/synced-2026-11-27-h200.txt).
class Commits {
  public:
    /// `seconds` between the beginnings of two commits; 0: as soon as there is anything.
    /// `writer` outlives the object. `sync` no: the journal is written without waiting for the
    /// output's bytes, which is enough where the process dies and the machine does not.
    Commits(RowWriter& writer, JournalWriter journal, double seconds, RowWriter::Sync sync);
    Commits(const Commits&) = delete;
    Commits& operator=(const Commits&) = delete;
    /// Ends the thread; commits no more.
    ~Commits();

    /// Rows that the writer has. From one thread. @throws what the last commit failed with.
    void add(std::span<const RowHash> rows);

    /// Commits all that was added, now. @throws what the commit failed with.
    void flush();

    /// Commits what is left, after the last add(). @throws Error (output).
    void finish();

    /// The longest that a commit took, seconds.
    double longest_seconds() const { return longest_seconds_; }

  private:
    void commit_now_and_then();
    void start_sync(std::unique_lock<std::mutex>& lock);
    void commit(const std::vector<RowHash>& rows);
    void end_thread();

    RowWriter& writer_;
    JournalWriter journal_;
    double seconds_;
    RowWriter::Sync sync_;
    std::atomic<double> longest_seconds_{0};
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<RowHash> waiting_;
    std::exception_ptr failure_;
    bool started_ = true; ///< start_sync() has seen all that was added
    bool hurry_ = false;  ///< flush() waits
    bool busy_ = false;   ///< a commit is under way
    bool over_ = false;
    std::thread thread_;
};

} // namespace runner::output
