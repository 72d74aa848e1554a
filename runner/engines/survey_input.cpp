// SPDX-License-Identifier: BSD-3-Clause
#include "runner/engines/survey_input.hpp"

#include "base/sizes.hpp"
#include "io/rows/row_geometry.hpp"
#include "runner/plan/row_set.hpp"
#include "runner/probe/served_rows.hpp"

#include <algorithm>
#include <functional>
#include <memory>

namespace runner {
namespace {

constexpr std::int64_t piece_bytes = 16 * MiB;

/// The rows of part `rank` of `ranks`.
RowRange part_of(const Survey& survey, std::int64_t rows, int rank, int ranks) {
    const std::int64_t steps = (rows + survey.step() - 1) / survey.step();
    const auto border = [&](std::int64_t part) {
        return std::min(rows,
                        (steps / ranks * part + steps % ranks * part / ranks) * survey.step());
    };
    return {border(rank), border(rank + 1)};
}

/// Whether it came to the end before `stopped` said that it must not.
bool take(Survey& survey, const PreparedJob& prepared, RowRange part, int threads, int io_threads,
          const std::function<bool()>& stopped) {
    const std::unique_ptr<RowReader> reader =
        open_probed_rows(prepared.layout, prepared.file.input.rules, io_threads);
    const std::int64_t row = row_bytes(reader->info().array);
    const std::int64_t step =
        std::max<std::int64_t>(1, piece_bytes / row / survey.step()) * survey.step();
    CpuQueue queue(threads);
    const Buffer rows =
        allocate_staging(queue, std::min(step, std::max<std::int64_t>(1, part.count())) * row);
    for (std::int64_t first = part.first; first < part.last; first += step) {
        if (stopped()) {
            return false;
        }
        const std::int64_t count = std::min(step, part.last - first);
        reader->read(first, count, rows.data());
        survey.add(queue, first, count, rows.data());
    }
    return true;
}

} // namespace

bool survey_input(PreparedJob& prepared, const Ranks& ranks, int threads, int io_threads,
                  const Stop& stop) {
    const StreamJob* const job = prepared.stream();
    const std::unique_ptr<Survey> survey = job == nullptr ? nullptr : job->survey();
    if (!survey) {
        return true;
    }
    const RowRange part =
        part_of(*survey, row_count(prepared.input.array), ranks.rank(), ranks.size());
    do {
        const bool whole = ranks.together([&] {
            return take(*survey, prepared, part, threads, io_threads,
                        [&] { return stop.level() >= StopLevel::finish_chunks; });
        });
        if (ranks.least(whole ? 1 : 0) == 0) {
            return false;
        }
        Findings& findings = survey->findings();
        ranks.add_up(findings.counts);
        findings.most = -ranks.least(-findings.most);
    } while (survey->needs_another_pass());
    prepared.job = job->surveyed(survey->findings());
    return true;
}

void survey_input(PreparedJob& prepared, int threads) {
    const StreamJob* const job = prepared.stream();
    if (const std::unique_ptr<Survey> survey = job == nullptr ? nullptr : job->survey()) {
        do {
            take(*survey, prepared, {0, row_count(prepared.input.array)}, threads, threads,
                 [] { return false; });
        } while (survey->needs_another_pass());
        prepared.job = job->surveyed(survey->findings());
    }
}

} // namespace runner
