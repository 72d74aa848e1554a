// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"
#include "io/writers/kept_frames.hpp"
#include "io/writers/row_hashes.hpp"
#include "runner/job_file/job_file.hpp"
#include "runner/prepare/prepare.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace runner::verify {

/// What a finished output says of itself, without its rows.
struct FinishedOutput {
    std::string file;
    std::string version;                ///< of the program that made it
    JobFile job;                        ///< from the text in the file; file names as they were then
    DatasetInfo stored;                 ///< the job's output dataset as it is in the file
    std::vector<OutputField> fields;    ///< where it is several: these, and `stored` is them joined
    std::vector<DatasetLayout> layouts; ///< of the HDF5 dataset, or of each field
    std::vector<RowHash> runs;          ///< of all its rows
    /// Where an output keeps the flats and darks of its scan: which frames of the dataset these
    /// are, and the checksums of their rows, by their numbers there. `stored` and `runs` are of
    /// the others.
    FrameSplit frames;
    std::vector<RowHash> kept;
    bool runs_are_damaged = false; ///< the list of checksums does not match its own
    std::int64_t input_bytes = 0;  ///< of the input's file
    std::string input_modified;    ///< ISO 8601, UTC
    Axes axes;                     ///< of one whose record stands beside it, where it says so
    Extremes extremes;             ///< of the channels of the same
    /// The number of elements that its coarser levels leave out.
    std::optional<double> levels_invalid;
    /// All that the root of the file, or the record beside it, says of the run; `identity` too.
    AttributeList record;

    /// "/image", or "/index, /distance".
    std::string datasets_text() const;

    bool keeps_frames() const { return !kept.empty(); }

    /// The dataset with all its frames.
    ArrayInfo all_frames() const {
        ArrayInfo all = stored.array;
        if (keeps_frames()) {
            all.shape.front() = frames.count();
        }
        return all;
    }

    /// The dataset as a writer needs it.
    OutputDataset dataset() const {
        OutputDataset made{file, keeps_frames() ? made_frames_dataset : job.output.dataset,
                           stored.array, job.output.layout, fields};
        made.axes = axes;
        made.extremes = extremes;
        made.invalid_value = levels_invalid;
        return made;
    }
};

/// Where a link that the user names leads to: files are written without following any, and a record
/// stands beside the file itself.
std::string without_link(const std::string& file);

/// How a finished output is read, which an earlier run made: damaged chunks are marked.
InputRules finished_output_rules();

/// Whether the texts of an output that is a folder have to be as they were made.
enum class Structure { checked, unchecked };

/// `files` read by finished_output_rules(). @throws Error (input) for a file that does not open,
/// has no job or no checksums, or whose record of them is damaged.
FinishedOutput read_finished_output(FileAccess& files, const std::string& file,
                                    Structure structure = Structure::checked);

/// What verify, repair and certify say where all rows that were compared match the list of their
/// checksums, and the list itself is damaged elsewhere. @throws Error (differs).
void check_runs_undamaged(const FinishedOutput& output);

/// The rows of its job. @throws Error (input).
std::unique_ptr<RowReader> open_stored_rows(FileAccess& files, const FinishedOutput& output,
                                            int threads);

/// How the recorded input's file differs from what it was, in size and time: "it had 10 bytes …".
/// Empty when it does not.
std::string input_change(const FinishedOutput& output);

} // namespace runner::verify
