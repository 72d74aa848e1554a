// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/element_type.hpp"
#include "base/sizes.hpp"
#include "io/files/file_mark.hpp"
#include "io/files/input_rules.hpp"
#include "io/output/intact_rows.hpp"
#include "io/rows/dense_rows.hpp"
#include "io/rows/output_layout.hpp"
#include "jobs/generate.hpp"
#include "jobs/kind.hpp"
#include "jobs/pipeline/pipeline_parameters.hpp"
#include "runner/job_file/axis_keys.hpp"
#include "runner/job_file/input_selection.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace runner {

/// What JobFile::kind is where the job file has [[step]] tables.
inline constexpr std::string_view pipeline_kind = "pipeline";

enum class BackendChoice { automatic, cpu, cuda };

/// What to do with the parts of an output that an earlier run left.
enum class ResumeChoice {
    automatic, ///< resume where they fit this job, else restart
    never,     ///< restart
    require,   ///< resume, or fail
};

/// `run.halo_exchange`: how GPUs of one host exchange rows.
enum class HaloChoice { automatic, direct, staged };

/// A job file as a value. If parsing returned one, everything that can be known without the input
/// is valid, and the file is never read again. Docs: docs/job-file.md.
struct JobFile {
    std::string path; ///< as given
    std::string text; ///< the file's bytes, before --set
    std::string kind;
    std::string name;

    struct Input {
        std::string file;
        std::string dataset; ///< empty: the file's default signal
        std::optional<GenerateRequest> generate;
        std::optional<DenseLayout> raw; ///< what a file holds that does not say it itself
        InputSelection selection;       ///< of the dataset, which is the job's input
        AxisKeys axes;                  ///< names, spacing and what is taken by them
        InputRules rules;               ///< for the kind's own datasets too
        /// Whether the last axis has the samples of colour pixels; nothing: as the file says.
        std::optional<bool> colour;
        /// Which elements are no values: those that the file says, none, NaN, a number, or those
        /// that a mask marks.
        struct Invalid {
            enum class Rule { file, none, nan, number, mask } rule = Rule::file;
            double number = 0;
            std::string mask_file = {};    ///< of a mask; empty: the input's
            std::string mask_dataset = {}; ///< of a mask; empty: the default of its file
            /// What masked elements become, by the file's masks too; nothing: as ADR 0028.
            std::optional<double> value = {};
            bool operator==(const Invalid&) const = default;
        } invalid;
    } input;

    struct Output {
        std::string file;
        std::string dataset; ///< empty: as the input's
        std::optional<ElementType> type;
        bool overwrite = false;
        bool keep_fields = false; ///< the flats and darks of a scan, beside the job's frames
        bool sync = true;         ///< wait for the disk before the name changes
        std::optional<std::int64_t> parts = 1; ///< files that hold the elements; nothing: auto
        OutputLayout layout;
    } output;

    struct Run {
        BackendChoice backend = BackendChoice::automatic;
        std::optional<MemorySize> host_memory;   ///< nothing: 80 % of the rank's part of its host
        std::optional<MemorySize> device_memory; ///< nothing: 80 % of what is free
        std::optional<std::int64_t> chunk_rows;  ///< nothing: auto
        std::optional<std::int64_t> lanes;       ///< nothing: auto
        std::optional<std::int64_t> io_threads;  ///< nothing: auto; readers, and as many writers
        std::optional<std::int64_t> halo_depth;  ///< nothing: auto; of a job that evolves
        HaloChoice halo_exchange = HaloChoice::automatic;
        ResumeChoice resume = ResumeChoice::automatic;
        RowCheck resume_check = RowCheck::few; ///< of the rows that an earlier run finished
        double commit_seconds = 10;            ///< between two commits of finished rows
        double stall_seconds = 600;            ///< without a step forward end the job; 0: never
    } run;

    /// The kind's; of a pipeline, whose `kind` is pipeline_kind, its steps'.
    std::shared_ptr<const KindParameters> parameters;
    /// The same as what it is; null for a job of one kind.
    std::shared_ptr<const PipelineParameters> pipeline;
    /// The output's datasets where they are several, as Kind::datasets.
    std::span<const std::string_view> datasets = {};

    /// A text of the job file and where it stands.
    struct Text {
        std::string text;
        SourcePlace place;
    };

    /// `[batch]`: the datasets that stand in for input.file and output.file, which are empty then.
    struct Batch {
        std::vector<Text> inputs;     ///< patterns and names of files; or
        std::optional<Text> manifest; ///< the file that lists them
        Text output;                  ///< a pattern without a fault: see output_name()
        std::string state;            ///< the folder that tells how far the batch is
    };
    std::optional<Batch> batch; ///< nothing: the job is of one dataset

    /// A key of `[sweep]`, which `runner try` alone uses.
    struct SweptKey {
        std::string key;                 ///< dotted, as --set has it
        std::vector<std::string> values; ///< as TOML writes them
    };
    std::vector<SweptKey> sweep;
};

/// Reads and checks a job file, after laying the `--set table.key=value` settings over it.
/// Paths in it stay as written: relative to the working directory.
/// @throws Error (usage) with every error of the file, a line each: "file:line:column: text", or
/// "--set table.key=value: text" for what a setting brought.
JobFile load_job_file(const std::string& path, std::span<const std::string> settings);

/// The same for a text that is at hand, with `name` for its path. Settings that name both
/// input.file and output.file pick one dataset of a batch: [batch] is then left out of account.
/// `called`: what messages call each setting in place of "--set table.key=value", or "" for that;
/// none, or as many.
JobFile parse_job_text(const std::string& text, const std::string& name,
                       std::span<const std::string> settings,
                       std::span<const std::string> called = {});

/// Refuses a batch where a job of one dataset is needed. @throws Error (usage).
void require_one_dataset(const JobFile& job);

/// The dotted names of all keys that reading this job file asks for, there or not, right or wrong.
/// What it asks for may depend on what it says: its kind's table and no other's.
std::set<std::string> known_keys(const std::string& text);

/// The values of run.backend and run.resume, in the order of BackendChoice and ResumeChoice.
inline constexpr std::array backend_names = {"auto", "cpu", "cuda"};
inline constexpr std::array resume_names = {"auto", "never", "require"};

inline std::string_view name_of(BackendChoice choice) {
    return backend_names.at(static_cast<std::size_t>(choice));
}
inline std::string_view name_of(ResumeChoice choice) {
    return resume_names.at(static_cast<std::size_t>(choice));
}

} // namespace runner
