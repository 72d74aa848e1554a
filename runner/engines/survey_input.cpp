// SPDX-License-Identifier: BSD-3-Clause
#include "runner/engines/survey_input.hpp"

#include "base/sizes.hpp"
#include "io/rows/row_geometry.hpp"
#include "runner/probe/served_rows.hpp"
#include "runner/watch/ticker.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <utility>

namespace runner {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t piece_bytes = 16 * MiB;

/// The rows of share `rank` of `ranks`.
RowRange share_of(const Survey& survey, std::int64_t rows, int rank, int ranks) {
    const std::int64_t steps = (rows + survey.step() - 1) / survey.step();
    const auto border = [&](std::int64_t share) {
        return std::min(rows,
                        (steps / ranks * share + steps % ranks * share / ranks) * survey.step());
    };
    return {border(rank), border(rank + 1)};
}

/// Whether it came to the end before `seen` returned false, which is called before and after each
/// read with the rows that have been counted. One piece is read while the one before is counted.
bool take(Survey& survey, const PreparedJob& prepared, RowRange share, int threads, int io_threads,
          const std::function<bool(std::int64_t)>& seen) {
    const std::unique_ptr<RowReader> reader = open_input_rows(prepared, io_threads);
    const std::int64_t row = row_bytes(reader->info().array);
    const std::int64_t step =
        std::max<std::int64_t>(1, piece_bytes / row / survey.step()) * survey.step();
    CpuQueue queue(threads);
    const std::int64_t most = std::min(step, std::max<std::int64_t>(1, share.count())) * row;
    Buffer now = allocate_staging(queue, most);
    Buffer next = allocate_staging(queue, most);
    std::future<void> reading; // before the buffers go, it ends
    const auto read = [&](std::int64_t first) {
        if (first < share.last) {
            reading = std::async(std::launch::async, [&, first] {
                reader->read(first, std::min(step, share.last - first), next.data());
            });
        }
    };
    read(share.first);
    for (std::int64_t first = share.first; first < share.last; first += step) {
        if (!seen(first - share.first)) {
            return false;
        }
        reading.get();
        if (!seen(first - share.first)) {
            return false;
        }
        std::swap(now, next);
        read(first + step);
        survey.add(queue, first, std::min(step, share.last - first), now.data());
    }
    return true;
}

/// This many rows of this rank's share are counted in the current pass.
void note_rows(RunProgress& progress, std::int64_t rows) {
    progress.surveyed_rows = rows;
    ++progress.steps;
}

/// While it exists, a watchdog expects progress of the survey, which a line shows.
class Shown {
  public:
    /// `share`: this rank's rows; the first rank's stand for all, as the others have as many.
    Shown(RunProgress& progress, ProgressStyle style, const PreparedJob& prepared, RowRange share,
          int ranks)
        : progress_(progress), view_(stderr, style, prepared.file.name + ", survey of the input"),
          share_(share), bytes_(row_bytes(prepared.input.array) * ranks) {
        progress_.surveying = true;
        ticker_.emplace([this] { view_.update(snapshot()); });
    }
    Shown(const Shown&) = delete;
    Shown& operator=(const Shown&) = delete;
    ~Shown() {
        ticker_.reset();
        progress_.surveying = false;
        view_.clear();
    }

  private:
    ProgressSnapshot snapshot() const {
        ProgressSnapshot now;
        now.rows_done = static_cast<double>(progress_.surveyed_rows);
        now.rows_total = share_.count();
        now.amount_done = now.rows_done * static_cast<double>(bytes_);
        now.seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
        return now;
    }

    RunProgress& progress_;
    Progress view_;
    RowRange share_;
    std::int64_t bytes_;
    Clock::time_point begin_ = Clock::now();
    std::optional<Ticker> ticker_;
};

/// The findings of all ranks' shares.
void put_together(const Ranks& ranks, Findings& findings) {
    ranks.add_up(findings.counts);
    findings.most = ~ranks.least(~findings.most); // −most may not exist
    findings.least = ranks.least(findings.least);
    for (Findings& sample : findings.samples) {
        put_together(ranks, sample);
    }
}

} // namespace

SurveyAhead::SurveyAhead(std::shared_ptr<const PreparedJob> prepared, const Ranks& ranks,
                         CpuList cores, RunProgress& progress)
    : prepared_(std::move(prepared)), survey_(prepared_->job->survey()),
      share_(share_of(*survey_, row_count(prepared_->input.array), ranks.rank(), ranks.size())),
      cores_(std::move(cores)), progress_(progress),
      pass_(std::async(std::launch::async, [this] { return take_pass(); })) {}

SurveyAhead::~SurveyAhead() { over_ = true; }

bool SurveyAhead::take_pass() {
    bind_process(cores_); // of the process this thread alone, and those that it starts
    const int threads = std::max(1, static_cast<int>(cores_.size()));
    const auto io_threads = prepared_->file.run.io_threads.value_or(automatic_io_threads(threads));
    const bool whole = take(*survey_, *prepared_, share_, threads, static_cast<int>(io_threads),
                            [this](std::int64_t rows) {
                                note_rows(progress_, rows);
                                return !over_ && signal_received(1).empty();
                            });
    end_ = Clock::now();
    return whole;
}

bool SurveyAhead::finish(const Stop& stop) {
    constexpr auto between_looks = std::chrono::milliseconds(50);
    const auto begin = Clock::now();
    while (pass_.wait_for(between_looks) != std::future_status::ready) {
        if (stop.level() >= StopLevel::finish_chunks) {
            over_ = true;
        }
    }
    const bool whole = pass_.get();
    seconds_ahead_ = std::chrono::duration<double>(std::min(begin, end_) - begin_).count();
    return whole && stop.level() < StopLevel::finish_chunks;
}

std::optional<PreparedJob> survey_input(const PreparedJob& prepared, const Ranks& ranks,
                                        const SurveyPlace& place) {
    const std::unique_ptr<Survey> own = place.ahead != nullptr ? nullptr : prepared.job->survey();
    Survey* const survey = place.ahead != nullptr ? &place.ahead->survey() : own.get();
    if (survey == nullptr) {
        return prepared;
    }
    const RowRange share =
        share_of(*survey, row_count(prepared.input.array), ranks.rank(), ranks.size());
    const auto take_here = [&] {
        return take(*survey, prepared, share, place.threads, place.io_threads,
                    [&](std::int64_t rows) {
                        note_rows(place.progress, rows);
                        return place.stop.level() < StopLevel::finish_chunks;
                    });
    };
    bool is_begun = place.ahead != nullptr;
    do {
        const bool whole = ranks.together([&] {
            const Shown shown(place.progress, place.style, prepared, share, ranks.size());
            return std::exchange(is_begun, false) ? place.ahead->finish(place.stop) : take_here();
        });
        if (ranks.least(whole ? 1 : 0) == 0) {
            return std::nullopt;
        }
        put_together(ranks, survey->findings());
    } while (survey->needs_another_pass());
    return with_findings(prepared, survey->findings());
}

PreparedJob survey_input(const PreparedJob& prepared, int threads) {
    const std::unique_ptr<Survey> survey = prepared.job->survey();
    if (!survey) {
        return prepared;
    }
    do {
        take(*survey, prepared, {0, row_count(prepared.input.array)}, threads, threads,
             [](std::int64_t /*rows*/) { return true; });
    } while (survey->needs_another_pass());
    return with_findings(prepared, survey->findings());
}

} // namespace runner
