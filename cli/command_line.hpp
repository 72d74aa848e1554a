// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/sizes.hpp"
#include "io/rows/dense_rows.hpp"
#include "io/rows/output_layout.hpp"
#include "jobs/generate.hpp"
#include "runner/batch/batch.hpp"
#include "runner/job_file/job_file.hpp"
#include "runner/run_command.hpp"
#include "runner/trial/trial.hpp"
#include "slurm/submit.hpp"
#include "views/pictures/contrast.hpp"
#include "views/pictures/frame_choice.hpp"
#include "views/pictures/projection.hpp"
#include "views/pictures/sand_colours.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace runner::cli {

/// An option of a verb, or an argument, as its help shows it.
struct VerbOption {
    std::vector<std::string> names; ///< "-n", "--ranks"; of an argument one, "JOB"
    std::string type;               ///< what stands for its value; "": it takes none
    std::string meaning;
};

/// All that a verb takes.
struct VerbUsage {
    std::vector<VerbOption> arguments;
    std::vector<VerbOption> options;
    std::string example; ///< a line or several
};

/// `runner status DIR`.
struct StatusCommand {
    std::string folder;
    bool json = false;
    bool watch = false;        ///< again and again until nothing is left to do
    bool all = false;          ///< a line for each dataset
    bool require_done = false; ///< the exit code says whether all datasets are done
};

/// `runner plan JOB.toml`.
struct PlanCommand {
    std::string job;
    std::vector<std::string> settings;
    std::optional<BackendChoice> backend;
    int ranks = 1;
    std::optional<std::int64_t> device_memory; ///< bytes of a rank's GPU; nothing: look or assume
    std::optional<std::int64_t> host_memory;   ///< bytes a rank may use
    bool json = false;
};

/// `runner devices`.
struct DevicesCommand {
    bool json = false;
    bool measure = false; ///< and keep what each GPU can do
};

/// `runner generate PATTERN OUT.h5`.
struct GenerateCommand {
    GenerateRequest request;
    std::string file;
    std::string dataset;
    OutputLayout layout;
    bool overwrite = false; ///< replace a file of that name
};

/// A dataset as an argument, `FILE:/dataset`; `dataset` is empty where only a file is named.
struct DatasetName {
    std::string file;
    std::string dataset;

    bool operator==(const DatasetName&) const = default;
};

/// `runner inspect FILE[:/dataset]`.
struct InspectCommand {
    DatasetName what;
    bool json = false;
    InputRules rules;
};

/// `runner compare A:/x B:/y`.
struct CompareCommand {
    DatasetName a;
    DatasetName b;
    std::optional<DatasetName> by; ///< that differences are divided by too
    double tolerance = 0;          ///< the largest absolute difference that is still equal
    bool json = false;
    InputRules rules;
};

/// `runner render FILE:/x... OUT.png`.
struct RenderCommand {
    std::vector<DatasetName> what; ///< one or more, side by side
    std::string picture;
    std::optional<FrameChoice> frames; ///< nothing: the first, across `axis` the middle one
    std::optional<std::int64_t> axis;
    std::optional<Projection> projection;
    std::optional<Percentiles> percentiles;
    std::optional<Palette> palette;
    std::optional<bool> colour; ///< whether last axes are colour
    bool difference = false;
    bool exact = false;         ///< reads all of large frames
    std::int64_t size = 1024;   ///< pixels of the longer side of each, at most
    bool same_contrast = false; ///< one range of values for all of them
    InputRules rules;
};

/// `runner convert IN OUT`.
struct ConvertCommand {
    DatasetName input;                 ///< without a dataset: an HDF5 file's only one
    DatasetName output;                ///< its dataset counts where it is HDF5; empty: the input's
    std::optional<FrameChoice> frames; ///< nothing: all
    std::optional<std::uint64_t> first_generation;
    std::optional<Palette> palette;
    std::optional<DenseLayout> raw; ///< what the input holds, where it does not say so itself
    std::optional<ArrayInfo> type;  ///< convertible_type() of the output; nothing: the input's
    bool clip = false;              ///< values that it cannot hold become the nearest that it can
    std::optional<bool> colour;     ///< whether the input's last axis is; nothing: as it says
    OutputLayout layout;            ///< of an HDF5 output
    bool overwrite = false;         ///< replace files of these names
    InputRules rules;
};

/// `runner verify OUT.h5`.
struct VerifyCommand {
    std::string file;
    std::optional<std::int64_t> sample;    ///< runs of rows; nothing: all
    std::optional<std::int64_t> recompute; ///< places; nothing: a few, if the input is there
    std::optional<std::string> input;      ///< in place of the recorded one
    bool json = false;
};

/// `runner repair OUT.h5`.
struct RepairCommand {
    std::string file;
    std::optional<std::string> input; ///< in place of the recorded one
};

/// `runner certify OUT.h5`.
struct CertifyCommand {
    DatasetName what;                       ///< a dataset is named only with `certificate`
    std::optional<std::string> certificate; ///< to check the file against
    InputRules rules;
};

/// `runner explain JOB.toml`.
struct ExplainCommand {
    std::string job;
    std::vector<std::string> settings;
};

/// `runner KIND IN OUT --save-job FILE`.
struct SaveJobCommand {
    std::string file;
    std::string text; ///< a job file
};

/// `runner report A.json...` and `runner report DIR`.
struct ReportCommand {
    std::vector<std::string> files;  ///< one or more; of a batch, its folder
    std::optional<std::string> page; ///< to write
    bool json = false;
};

/// What is only to be printed on standard output: help, the version, `runner init KIND`.
struct PrintCommand {
    std::string text;
    VerbUsage usage = {}; ///< of the verb whose help this is
};

using Command =
    std::variant<RunCommand, PlanCommand, DevicesCommand, GenerateCommand, InspectCommand,
                 CompareCommand, RenderCommand, ConvertCommand, VerifyCommand, RepairCommand,
                 ExplainCommand, ReportCommand, PrintCommand, CertifyCommand, batch::Command,
                 StatusCommand, slurm::SubmitCommand, trial::TryCommand, SaveJobCommand>;

/// Reads the arguments after the program's name. `version` makes what --version prints.
/// @throws Error (usage) naming the argument.
Command parse_command_line(std::span<const std::string> arguments, std::string (*version)());

} // namespace runner::cli
