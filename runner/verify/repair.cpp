// SPDX-License-Identifier: BSD-3-Clause
#include "runner/verify/repair.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/text.hpp"
#include "io/files/file.hpp"
#include "io/files/file_lock.hpp"
#include "io/files/file_mark.hpp"
#include "io/files/hash.hpp"
#include "io/output/beside_record.hpp"
#include "io/output/open_output_rows.hpp"
#include "io/output/output_size.hpp"
#include "io/rows/row_geometry.hpp"
#include "io/rows/written_format.hpp"
#include "runner/engines/engine.hpp"
#include "runner/engines/survey_input.hpp"
#include "runner/output/output_claim.hpp"
#include "runner/probe/probed_files.hpp"
#include "runner/probe/served_rows.hpp"
#include "runner/report/version.hpp"
#include "runner/verify/check_levels.hpp"
#include "runner/verify/checked_rows.hpp"
#include "runner/verify/chunk_finder.hpp"
#include "runner/verify/finished_output.hpp"
#include "runner/verify/job_again.hpp"
#include "runner/verify/kept_rows.hpp"
#include "runner/verify/verify.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <system_error>
#include <utility>

#include <unistd.h>

namespace runner::verify {
namespace {

std::vector<WrongRows> wrong_rows(FileAccess& files, const FinishedOutput& output, int threads) {
    return check_runs(*open_stored_rows(files, output, threads), output.runs);
}

RowHash& listed(FinishedOutput& output, RowRange run) {
    return *std::lower_bound(
        output.runs.begin(), output.runs.end(), run.first,
        [](const RowHash& each, std::int64_t row) { return each.first < row; });
}

[[noreturn]] void refuse(const RepairRequest& request, const FinishedOutput& output,
                         RowRange rows) {
    const std::string change = request.input ? "" : input_change(output);
    std::string why = "computed again they have another checksum than the file lists";
    if (!change.empty()) {
        why += "; the input " + output.job.input.file + " has changed: " + change;
    } else if (output.version != version()) {
        why += "; version " + output.version + " made the file, this is " + version();
    }
    throw Error(ExitCode::differs,
                {"cannot repair, and changed nothing",
                 output.file + ", " + rows_text(rows, output.stored.array), why,
                 "Name the input it was made from with --input, or run the job again with "
                 "output.overwrite = true"});
}

/// Computes the runs, which are in order, and passes their rows on in pieces that lie in one run
/// each: take(index of the run, rows, elements). Adjacent runs are computed together, since what
/// they both depend on is computed once then.
template <class Take>
void compute_runs(const ComputeRows& compute, const std::vector<RowRange>& runs,
                  std::int64_t row_bytes, const Take& take) {
    std::size_t index = 0;
    for (const RowRange& adjacent : make_row_set(runs)) {
        compute(adjacent, [&](RowRange piece, const std::byte* elements) {
            while (!piece.empty()) {
                const RowRange rows{piece.first, std::min(piece.last, runs[index].last)};
                take(index, rows, elements);
                index += rows.last == runs[index].last ? 1 : 0;
                elements += rows.count() * row_bytes;
                piece.first = rows.last;
            }
        });
    }
}

/// The checksums of the wrong runs, as they should be.
std::vector<std::uint64_t> computed_hashes(const ComputeRows& compute,
                                           const std::vector<WrongRows>& wrong,
                                           std::int64_t row_bytes) {
    std::vector<RowRange> runs;
    runs.reserve(wrong.size());
    for (const WrongRows& run : wrong) {
        runs.push_back(run.rows);
    }
    std::vector<std::uint64_t> hashes(runs.size());
    BytesHasher hasher;
    compute_runs(compute, runs, row_bytes,
                 [&](std::size_t run, RowRange rows, const std::byte* elements) {
                     hasher.add(elements, rows.count() * row_bytes);
                     if (rows.last == runs[run].last) {
                         hashes[run] = std::exchange(hasher, BytesHasher()).hash();
                     }
                 });
    return hashes;
}

/// The record has the file's time, which is another after a repair.
void write_record_again(const FinishedOutput& output) {
    BesideRecord record = read_beside_record(output.file);
    record.rows = output.runs;
    write_beside_record(output.file, record);
}

/// Finds out what each wrong run needs, then does it. Rows are computed twice, so that none has to
/// be kept in memory and none is written before all are known to be right.
void mend(const RepairRequest& request, ProbedFiles& files, Prober& prober, FinishedOutput& output,
          const std::vector<WrongRows>& wrong, Repair& result) {
    JobAgain again(output, request.input, JobAgain::EarlierPasses::run, prober);
    again.survey(request.threads);
    const PreparedJob& prepared = again.prepared();
    const auto input = open_input_rows(prepared, request.threads);
    const OutputDataset dataset = output.dataset();
    const auto stored = open_stored_rows(files, output, request.threads);
    CheckedRows made(*stored, output.runs, rows_of(wrong));
    const ComputeRows compute =
        engine_of(*prepared.job)
            .row_computation(
                *prepared.job,
                {*input, made, row_alignment(dataset.array, dataset.layout), request.threads});
    const std::vector<std::uint64_t> hashes =
        computed_hashes(compute, wrong, row_bytes(dataset.array));
    for (std::size_t i = 0; i < wrong.size(); ++i) {
        const WrongRows& run = wrong[i];
        const std::uint64_t hash = hashes[i];
        if (hash == listed(output, run.rows).hash) {
            result.rows.push_back(run.rows);
        } else if (hash == run.hash) {
            // The file and the job agree on the rows: it is the list that is damaged.
            listed(output, run.rows).hash = hash;
            result.checksums.push_back(run.rows);
        } else {
            refuse(request, output, run.rows);
        }
    }
    if (!result.rows.empty()) {
        const auto writer = reopen_output_rows(files, dataset, request.threads);
        compute_runs(compute, result.rows, row_bytes(dataset.array),
                     [&](std::size_t /*run*/, RowRange rows, const std::byte* elements) {
                         writer->write(rows.first, rows.count(), elements);
                     });
        writer->finish(RowWriter::Sync::yes);
    }
    if (is_recorded_beside(output.file)) {
        write_record_again(output);
    } else if (!result.checksums.empty()) {
        replace_row_hashes(files, output.file, output.runs);
    }
}

/// Copies flats and darks again where some are wrong.
void mend_kept(const RepairRequest& request, FileAccess& files, Prober& prober,
               const FinishedOutput& output, const std::vector<WrongRows>& wrong, Repair& result) {
    if (wrong.empty()) {
        return;
    }
    const JobAgain again(output, request.input, JobAgain::EarlierPasses::run, prober);
    restore_kept_rows(files, output, again.prepared());
    for (const WrongRows& each : wrong) {
        result.kept.push_back(each.rows);
    }
}

/// Makes the folders again that are missing, as that of a level.
void make_folders(const FinishedOutput& output) {
    const OutputDataset dataset = output.dataset();
    for (const auto& [name, text] : folder_of(dataset.layout)->texts(dataset)) {
        std::error_code failure; // then its text cannot be written
        std::filesystem::create_directories(
            std::filesystem::path(output.file + "/" + name).parent_path(), failure);
    }
}

/// Whether there is anything that writing its rows would replace: of a folder a file of chunks.
bool has_rows_there(const FinishedOutput& output) {
    const OutputDataset dataset = output.dataset();
    if (!is_folder_of_chunks(dataset)) {
        return true;
    }
    const FolderOfChunks& folder = *folder_of(dataset.layout);
    for (std::int64_t i = 0; i < folder.files(dataset); ++i) {
        if (is_there(output.file + "/" + folder.file(dataset, i).name)) {
            return true;
        }
    }
    return false;
}

void check_made_here(const FinishedOutput& output, const std::vector<WrongRows>& wrong) {
    if (may_be_another_file(output, wrong)) {
        throw Error(ExitCode::differs,
                    {"cannot repair, and changed nothing", output.file,
                     "it was written to since it was made, and no rows of it are right: it may be "
                     "another file",
                     "Move it away and run the job again"});
    }
}

/// Writes the files of coarser levels again that are not what the image, whose rows are right, has.
void mend_levels(const RepairRequest& request, ProbedFiles& files, const FinishedOutput& output,
                 Repair& result) {
    if (coarser_levels(output.dataset()).empty()) {
        return;
    }
    const std::vector<WrongFile> wrong = check_levels(files, output, {}, request.threads);
    if (wrong.empty()) {
        return;
    }
    repair_levels(files, output, wrong, request.threads);
    files.forget();
    const std::vector<WrongFile> left = check_levels(files, output, {}, request.threads);
    if (!left.empty()) {
        throw Error(ExitCode::output, {"the output is still wrong after its repair",
                                       output.file + "/" + left.front().text(), left.front().why,
                                       "Its disk is damaged: run the job again with "
                                       "output.overwrite = true, on another disk"});
    }
    for (const WrongFile& each : wrong) {
        result.files.push_back(each.text());
    }
    write_record_again(output);
}

} // namespace

bool may_be_another_file(const FinishedOutput& output, const std::vector<WrongRows>& wrong) {
    return is_recorded_beside(output.file) && wrong.size() == output.runs.size() &&
           !identity_beside(output.file) && has_rows_there(output);
}

Repair repair(const RepairRequest& request, Prober& prober) {
    ProbedFiles files(prober, finished_output_rules());
    const std::string file = without_link(request.file);
    FinishedOutput output = read_finished_output(files, file, Structure::unchecked);
    const FileLock lock(lock_path(output.file),
                        fmt::format("runner repair, process {}", ::getpid()));
    output::complete_publishing(output.file, lock, prober);
    Repair result{output.file, output.all_frames(), std::ssize(output.runs), {}, {}};
    if (folder_of(output.job.output.layout) != nullptr) {
        make_folders(output);
        result.texts = restore_texts(output.dataset());
        check_written(output.dataset());
    }
    const std::vector<WrongRows> wrong = wrong_rows(files, output, request.threads);
    const std::vector<WrongRows> kept =
        wrong_kept_rows(files, output, output.kept, request.threads);
    if (wrong.empty() && kept.empty()) {
        check_runs_undamaged(output);
        mend_levels(request, files, output, result);
        if (is_recorded_beside(output.file) && !identity_beside(output.file)) {
            write_record_again(output); // an earlier repair was killed before it had
        }
        remove_left_passes(output, request.input, prober);
        return result;
    }
    check_made_here(output, wrong);
    if (!wrong.empty()) {
        mend(request, files, prober, output, wrong, result);
    }
    mend_kept(request, files, prober, output, kept, result);
    files.forget();
    const FinishedOutput mended = read_finished_output(files, file);
    std::vector<WrongRows> left =
        among_all_rows(mended, wrong_rows(files, mended, request.threads));
    for (WrongRows& each : wrong_kept_rows(files, mended, mended.kept, request.threads)) {
        left.push_back(std::move(each));
    }
    if (!left.empty()) {
        throw Error(
            ExitCode::output,
            {"the output is still wrong after its repair",
             output.file + ", " + rows_text(left.front().rows, result.array),
             counted(std::ssize(left), "run") + " of rows " + (left.size() == 1 ? "is" : "are"),
             "HDF5's structure in the file or its disk is damaged: run the job again with "
             "output.overwrite = true, on another disk"});
    }
    check_runs_undamaged(mended);
    mend_levels(request, files, mended, result);
    result.rows = among_all_rows(mended, result.rows);
    result.checksums = among_all_rows(mended, result.checksums);
    return result;
}

std::string repair_text(const Repair& repair) {
    const std::string all = repair.runs == 1
                                ? "the only run of rows is right\n"
                                : fmt::format("all {} runs of rows are right\n", repair.runs);
    if (repair.rows.empty() && repair.checksums.empty() && repair.texts.empty() &&
        repair.files.empty() && repair.kept.empty()) {
        return printable(repair.file) + ": nothing to repair, " + all;
    }
    std::string text;
    for (const std::string& name : repair.texts) {
        text += "repaired: " + printable(name) + "\n";
    }
    for (const RowRange& rows : make_row_set(repair.kept)) {
        text += "repaired: " + rows_text(rows, repair.array) + ", flats or darks\n";
    }
    for (const RowRange& rows : make_row_set(repair.rows)) {
        text += "repaired: " + rows_text(rows, repair.array) + "\n";
    }
    for (const RowRange& rows : make_row_set(repair.checksums)) {
        text += "repaired: the checksum of " + rows_text(rows, repair.array) + "\n";
    }
    for (const std::string& name : repair.files) {
        text += "repaired: " + printable(name) + "\n";
    }
    return text + printable(repair.file) + ": " + all;
}

} // namespace runner::verify
