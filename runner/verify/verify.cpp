// SPDX-License-Identifier: BSD-3-Clause
#include "runner/verify/verify.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "io/rows/row_geometry.hpp"
#include "io/rows/written_format.hpp"
#include "runner/engines/engine.hpp"
#include "runner/engines/survey_input.hpp"
#include "runner/probe/probed_files.hpp"
#include "runner/probe/served_rows.hpp"
#include "runner/verify/check_runs.hpp"
#include "runner/verify/checked_rows.hpp"
#include "runner/verify/chunk_finder.hpp"
#include "runner/verify/finished_output.hpp"
#include "runner/verify/job_again.hpp"
#include "runner/verify/kept_rows.hpp"
#include "runner/verify/repair.hpp"

#include <algorithm>
#include <memory>

namespace runner::verify {
namespace {

constexpr std::int64_t usual_places = 8;
/// Updates of cells that are computed again unasked: about a second on a core.
constexpr double usual_updates = 1e10;

/// i · n / d without the product, which may pass 2^63.
std::int64_t part(std::int64_t i, std::int64_t n, std::int64_t d) {
    return n / d * i + n % d * i / d;
}

/// Generations from a snapshot to the next, at most.
std::int64_t most_generations(const EvolveShape& shape) {
    const Snapshots& snapshots = shape.snapshots;
    return snapshots.every == 0 ? snapshots.generations
                                : std::min(snapshots.every, snapshots.generations);
}

/// Rows of the state before that a place depends on, at most.
std::int64_t most_rows(const EvolveShape& shape) {
    return shape.rows - 2 <= 2 * most_generations(shape) ? shape.rows
                                                         : 2 * most_generations(shape) + 2;
}

std::string work_text(const EvolveShape& shape) {
    return counted(most_generations(shape), "generation") + " of " +
           counted(most_rows(shape), "row");
}

/// How many places are computed again if the request gives no number.
std::int64_t places_at_once(const Job& job) {
    const std::optional<EvolveShape> shape = job.state();
    if (!shape) {
        return usual_places;
    }
    const double updates = static_cast<double>(most_generations(*shape)) *
                           static_cast<double>(most_rows(*shape)) *
                           static_cast<double>(shape->cells) / static_cast<double>(shape->rows);
    return static_cast<std::int64_t>(
        std::min<double>(usual_places, usual_updates / std::max(1.0, updates)));
}

std::vector<RowHash> sampled(const std::vector<RowHash>& runs, std::optional<std::int64_t> sample) {
    std::vector<RowHash> chosen;
    const std::int64_t all = std::ssize(runs);
    for (const std::int64_t index : spread(sample.value_or(all), all)) {
        chosen.push_back(runs[static_cast<std::size_t>(index)]);
    }
    return chosen;
}

/// The job with its input, or null and why.
std::unique_ptr<JobAgain> prepare_places(const VerifyRequest& request, const FinishedOutput& output,
                                         std::string& why_not, Prober& prober) {
    if (request.recompute == 0) {
        return nullptr;
    }
    try {
        const std::string change = request.input ? "" : input_change(output);
        if (!change.empty()) {
            throw Error(ExitCode::input,
                        {"the input is no longer the one the output was made from",
                         output.job.input.file, change, "Name that one with --input"});
        }
        // Passes run again only on request: they may take as long as the job.
        const auto earlier =
            request.recompute ? JobAgain::EarlierPasses::run : JobAgain::EarlierPasses::are_refused;
        auto again = std::make_unique<JobAgain>(output, request.input, earlier, prober);
        if (!request.recompute && places_at_once(*again->prepared().job) == 0) {
            why_not = "each row of a snapshot takes " + work_text(*again->prepared().job->state()) +
                      "; --recompute M computes rows at M places";
            return nullptr;
        }
        again->survey(request.threads);
        return again;
    } catch (const Error& error) {
        if (request.recompute || error.code() == ExitCode::stopped) {
            throw;
        }
        why_not = error.what();
        return nullptr;
    }
}

/// Adds what differs between the stored rows and the computed ones, row by row.
void compare_rows(RowReader& stored, RowRange rows, const std::byte* computed,
                  const std::string& why, std::vector<WrongRows>& wrong) {
    const ArrayInfo& array = stored.info().array;
    const auto bytes = static_cast<std::size_t>(row_bytes(array));
    std::vector<std::byte> there(static_cast<std::size_t>(rows.count()) * bytes);
    try {
        stored.read(rows.first, rows.count(), there.data());
    } catch (const Error& error) {
        wrong.push_back({rows, error.what()});
        return;
    }
    for (std::int64_t row = 0; row < rows.count(); ++row) {
        const std::size_t at = static_cast<std::size_t>(row) * bytes;
        if (!same_elements(array.type, {there.data() + at, bytes}, {computed + at, bytes})) {
            wrong.push_back({{rows.first + row, rows.first + row + 1}, why});
        }
    }
}

void recompute(const VerifyRequest& request, const FinishedOutput& output,
               const PreparedJob& prepared, RowReader& stored, Verification& result) {
    const auto input = open_input_rows(prepared, request.threads);
    const RowSet wrong = rows_of(result.wrong_runs);
    CheckedRows made(stored, output.runs, wrong);
    const ComputeRows compute =
        engine_of(*prepared.job).row_computation(*prepared.job, {*input, made, 1, request.threads});
    const std::int64_t count = request.recompute.value_or(places_at_once(*prepared.job));
    const RowSet places = subtract(places_to_recompute(output.runs, count), wrong);
    const std::string why = prepared.job->state()
                                ? "the job computes others from the nearest state before them"
                                : "the job computes others";
    for (const RowRange& place : places) {
        compute(place, [&](RowRange rows, const std::byte* elements) {
            compare_rows(stored, rows, elements, why, result.wrong_recomputed);
        });
    }
    result.recomputed_rows = count_rows(places);
}

/// Compares the flats and darks that the output keeps.
void check_kept(const VerifyRequest& request, FileAccess& files, const FinishedOutput& output,
                Verification& result) {
    const std::vector<RowHash> runs = sampled(output.kept, request.sample);
    result.kept_runs = std::ssize(output.kept);
    result.checked_kept_runs = std::ssize(runs);
    for (const RowHash& run : runs) {
        result.checked_kept_rows += run.rows;
    }
    result.wrong_kept = wrong_kept_rows(files, output, runs, request.threads);
}

/// Says where wrong rows are stored, of an output that is a folder.
void add_places(const OutputDataset& output, std::vector<WrongRows>& wrong) {
    if (wrong.empty() || !is_folder_of_chunks(output)) {
        return;
    }
    const ChunkFinder finder(output);
    for (WrongRows& each : wrong) {
        const auto [first, last] = finder.find(each.rows);
        const bool is_one = first == last;
        each.stored_in = found_text(first) + (is_one ? "" : ", to " + place_text(last)) + ", in " +
                         first.file + (first.file == last.file ? "" : " to " + last.file);
    }
}

} // namespace

std::vector<std::int64_t> spread(std::int64_t count, std::int64_t of) {
    std::vector<std::int64_t> chosen;
    count = std::min(count, of);
    for (std::int64_t i = 0; i < count; ++i) {
        chosen.push_back(count == 1 ? 0 : part(i, of - 1, count - 1));
    }
    return chosen;
}

RowSet places_to_recompute(const std::vector<RowHash>& runs, std::int64_t count) {
    const std::int64_t rows = runs.back().first + runs.back().rows;
    count = std::min(count, rows);
    std::vector<RowRange> places;
    const auto add = [&](std::int64_t row) {
        row = std::clamp<std::int64_t>(row, 0, std::max<std::int64_t>(0, rows - 2));
        places.push_back({row, std::min(row + 2, rows)});
    };
    for (const std::int64_t row : spread(std::min<std::int64_t>(count, 2), rows)) {
        add(row);
    }
    const std::int64_t more = count - std::ssize(places);
    const std::int64_t seams = std::ssize(runs) - 1;
    const std::int64_t at_seams = std::min((more + 1) / 2, seams);
    for (std::int64_t i = 0; i < at_seams; ++i) {
        const std::int64_t seam = 1 + part(2 * i + 1, seams, 2 * at_seams);
        add(runs[static_cast<std::size_t>(seam)].first - 1);
    }
    for (std::int64_t i = 0; i < more - at_seams; ++i) {
        add(part(2 * i + 1, rows, 2 * (more - at_seams)));
    }
    return make_row_set(std::move(places));
}

Verification verify(const VerifyRequest& request, Prober& prober) {
    ProbedFiles files(prober, finished_output_rules());
    const FinishedOutput output = read_finished_output(files, request.file);
    Verification result;
    result.file = output.file;
    result.dataset = output.datasets_text();
    result.array = output.all_frames();
    const std::unique_ptr<JobAgain> again =
        prepare_places(request, output, result.not_recomputed, prober);

    const std::vector<RowHash> runs = sampled(output.runs, request.sample);
    const auto stored = open_stored_rows(files, output, request.threads);
    result.runs = std::ssize(output.runs);
    result.checked_runs = std::ssize(runs);
    for (const RowHash& run : runs) {
        result.checked_rows += run.rows;
    }
    result.wrong_runs = check_runs(*stored, runs);
    result.is_left_alone = may_be_another_file(output, result.wrong_runs);
    result.levels = std::ssize(coarser_levels(output.dataset()));
    if (result.levels > 0 && result.wrong_runs.empty()) {
        result.levels_are_checked = true;
        result.levels_are_files = !has_levels_in_file(output.job.output.layout.format);
        result.wrong_files = check_levels(files, output, request.sample, request.threads);
    }
    if (again) {
        recompute(request, output, again->prepared(), *stored, result);
    }
    check_kept(request, files, output, result);
    if (!result.differs()) {
        check_runs_undamaged(output);
    }
    result.wrong_rows = merged(among_all_rows(output, result.wrong_runs));
    add_places(output.dataset(), result.wrong_rows);
    result.wrong_recomputed = among_all_rows(output, result.wrong_recomputed);
    return result;
}

} // namespace runner::verify
