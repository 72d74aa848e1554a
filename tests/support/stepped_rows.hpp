// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"
#include "io/files/hash.hpp"
#include "io/output/journal.hpp"
#include "io/rows/rows.hpp"
#include "io/writers/row_hashes.hpp"
#include "runner/output/commits.hpp"
#include "runner/plan/row_set.hpp"
#include "runner/watch/stages.hpp"
#include "runner/watch/stop.hpp"
#include "tests/io/scratch_folder.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace runner {

/// Happens once; any thread may wait for it.
class Event {
  public:
    void happen() {
        {
            const std::lock_guard lock(mutex_);
            happened_ = true;
        }
        changed_.notify_all();
    }
    void wait() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return happened_; });
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool happened_ = false;
};

/// Counts up; any thread may wait for a value.
class Count {
  public:
    void add(std::int64_t more) {
        {
            const std::lock_guard lock(mutex_);
            value_ += more;
        }
        changed_.notify_all();
    }
    void wait_for(std::int64_t value) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return value_ >= value; });
    }
    std::int64_t value() const {
        const std::lock_guard lock(mutex_);
        return value_;
    }

  private:
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::int64_t value_ = 0;
};

/// What a test does before a row is read or written: nothing, wait, or throw.
using BeforeRow = std::function<void(std::int64_t row)>;

/// Throws at one row.
inline BeforeRow fails_at(std::int64_t at, ExitCode code, const std::string& what) {
    return [=](std::int64_t row) {
        if (row == at) {
            throw Error(code, {what, "row " + std::to_string(row), "a test says so", ""});
        }
    };
}

/// Reads rows of bytes from memory, one after the other.
class SteppedReader final : public RowReader {
  public:
    SteppedReader(const std::vector<std::byte>& bytes, std::int64_t row_bytes)
        : bytes_(bytes), row_bytes_(row_bytes) {}

    const DatasetInfo& info() const override { return info_; }
    void read(std::int64_t first, std::int64_t rows, std::byte* to) override {
        read_runs({first, rows, 1, 0, 0, row_bytes_}, to);
    }
    /// A column is a byte.
    void read_runs(const RowRuns& runs, std::byte* to) override {
        for (std::int64_t i = 0; i < runs.runs * runs.rows; ++i) {
            const std::int64_t row = runs.first + i / runs.rows * runs.stride + i % runs.rows;
            if (before) {
                before(row);
            }
            std::memcpy(to + i * runs.columns, bytes_.data() + row * row_bytes_ + runs.first_column,
                        static_cast<std::size_t>(runs.columns));
            rows_read.add(1);
        }
    }

    BeforeRow before;
    Count rows_read;

  private:
    const std::vector<std::byte>& bytes_;
    std::int64_t row_bytes_;
    DatasetInfo info_;
};

/// Writes rows of bytes to memory, one after the other, and knows which: all of one call count as
/// written when it returns.
class SteppedWriter final : public RowWriter {
  public:
    SteppedWriter(std::int64_t rows, std::int64_t row_bytes)
        : bytes_(static_cast<std::size_t>(rows * row_bytes)), row_bytes_(row_bytes) {}

    void write(std::int64_t first, std::int64_t rows, const std::byte* from) override {
        begun_after_failure_ = begun_after_failure_ || failed_;
        failed_ = true; // until it returns
        for (std::int64_t row = first; row < first + rows; ++row) {
            if (before) {
                before(row);
            }
            std::memcpy(bytes_.data() + row * row_bytes_, from + (row - first) * row_bytes_,
                        static_cast<std::size_t>(row_bytes_));
        }
        failed_ = false;
        twice_ = twice_ || !intersect(written_, {{first, first + rows}}).empty();
        written_ = make_row_set([&] {
            RowSet all = written_;
            all.push_back({first, first + rows});
            return all;
        }());
        rows_written.add(rows);
    }
    void sync() override {}
    void finish(Sync /*sync*/) override {}

    /// After the run:
    const std::vector<std::byte>& bytes() const { return bytes_; }
    const RowSet& written() const { return written_; }
    bool wrote_a_row_twice() const { return twice_; }
    bool wrote_after_a_failure() const { return begun_after_failure_; }
    /// Whether all written rows are as expected.
    bool is_right(const std::vector<std::byte>& expected) const {
        for (const RowRange& rows : written_) {
            if (std::memcmp(bytes_.data() + rows.first * row_bytes_,
                            expected.data() + rows.first * row_bytes_,
                            static_cast<std::size_t>(rows.count() * row_bytes_)) != 0) {
                return false;
            }
        }
        return true;
    }

    BeforeRow before;
    Count rows_written;

  private:
    std::vector<std::byte> bytes_;
    std::int64_t row_bytes_;
    RowSet written_;
    bool failed_ = false;
    bool twice_ = false;
    bool begun_after_failure_ = false;
};

/// What one run of an engine reads, writes, records and says.
class SteppedRun {
  public:
    SteppedRun(std::vector<std::byte> in, std::int64_t in_row_bytes, std::int64_t out_rows,
               std::int64_t out_row_bytes)
        : in_(std::move(in)), out_rows_(out_rows), row_bytes_(out_row_bytes),
          reader(in_, in_row_bytes), writer(out_rows, out_row_bytes) {
        std::filesystem::create_directory(journal());
    }

    /// Runs `engine(commits)` and then records what was handed over, as a rank does whether its
    /// part fails or not. A further run records beside the ones before.
    template <class Engine> RunTimes run(Engine engine) {
        const std::string name = "run-" + std::to_string(++runs_);
        output::Commits commits(writer, JournalWriter(journal(), 1, name, RowWriter::Sync::no),
                                3600, RowWriter::Sync::no);
        try {
            RunTimes times = engine(commits);
            commits.finish();
            return times;
        } catch (const Error&) {
            commits.finish();
            throw;
        }
    }

    const std::vector<std::byte>& in() const { return in_; }
    std::string journal() const { return folder_ / "j"; }
    std::function<void(const std::string&)> say() {
        return [this](const std::string& line) { said += line; };
    }

    /// The rows that the journal lists.
    RowSet recorded() const {
        RowSet rows;
        for (const RowHash& run : read_journal(journal(), 1, out_rows_).rows) {
            rows.push_back({run.first, run.first + run.rows});
        }
        return make_row_set(rows);
    }
    /// Whether the journal lists what was written, each row once, and with its checksums.
    bool records_are_right() const {
        for (const RowHash& run : read_journal(journal(), 1, out_rows_).rows) {
            const std::byte* const rows = writer.bytes().data() + run.first * row_bytes_;
            if (run.hash != hash_bytes(rows, run.rows * row_bytes_)) {
                return false;
            }
        }
        return !writer.wrote_a_row_twice() && recorded() == writer.written();
    }

  private:
    ScratchFolder folder_;
    std::vector<std::byte> in_;
    std::int64_t out_rows_;
    std::int64_t row_bytes_; ///< of the output
    int runs_ = 0;

  public:
    SteppedReader reader;
    SteppedWriter writer;
    RunProgress progress;
    Stop stop{{}};
    std::string said;
};

} // namespace runner
