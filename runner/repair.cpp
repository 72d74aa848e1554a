// SPDX-License-Identifier: BSD-3-Clause
#include "runner/repair.hpp"

#include "base/error.hpp"
#include "io/file_lock.hpp"
#include "io/row_geometry.hpp"
#include "runner/check_runs.hpp"
#include "runner/compute_rows.hpp"
#include "runner/finished_output.hpp"
#include "runner/verify.hpp"
#include "runner/version.hpp"

#include <algorithm>

#include <unistd.h>

namespace runner {
namespace {

/// The runs whose rows are not as listed. The file is closed again.
std::vector<RowHash> wrong_runs(const FinishedOutput& output, int threads) {
    const auto stored = open_stored_rows(output, threads);
    std::vector<RowHash> runs;
    for (const WrongRows& wrong : check_runs(*stored, output.runs)) {
        runs.push_back(*std::lower_bound(
            output.runs.begin(), output.runs.end(), wrong.rows.first,
            [](const RowHash& run, std::int64_t row) { return run.first < row; }));
    }
    return runs;
}

RowRange rows_of(const RowHash& run) { return {run.first, run.first + run.rows}; }

[[noreturn]] void refuse(const RepairRequest& request, const FinishedOutput& output,
                         const RowHash& run) {
    const std::string change = request.input ? "" : input_change(output);
    std::string why = "computed again they have another checksum than the file lists";
    if (!change.empty()) {
        why += "; the input " + output.job.input.file + " has changed: " + change;
    } else if (output.version != version()) {
        why += "; version " + output.version + " made the file, this is " + version();
    }
    throw Error(ExitCode::differs,
                {"cannot repair, and changed nothing",
                 output.file + ", " + rows_text(rows_of(run), output.stored.array), why,
                 "Name the input it was made from with --input, or run the job again with "
                 "output.overwrite = true"});
}

/// Computes the runs twice, so that none of them need be kept in memory and none is written before
/// all are known to be right.
void compute_and_write(const RepairRequest& request, const FinishedOutput& output,
                       const std::vector<RowHash>& runs) {
    const PreparedJob prepared = prepare_again(output, request.input);
    const JobFile::Input& from = prepared.file.input;
    const auto input = open_rows(from.file, from.dataset, request.threads);
    const OutputDataset dataset = output.dataset();
    RowComputer computer(prepared.stream(), *input, row_alignment(dataset.array, dataset.layout),
                         request.threads);
    for (const RowHash& run : runs) {
        BytesHasher hasher;
        computer.compute(rows_of(run), [&](RowRange rows, const std::byte* elements) {
            hasher.add(elements, rows.count() * row_bytes(dataset.array));
        });
        if (hasher.hash() != run.hash) {
            refuse(request, output, run);
        }
    }
    const auto writer = reopen_output_rows(dataset, request.threads);
    for (const RowHash& run : runs) {
        computer.compute(rows_of(run), [&](RowRange rows, const std::byte* elements) {
            writer->write(rows.first, rows.count(), elements);
        });
    }
    writer->finish(RowWriter::Sync::yes);
}

} // namespace

Repair repair(const RepairRequest& request) {
    const FinishedOutput output = read_finished_output(request.file);
    const FileLock lock(lock_path(output.file),
                        "runner repair, process " + std::to_string(::getpid()));
    const std::vector<RowHash> runs = wrong_runs(output, request.threads);
    Repair result{output.file, output.stored.array, std::ssize(output.runs), {}};
    if (runs.empty()) {
        return result;
    }
    compute_and_write(request, output, runs);
    const std::vector<RowHash> left = wrong_runs(output, request.threads);
    if (!left.empty()) {
        throw Error(ExitCode::differs,
                    {"the output is still wrong after its repair",
                     output.file + ", " + rows_text(rows_of(left.front()), result.array),
                     std::to_string(left.size()) + " runs of rows are",
                     "The file's structure or its disk is damaged: run the job again with "
                     "output.overwrite = true, on another disk"});
    }
    std::transform(runs.begin(), runs.end(), std::back_inserter(result.repaired), rows_of);
    return result;
}

std::string repair_text(const Repair& repair) {
    const std::string all = "all " + std::to_string(repair.runs) + " runs of rows are right\n";
    if (repair.repaired.empty()) {
        return repair.file + ": nothing to repair, " + all;
    }
    std::vector<WrongRows> rows;
    for (const RowRange& each : repair.repaired) {
        rows.push_back({each, ""});
    }
    std::string text;
    for (const WrongRows& each : merged(std::move(rows))) {
        text += "repaired: " + rows_text(each.rows, repair.array) + "\n";
    }
    return text + repair.file + ": " + all;
}

} // namespace runner
